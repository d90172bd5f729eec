"""The lines of code that a verdict rests on, part by part: the table of docs/trust.md.

    python tests/base_lines.py        prints the table

A part is the modules of some rooms that its entries import, directly or not; those of earlier parts are not counted
again. A line of code is one that is not empty, not a comment, and not of a docstring.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
TINY = ROOT / "tools" / "tiny_checker.py"


@dataclass(frozen=True)
class Part:
    """`alone`: modules whose imports do not count. `without`: modules that are imported and need not be right."""

    what: str
    entries: tuple[str, ...]
    rooms: tuple[str, ...]
    without: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


GAME = ("transform.realization", "transform.contract_questions", "transform.scalar_game", "run.realizable")
LANGUAGE = ("lang.load", "lang.flatten")
WORDS = ("lang.slips", "lang.syntax", "lang.calls")  # they word refusals
COMPONENTS = ("lang.component", "lang.instances", "problem.components_json")
GOALS = ("transform.coverage_goals",)  # asked at each certificate if its property is one of theirs
COMPOSITION = ("certify.composition", "problem.composition", "problem.composition_json")
BY_PARTS = (*COMPONENTS, *COMPOSITION)
C_TEXTS = ("core.c_names", "core.operators.c_helpers")  # what is written with them is proved
NAMES = ("core.printable", "problem.names", "core.code_lines")  # they refuse names, and files that are no code
NAMES += ("core.worded", "core.likeness")  # mistakes in words
SHAPES = ("problem.certificate_shape", "problem.shapes")  # they refuse damaged files; what passes is read after them
SHAPES += ("run.damage", "run.folders", "run.places")  # the last makes them forget places, nothing else
RECORDS = ("certify.checker", "problem.specification_json")
IMPLIED = ("lang.flattening", "lang.obligations", "core.simplify")  # all but implied claims is checked by another
OF_PROGRAMS = ("problem.automaton", "problem.automaton_json")
BESIDE_RECORDS = (*NAMES, *SHAPES, *OF_PROGRAMS, *BY_PARTS)
OF_ALL = (
    Part("types, terms, the operator table", (*LANGUAGE, "certify.checker"), ("core",), (*C_TEXTS, *NAMES, *IMPLIED)),
    Part("equations, certificates, and their JSON", RECORDS, ("problem",), BESIDE_RECORDS),
)
LOADED = "the language: loading, elaboration, the check of the flattening"
INFINITE = ("lang.infinite", "lang.lib.parts")  # of claims about infinite runs only
LOADING = Part(LOADED, LANGUAGE, ("lang",), (*WORDS, *IMPLIED, *COMPONENTS, *INFINITE), ("", "public"))
JUDGED = ("certify.checker", "certify.well_formed")
CHECKER = Part("the checker of specs", JUDGED, ("certify",), ("certify.lots",), ("certify.check",))
ANSWER = "`check`: files, the spec's process, the answer"
SIDES = ("run.sides",)  # of a comparison
BESIDE = ("run.proofs", "run.confine", *SIDES, "problem.result", "problem.skips", *BESIDE_RECORDS)
CHECK = Part(ANSWER, ("run.certificates",), ("run", "problem"), BESIDE, ("cli.check",))
SPECS = (LOADING, *OF_ALL, CHECKER, CHECK)
LIBRARY = tuple(f"lang.lib.{path.stem}" for path in (ROOT / "streamcheck" / "lang" / "lib").glob("[a-z]*.py"))
OTHERS = (
    Part("components: their instances and claims", (), (), (), COMPONENTS),
    Part("proofs by parts: the rules by which parts prove a whole", (), (), (), COMPOSITION),
    Part("`--reachable`: its goals", (), (), (), GOALS),
    Part("implied claims: flattening, their conditions", IMPLIED[:1], ("lang", "core"), (*WORDS, *NAMES, *C_TEXTS)),
    Part("the library: its functions", LIBRARY, ("lang", "core"), (*WORDS, *NAMES, *C_TEXTS)),
    Part("programs: their automata, the checker of their proofs", ("certify.check",), ("certify", "core", "problem")),
    Part("counterexamples: replay", ("certify.replay",), ("certify", "core", "problem")),
    Part("Lustre: its reader", ("frontends.lustre.read",), ("frontends", "core", "problem")),
    Part("two specs compared: their product", ("transform.product",), ("transform", "core", "problem"), alone=SIDES),
    Part(
        "infinite runs: their streams, monitors, and the replay of lassos",
        ("transform.liveness", "certify.lasso"),
        ("transform", "certify", "core", "problem"),
        alone=INFINITE,
    ),
    Part("C: its semantics", ("frontends.minic.read", "validate.bisimulation"), ("c",)),
    Part("C programs: their reader", ("frontends.minic.read",), ("frontends", "core", "problem")),
    Part("VMT-LIB and BTOR2: their readers", ("frontends.vmt", "frontends.btor2"), ("frontends", "core", "problem")),
    Part("automata: their reader", ("frontends.aut",), ("frontends", "core", "problem")),
    Part("the generated C: its proof", ("validate.bisimulation",), ("validate", "transform", "core", "problem")),
    Part("step functions in C: their reader", ("validate.step_function",), ("validate", "core", "problem")),
    Part("requirements in English: their reader", ("lang.requirements.export",), ("lang",)),
    Part("realizability: the specs that are proved", GAME, (), alone=GAME),
)


def lines_of(path: Path) -> int:
    text = path.read_text()
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            first = node.body[0]
            documented.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    rows = enumerate(text.splitlines(), 1)
    return sum(1 for i, row in rows if row.strip() and not row.strip().startswith("#") and i not in documented)


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in (ROOT / "streamcheck").rglob("*.py"):
        parts = path.relative_to(ROOT / "streamcheck").with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of the package that this one imports, in functions too; not those that only type checkers see."""
    found: set[str] = set()
    stack: list[ast.AST] = [ast.parse(modules()[module].read_text())]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            stack += node.orelse
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "streamcheck":
            home = (node.module or "").removeprefix("streamcheck").removeprefix(".")
            names = (f"{home}.{alias.name}".removeprefix(".") for alias in node.names)
            found.update(name if name in modules() else home for name in names)
        stack += ast.iter_child_nodes(node)
    return frozenset(found - {""})


