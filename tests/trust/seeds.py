"""Valid files of each kind that the command reads, to damage: those of the project, those in its tests, exports of its
specs, and small programs."""

import ast
import functools
import itertools
import json
from pathlib import Path

from trust.command import command
from trust.programs import small_program
from trust.small_specs import small_spec

from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain
from streamcheck.run.evidence_files import certificate_files
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target, read

ROOT = Path(__file__).parents[2]
LARGEST = 6_000  # characters


def seeds(kind):
    """Texts of a kind, which is how the file's name ends."""
    return [text for text in map(str, SEEDS[kind]()) if 0 < len(text) <= LARGEST]


def texts_in_tests(pattern, *parts):
    """The string constants of tests that have all of these parts."""
    for path in sorted((ROOT / "tests").glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and all(p in node.value for p in parts):
                yield node.value


def specs():
    return sorted([*ROOT.glob("specs/*.py"), *ROOT.glob("specs/monitors/*.py")])


def exported(form, paths=None):
    for path in specs() if paths is None else paths:
        done = command("show", path, "--as", form)
        if done.status == 0:
            yield done.shown


def python():
    yield from (path.read_text() for path in specs())


def lustre():
    yield from texts_in_tests("test_lustre*.py", "node ", "let", "tel")
    yield from exported("lustre")


def c():
    yield from (path.read_text() for path in sorted(ROOT.glob("specs/programs/*.c")))
    yield from texts_in_tests("test_minic*.py", "int main(", "{")
    yield from (small_program(number)[0] for number in range(5))


def automata():
    yield from texts_in_tests("test_aut.py", "initial", "final")
    yield from exported("aut", sorted(ROOT.glob("specs/programs/*.c")))


def vmt():
    yield from texts_in_tests("test_formats.py", "(define-fun")
    yield from exported("vmt")


def btor2():
    yield from texts_in_tests("test_btor2.py", "sort bitvec", "\n")


def equations():
    yield from (json.dumps(to_plain(flatten(small_spec(number)[0]))) for number in range(12))
    yield from exported("json")


def logs():
    yield "n,b,f,e,a.0,a.1\n1,true,1.5,LOW,3,4\n255,false,nan,HIGH,0,0\n0,1,-inf,LOW,1,2\n"
    yield 'time,n,b,f,e,a.0,a.1\r\n2026-01-01T00:00:00,7,0,1e-40,HIGH,"1",2\r\n'


def lines_of_json():
    rows = ({"n": 1, "b": True, "f": 1, "e": "LOW", "a": [3, 4]}, {"n": 2, "b": 0, "f": "nan", "e": "LOW", "a": [0, 0]})
    yield "".join(f"{json.dumps(row)}\n" for row in rows)


@functools.cache
def kept():
    """Certificates and counterexamples of specs and programs, as `prove --certificates` saves them."""
    found = []
    problems = [flatten(small_spec(number)[0]) for number in (1, 3, 5, 8)]
    path = ROOT / "specs/programs/lock.c"
    for problem in itertools.chain(problems, read(Target(str(path), None))):
        verdicts = prove(problem, Settings(timeout=3.0, jobs=1))
        found += [text for _, text in certificate_files(verdicts, "spec.json", ".").values()]
    return found


def exports_of_fret():
    components = ("mixer", "tank")
    sentences = (
        "when button {c} shall immediately satisfy !motor",
        "when level > full, the {c} shall until button satisfy motor",
        "in on mode the {c} shall within 3 ticks satisfy motor | count >= 2",
        "if level < 1.0 & button {c} shall for 2 ticks satisfy (preBool(true, motor) => level > 0.5)",
        "{c} shall always satisfy level >= 0.0",
    )
    for c in components:
        names = ("R-1", "R-2", "R-3", "R-4", "R-assumption")
        rows = [{"reqid": n, "fulltext": s.format(c=c)} for n, s in zip(names, sentences, strict=True)]
        kinds = (("button", "Input", "boolean"), ("count", "Input", "integer"), ("level", "Input", "double"))
        kinds += (("motor", "Output", "boolean"), ("on", "Mode", "boolean"), ("full", "Internal", "double"))
        variables = [{"component_name": c, "variable_name": n, "idType": i, "dataType": t} for n, i, t in kinds]
        variables[4]["modeRequirement"], variables[5]["assignment"] = "count > 3", "2.5 * 2.0"
        variables[2]["description"] = "of the tank"
        yield json.dumps({"requirements": rows, "variables": variables}, indent=1)


def tasks():
    for model in ("ILP32", "LP64"):
        yield (
            "format_version: '2.0'\n# a comment\ninput_files: 'task.c'\nproperties:\n"
            "  - property_file: ../properties/unreach-call.prp\n    expected_verdict: true\n"
            "  - expected_verdict: false\n    property_file: no-overflow.prp\n"
            f"  - property_file: coverage.prp\noptions:\n  language: C\n  data_model: {model}\n"
        )
    yield 'format_version: "1.0"\ninput_files: ["task.c", other.c]\nproperties:\n  - property_file: unreach-call.prp\n'


def linked():
    """The second file of a program, whose first is `first.c`."""
    yield "static int n = 50; int shared = 10;\nstruct p { int n; };\nint twice(int x) { n++; return 2 * x + n; }\n"
    yield "int shared; enum e { A, B = 4 };\nextern int r;\nint twice(int x) { return x > B ? x + shared : r; }\n"
    yield "#define X 3\nint shared = X;\nint helper(int);\nint twice(int x) { return helper(x); }\n"


SEEDS = {
    "py": python,
    "lus": lustre,
    "c": c,
    "aut": automata,
    "vmt": vmt,
    "btor2": btor2,
    "json": equations,
    "csv": logs,
    "jsonl": lines_of_json,
    "certificate": kept,
    "fret": exports_of_fret,
    "yml": tasks,
    "linked": linked,
}
