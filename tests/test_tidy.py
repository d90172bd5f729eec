"""The house: which room may import which, how long functions and files are, and what is absent by design."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

PACKAGE = Path("streamcheck")
FILES = sorted(PACKAGE.rglob("*.py"))
ALL = {"core", "problem", "lang", "frontends", "transform", "smt", "engines", "invariants", "certify", "interpret"} | {
    "c", "codegen", "validate", "run", "deliver", "export", "report", "cli", "api", "synthesis", "testing", "lsp",
    "scale",
}  # fmt: skip

# room: the rooms it may import from (besides itself)
ROOMS = {
    "core": set(),
    "problem": {"core"},
    "c": {"core"},
    "lang": {"core", "problem"},
    "frontends": {"core", "problem", "c"},
    "transform": {"core", "problem"},
    "smt": {"core", "problem"},
    "engines": {"core", "problem", "smt", "transform"},
    "invariants": {"core", "problem", "smt", "transform", "engines"},
    "synthesis": {"core", "problem", "smt", "transform"},
    "interpret": {"core", "problem"},
    "certify": {"core", "problem"},
    "codegen": {"core", "problem", "transform"},
    "validate": {"core", "problem", "c", "transform", "certify"},  # never codegen: what it proves, it does not know
    "export": {"core", "problem"},
    "report": {"core", "problem", "interpret"},
    "run": ALL - {"cli", "api", "testing", "codegen", "export", "report", "deliver", "lsp", "scale"},
    "deliver": ALL - {"cli", "api", "testing", "export", "report", "lsp", "scale"},
    "scale": {"core", "problem", "engines", "transform", "report", "run"},
    "cli": ALL - {"testing"},
    "api": ALL - {"cli", "testing", "lsp"},
    "lsp": {"core", "problem", "codegen", "run", "report", "api"},
    "testing": {"api", "core"},
    "__main__": {"cli"},
    "public": {"api", "core", "interpret", "lang"},
    "": {"public", "problem", "api"},  # streamcheck/__init__.py
}
OUTSIDE = {"z3": {"smt"}, "cvc5": {"certify"}, "bitwuzla": {"certify", "smt"}}
OUTSIDE |= {"pycparser": {"c"}, "sympy": {"invariants"}}
OUTSIDE |= {"click": {"cli"}, "rich": {"cli"}, "vcd": {"report"}, "pytest": {"testing"}, "hypothesis": {"testing"}}
OUTSIDE |= {"matplotlib": {"report"}, "distributed": {"scale"}, "dask": {"scale"}}
OUTSIDE |= {"pygls": {"lsp"}, "lsprotocol": {"lsp"}}
LONGEST_FUNCTION, LONGEST_FILE = 70, 600
PATH_HINTS = ("/home/", "/root/", "/tmp/")


def room(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "" if parts == ("__init__",) else parts[0]


def imports(path):
    """(module, line) of every import, those inside functions too, and those for type checkers."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            yield node.module, node.lineno


@pytest.mark.parametrize("path", FILES, ids=str)
def test_import_directions(path):
    own = room(path)
    assert own in ROOMS, f"{own}: a new room needs a line in the table"
    for module, line in imports(path):
        top, *rest = module.split(".")
        if top == "streamcheck" and rest:
            assert rest[0] == own or rest[0] in ROOMS[own], f"{path}:{line}: {own or 'streamcheck'} imports {rest[0]}"
        if top in OUTSIDE:
            assert own in OUTSIDE[top], f"{path}:{line}: {top} belongs to {OUTSIDE[top]}"


@pytest.mark.parametrize("path", FILES, ids=str)
def test_sizes_and_absences(path):
    text = path.read_text()
    assert text.count("\n") <= LONGEST_FILE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < LONGEST_FUNCTION, f"{path}:{node.lineno} {node.name}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            assert room(path) == "cli", f"{path}:{node.lineno}: print below the command"
        if isinstance(node, ast.Attribute) and node.attr == "exit" and getattr(node.value, "id", "") == "sys":
            assert room(path) == "cli", f"{path}:{node.lineno}: only the command exits"
    assert not any(word in text for word in ("TODO", "FIXME", "XXX", *PATH_HINTS))


