"""Every JSON output is as docs/output.schema.json says, and the SARIF log as its standard requires."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from streamcheck.report.outputs.formats import FORMATS

SCHEMA = json.loads(Path("docs/output.schema.json").read_text())
COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPEC = """from streamcheck import *
import enum

class Mode(enum.Enum):
    IDLE = 0
    STOP = 1

@struct
class Pair:
    left: Float
    right: Array(Bool, 2)

x = extern("x", Word8, samples=[1, 252, 253])
pair = extern("pair", Pair, samples=[{"left": 0.5, "right": [True, False]}] * 3)
hot = x > 250
since = stream(Word8, lambda n: [0] ++ mux(hot, n + 1, 0))
mode = stream(EnumOf(Mode), lambda m: [Mode.IDLE] ++ mux(hot, Mode.STOP, m))
spec = Spec("engine")
spec.assume("fair", pair.right[0])
spec.trigger("alarm", hot, {"x": x, "mode": mode})
spec.observer("since", since)
spec.prop("low", since < 3)
spec.prop("stops", implies(since > 0, mode == Mode.STOP))
spec.prop("divides", 100 // mux(x == 0, 1, x) <= 100)
spec.exists("once", mode == Mode.STOP)
small = Spec("small")
small.prop("counts", since >= 0)
open_ended = Spec("open_ended")
open_ended.prop("hard", since * since * since * since * since != 77)
"""
PROGRAM = "#include <assert.h>\nint main(void) {\n  int x = 0;\n  while (x < 3)\n    x = x + 1;\n  assert(x < 3);\n}\n"


TEXT = {"type": "string", "minLength": 1}
LEVEL = {"enum": ["none", "note", "warning", "error"]}


def strict(**properties):
    """An object with these properties and no others; those whose names end in _ may be missing."""
    named = {name.rstrip("_"): value for name, value in properties.items()}
    required = [name for name in properties if not name.endswith("_")]
    return {"type": "object", "required": required, "properties": named, "additionalProperties": False}


def several(item, least=0):
    return {"type": "array", "items": item, "minItems": least}


# The part of SARIF 2.1.0 [SARIF] that is used, with what the standard requires of it.
MESSAGE = strict(text=TEXT)
URI = strict(uri={"type": "string", "pattern": r"^[^ \\\\]+$"})
REGION = strict(startLine={"type": "integer", "minimum": 1})
LOCATION = strict(physicalLocation=strict(artifactLocation=URI, region=REGION), message_=MESSAGE)
FLOW_STEP = strict(
    location=LOCATION,
    importance={"enum": ["important", "essential", "unimportant"]},
    executionOrder={"type": "integer", "minimum": 0},
    state_={"type": "object", "additionalProperties": strict(text=TEXT)},
)
RESULT = strict(
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations=several(LOCATION, 1),
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    codeFlows_=several(strict(threadFlows=several(strict(locations=several(FLOW_STEP, 1)), 1))),
)
RULE = strict(id=TEXT, shortDescription=MESSAGE, defaultConfiguration=strict(level=LEVEL))
SARIF_RUN = strict(
    tool=strict(driver=strict(name=TEXT, version=TEXT, rules=several(RULE))),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    artifacts=several(strict(location=URI)),
    results=several(RESULT),
)
SARIF = strict(version={"const": "2.1.0"}, runs=several(SARIF_RUN, 1)) | {"additionalProperties": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("schemas")
    (where / "engine.py").write_text(SPEC)
    (where / "p.c").write_text(PROGRAM)
    return where


def require(name, data):
    """Fails unless the data are as the definition of this name says."""
    schema = {"$schema": SCHEMA["$schema"], "$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
    checker = jsonschema.Draft202012Validator(schema)
    mistakes = [f"{list(e.absolute_path)}: {e.message[:300]}" for e in checker.iter_errors(data)]
    assert not mistakes, mistakes


def printed(folder, *words):
    done = subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1, 3, 5), done.stderr
    return done.stdout


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(AssertionError):
        require("verdicts", {"tool": "streamcheck"})


PROVE = """prove engine.py::engine engine.py::small --no-cache --timeout 30 --json --certificates saved
    --trace json traces --output sarif r.sarif"""


def test_prove_check_and_traces(folder):
    data = json.loads(printed(folder, *PROVE.split()))
    require("prove", data)
    words = {p["verdict"] for one in data for p in one["properties"]}
    assert {"proved", "falsified"} <= words and "witness" in str(data)
    require("prove", json.loads(printed(folder, "prove", "p.c", "--no-cache", "--json", "--trace", "json", "traces")))
    traces = [json.loads(path.read_text()) for path in (folder / "traces").iterdir()]
    assert {"spec", "program"} == {key for t in traces for key in ("spec", "program") if key in t}
    for one in traces:
        require("trace", one)
    log = json.loads((folder / "r.sarif").read_text())
    jsonschema.validate(log, SARIF)
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in log["runs"][0]["results"])
    (folder / "saved" / "damaged.json").write_text("{}")
    saved = sorted(str(path.relative_to(folder)) for path in (folder / "saved").iterdir())
    done = subprocess.run([COMMAND, "check", *saved, "--json"], cwd=folder, capture_output=True, text=True)
    rows = json.loads(done.stdout)
    require("check", rows)
    assert {"holds", "damaged"} <= {row["verdict"] for row in rows}


def test_an_unknown_verdict_with_what_is_known(folder):
    words = "prove engine.py::open_ended --no-cache --timeout 2 --json --engine k-induction".split()
    data = json.loads(printed(folder, *words))
    require("prove", data)
    bound = json.loads(printed(folder, *"prove engine.py::small --no-cache --json --bound 3".split()))
    require("prove", bound)
    assert bound["bound"] == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("why", "why engine.py::small --json --no-cache"),
        ("cuts", "cuts engine.py::small --json --no-cache"),
        ("mutants", "mutants engine.py::small --json --no-cache --timeout 20"),
        ("tests", "tests engine.py::engine --json -o tests"),
        ("compile", "compile engine.py::engine --json -o out --unproven --no-cache"),
        ("engines", "engines --json"),
    ],
)
def test_the_output_of(folder, name, words):
    require(name, json.loads(printed(folder, *words.split())))


def test_the_lines_of_a_run(folder):
    lines = printed(folder, "run", "engine.py::engine", "--format", "json").splitlines()
    assert len(lines) == 3
    for line in lines:
        require("run", json.loads(line))


def test_a_json_report_is_the_same_object(folder):
    printed(folder, *"prove engine.py::small --no-cache --output json r.json --output junit r.xml --quiet".split())
    require("prove", json.loads((folder / "r.json").read_text()))
    assert (folder / "r.xml").exists() and set(FORMATS) == {"json", "junit", "sarif", "github"}