def closure(entries: tuple[str, ...]) -> set[str]:
    seen: set[str] = set()
    stack = list(entries)
    while stack:
        module = stack.pop()
        if module not in seen:
            seen.add(module)
            stack += imports(module)
    return seen


def counted(parts: tuple[Part, ...], taken: set[str]) -> list[tuple[str, int]]:
    """Each part with its lines. The modules join those taken."""
    rows = []
    for part in parts:
        own = {m for m in closure(part.entries) if m.partition(".")[0] in part.rooms}
        own = {*own, *part.alone} - {*part.without, *taken}
        taken |= own
        rows.append((part.what, sum(lines_of(modules()[m]) for m in own)))
    return rows


def base() -> tuple[int, list[tuple[str, int]]]:
    """The lines that the proof of a spec rests on, and the rows of the table."""
    taken: set[str] = set()
    specs = counted(SPECS, taken)
    whole = sum(lines for _, lines in specs)
    by_tiny = sum(lines for what, lines in specs if what not in (CHECKER.what, CHECK.what)) + lines_of(TINY)
    rows = [*specs, ("**a proof of a spec in Python, by `check`**", whole)]
    rows += [("the tiny checker, instead of the last two", lines_of(TINY))]
    rows += [("**a proof of a spec in Python, by the tiny checker**", by_tiny)]
    rows += [(f"besides, {what}", lines) for what, lines in counted(OTHERS, taken)]
    others = sum(lines_of(path) for name, path in modules().items() if name not in taken)
    rows += [("need not be right: all other modules", others)]
    return whole, rows


if __name__ == "__main__":
    for what, lines in base()[1]:
        print(f"| {what} | {round(lines, -1):,} |")