def test_no_file_of_tests_is_long():
    long = {str(p) for p in Path("tests").rglob("*.py") if p.read_text().count("\n") > LONGEST_FILE}
    assert long == set()


def test_only_the_intern_table_is_global_and_mutable():
    found = []
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.List | ast.Dict | ast.Set):
                name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
                if not name.isupper() and name != "__all__":  # constants are in capitals, and never changed
                    found.append(f"{path}: {name}")
    assert found == ["streamcheck/core/term.py: _interned"]


def test_the_checker_shares_no_meaning():
    """Of `core` it uses terms, types, the equality of floats and the size of numbers: no operator table, no
    simplification, no intervals."""
    shared = {module for path in FILES if room(path) == "certify" for module, _ in imports(path)}
    known = {f"streamcheck.core.{name}" for name in ("term", "types", "floats", "huge")}
    assert {module for module in shared if module.startswith("streamcheck.core")} == known


def names_at_top(tree):
    """The classes, type aliases and named tuples that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).endswith("TypeAlias"):
            yield ast.unparse(node.target)
        elif isinstance(node, ast.Assign) and ast.unparse(node.value).startswith(("NamedTuple(", "NewType(")):
            yield ast.unparse(node.targets[0])


def test_a_class_name_has_one_meaning():
    homes = {}
    for path in FILES:
        for name in names_at_top(ast.parse(path.read_text())):
            homes.setdefault(name, []).append(str(path))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def unions():
    """The sums of the package: the classes of each type alias `A | B | …`, those of aliases in it too."""
    members = {}
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.BinOp):
                parts = [part.strip() for part in ast.unparse(node.value).split("|")]
                if all(part.isidentifier() for part in parts):
                    members[ast.unparse(node.target)] = parts
    return [{name for part in parts for name in members.get(part, [part])} for parts in members.values()]


def classes_of(match):
    """The classes that the cases name. None if a case is anything else, such as `_`."""
    patterns = [case.pattern.pattern if isinstance(case.pattern, ast.MatchAs) else case.pattern for case in match.cases]
    alternatives = [p.patterns if isinstance(p, ast.MatchOr) else [p] for p in patterns]
    flat = [p for group in alternatives for p in group]
    return {ast.unparse(p.cls) for p in flat} if all(isinstance(p, ast.MatchClass) for p in flat) else None


def test_sums_are_taken_apart_to_the_last_member():
    """A match on the members of a sum, without a case for all others, is followed by `assert_never`."""
    sums, seen = unions(), 0
    assert {"Specification", "Automaton"} in sums and len(sums) > 8
    for path in FILES:
        for parent in ast.walk(ast.parse(path.read_text())):
            for block in (getattr(parent, name, None) for name in ("body", "orelse")):
                for i, node in enumerate(block if isinstance(block, list) else []):
                    classes = classes_of(node) if isinstance(node, ast.Match) else None
                    if classes and len(classes) > 1 and any(classes <= members for members in sums):
                        seen += 1
                        after = ast.unparse(block[i + 1]) if i + 1 < len(block) else ""
                        assert "assert_never" in after, f"{path}:{node.lineno}: {sorted(classes)} without assert_never"
    assert seen > 8


def test_every_module_is_reachable():
    known = {".".join(p.with_suffix("").parts).removesuffix(".__init__"): p for p in FILES}
    names = "prove watch explain why cuts tests mutants run show check compile equal engines realizable lsp".split()
    lazily = {f"streamcheck.cli.{name}" for name in [*names, "init", "doctor"]}
    seen, stack = set(), ["streamcheck", "streamcheck.__main__", "streamcheck.testing.plugin", *lazily]
    while stack:
        module = stack.pop()
        if module not in known or module in seen:
            continue
        seen.add(module)
        path = known[module]
        for name, _ in imports(path):
            stack.append(name)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                stack += [f"{node.module}.{alias.name}" for alias in node.names]
        stack += [".".join(module.split(".")[:i]) for i in range(1, module.count(".") + 1)]
    assert set(known) == seen


def test_commits_hold_no_leftovers():
    allowed = {"pyproject.toml", "streamcheck", "specs", "tests", "docs", "README.md", "CONTRIBUTING.md", "LICENSE"}
    allowed |= {"build", "bin", "tools", "editors", "CHANGELOG.md", "Dockerfile", "action.yml", "mkdocs.yml"}
    there = {p.name for p in Path().iterdir() if not p.name.startswith(".") and not p.name.endswith(".egg-info")}
    assert there <= allowed


def prose(path):
    """The docstrings and comments of a file, with their lines."""
    text = path.read_text()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            yield node.body[0].lineno, ast.get_docstring(node, clean=False)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


SOURCES = re.compile(r"\b(the|thesis'?) (thesis|slides?|notes|lectures?)\b|^(Thesis|Slides)\b|\bthesis\b", re.M | re.I)
KEY = re.compile(r"(TUM|[A-Z]+\d\d|[A-Z]\w*[a-z]\w*)(?=[\s,]|$)")
CITED = re.compile(r"(?<![\w.\]{])\[([A-Z][^\[\]]*)\]")


def test_every_citation_has_a_reference():
    """`[EMB11, Fig. 6; Werner, Alg. 2]` cites EMB11 and Werner. "The thesis" could be one of two."""
    known = set(re.findall(r"^- \[(\w+)\] ", Path("docs/references.md").read_text(), re.M))
    used = set()
    for path in (*FILES, *sorted(Path("tests").rglob("*.py")), *sorted(Path("specs").rglob("*.py"))):
        for line, text in prose(path):
            assert not (wrong := SOURCES.search(text)) or path.name == "test_tidy.py", f"{path}:{line}: {wrong}"
            for citation in CITED.findall(text):
                keys = [part.strip() for part in citation.split(";")]
                found = [m.group(1) for key in keys if (m := KEY.match(key))]
                assert set(found) <= known | {"True", "False"}, f"{path}:{line}: {citation}"
                used.update(known.intersection(found))
    glossary = Path("docs/glossary.md").read_text()
    assert set(re.findall(r"\[([A-Z]\w{2,})\]", glossary)) <= known
    assert used == known, f"not cited: {known - used}"


def test_the_documented_rooms_are_the_rooms():
    """The table of docs/architecture.md: each room, in the order of ROOMS, with what it may import."""
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$", Path("docs/architecture.md").read_text(), re.M)
    documented = {}
    for name, allowed in rows:
        text, _, left_out = allowed.partition("all but")
        named = set(re.findall(r"`(\w+)`", left_out or text))
        documented[name] = ALL - named if left_out else ALL if allowed.strip() == "all" else named
    written = {name: rooms - {name} for name, rooms in ROOMS.items() if name in ALL}
    assert {name: rooms - {name} for name, rooms in documented.items()} == written


IRREGULAR = (
    "begun broken brought built caught chosen dealt done drawn fallen felt found given gone grown held hidden known "
    "led lost made meant met proven said seen sent shown sought spent spoken taken taught thought told understood "
    "written"
).split()


def test_no_function_is_named_by_a_bare_participle():
    """A function is named for its action or its value."""
    kept = {"need", "feed", "embed", "ordering", "string", "ring", "meaning", "missing", "elapsed"}
    kept |= {"proved", "bounded", "falsified"}  # results
    names = [
        node.name.strip("_")
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    participles = [n for n in names if "_" not in n and n.endswith(("ed", "ing")) and n not in kept]
    assert participles == [] and set(names).isdisjoint(IRREGULAR)


def test_names_and_docstrings_say_what_things_are():
    """A docstring begins with what the caller gets; a variable is named for what it holds, not how it was come by."""
    for path in FILES:
        tree = ast.parse(path.read_text())
        stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        assert stored.isdisjoint(("said", "told")), path
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                first = (ast.get_docstring(node) or "").partition("\n")[0]
                assert not first.startswith(("What ", "Whether ", "None where ")), f"{path}: {first}"
