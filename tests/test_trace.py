"""`--with trace`: every statement of the C leads to its streams, lines and properties; identifiers survive edits."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from c_harness import unit_of
from random_specs import random_equations

from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.deliver.trace import named_streams, traced_lines
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPEC = """\
from streamcheck import *
a, b = extern("a", Int8), extern("b", Int8)
cells = extern("cells", Array(Word8, 4))
up = extern("up", Bool)
count = stream(Word8, lambda n: [3] ++ mux(up & (n < 200), n + 1, 0))
late = [0] * 12 ++ (a + b)
high = count > 150
spec = Spec("subject")
spec.assume("small", (a < 50) & (b < 50) & (a > -50) & (b > -50))
spec.trigger("first", high & (a < b), [count, a + b, late])
spec.trigger("second", up, [cells[b], pre(False, high)])
spec.observer("total", (a + b) * 2)
spec.prop("bounded", count <= 200)
spec.prop("sums", late < 100)
spec.exists("reached", high)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trace")
    (folder / "subject.py").write_text(SPEC)
    options = ["--observers", "--with", "trace", "--with", "example", "--unproven", "--timeout", "20"]
    done = subprocess.run([COMMAND, "compile", "subject.py", "-o", "out", *options], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def trace(folder):
    return json.loads((folder / "out" / "subject.trace.json").read_text())


def test_every_statement_has_its_streams(folder, trace):
    lines = (folder / "out" / "subject.c").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("void subject_init"))
    code = {i + 1 for i, line in enumerate(lines) if i > begin and line.startswith(" ") and re.search(r"[;{]$", line)}
    assert {s["line"] for s in trace["statements"]} == code
    for statement in trace["statements"]:
        assert lines[statement["line"] - 1].strip() == statement["text"]
        assert statement["streams"] and all(key in trace["streams"] for key in statement["streams"]), statement
    by_text = {s["text"]: s for s in trace["statements"]}
    assert by_text["const bool high = state->count > 150u;"]["streams"] == ["high"]
    sums = [s for s in trace["statements"] if s["text"].startswith("const int8_t ") and "_part" in s["text"]]
    assert sums and all(set(s["streams"]) <= {"first", "late", "total", "second"} for s in sums)


WATCHDOGS = """\
from streamcheck import *
beats = [extern(f"beat{i}", Bool) for i in range(10)]
ages = [stream(Word8, lambda n, b=b: [0] ++ mux(b, 0, mux(n < 250, n + 1, n))) for b in beats]
cells = extern("cells", Array(Int16, 20))
total = cells[0] + 0
for i in range(1, 20):
    total = total + cells[i]
spec = Spec("dogs")
for i, age in enumerate(ages):
    spec.trigger(f"late{i}", age > 100, age)
spec.trigger("heavy", total > 50, total)
spec.trigger("top", statistics.max(100, [0] * 100 ++ cells[3]) > 5)
"""


def test_nothing_is_without_a_stream_but_the_test_of_enums(tmp_path):
    (tmp_path / "dogs.py").write_text(WATCHDOGS)
    units = [generate(random_equations(seed), CodeOptions(observers=True)) for seed in range(30)]
    units += [generate(flatten(load(str(tmp_path / "dogs.py"))[0]), CodeOptions(copilot=c)) for c in (False, True)]
    assert "for (" in units[-1].code.files["dogs.c"]
    for unit in units:
        streams = named_streams(unit.code.specification, unit.code.places)
        for line in traced_lines(unit, streams, unit.code.files[f"{unit.code.base}.c"]):
            assert line.streams or re.search(r"inputs_valid|->none|\bvalid\b", line.text), line


def test_the_check_of_assumptions_has_a_stream(folder):
    options = ["--assumptions", "--with", "trace", "--unproven", "--timeout", "20"]
    subprocess.run([COMMAND, "compile", "subject.py", "-o", "held", *options], cwd=folder, check=True)
    trace = json.loads((folder / "held" / "subject.trace.json").read_text())
    assert all(s["streams"] for s in trace["statements"])
    held = trace["streams"]["assumptions_held"]
    assert held["line"] == 9 and {"bounded", "sums", "reached"} <= set(held["properties"]) and len(held["c_lines"]) > 2


def test_the_line_and_the_properties_of_a_stream(trace):
    streams = trace["streams"]
    assert streams["count"]["line"] == 5 and streams["count"]["source"].startswith("count = stream(")
    assert streams["count"]["properties"] == ["bounded", "reached"] and streams["count"]["c_lines"]
    assert streams["late"]["properties"] == ["sums"] and streams["first"]["kind"] == "trigger"
    assert {"bounded", "reached"} <= set(streams["up"]["properties"]) and "sums" not in streams["up"]["properties"]
    bounded = next(p for p in trace["properties"] if p["name"] == "bounded")
    assert bounded["line"] == 13 and bounded["verdict"] == "proved" and bounded["proof"]["kind"] == "inductive"
    assert set(streams["count"]["c_lines"]) <= set(bounded["c_lines"])
    assert trace["assumptions"][0]["line"] == 9 and trace["c_proof"]["proved"] and trace["tool"]["version"]


def test_hashes_and_certificates_are_those_of_the_files(folder, trace):
    def digest(path):
        return hashlib.sha256(path.read_bytes()).hexdigest()

    assert trace["spec"]["sha256"] == digest(folder / "subject.py")
    assert {"subject.h", "subject.c", "main.c"} == set(trace["files"])
    assert all(digest(folder / "out" / name) == known for name, known in trace["files"].items())
    decided = [p for p in trace["properties"] if p["verdict"] != "unknown"]
    assert len(decided) >= 3
    for prop in decided:
        path = folder / "out" / prop["certificate"]["file"]
        assert digest(path) == prop["certificate"]["sha256"]
        done = subprocess.run([COMMAND, "check", path], capture_output=True, text=True, cwd=folder)
        assert done.returncode == 0, done.stdout


UNRELATED = """\
# a comment
drift = stream(Int16, lambda d: [7] ++ mux(extern("slow", Int16) > d, d + 2, d - 3))
later = [1] * 9 ++ (drift * drift + (drift - 5))
"""


@pytest.mark.parametrize("copilot", [False, True])
def test_identifiers_stay_the_same_if_something_else_is_added(tmp_path, copilot):
    more = SPEC.replace("count = stream", UNRELATED + "count = stream").replace(
        'spec.trigger("first"', 'spec.trigger("drifts", later > 3, [drift, later - drift])\nspec.trigger("first"'
    )
    found = []
    for i, text in enumerate((SPEC, more)):
        (tmp_path / f"v{i}.py").write_text(text)
        unit = unit_of(load(str(tmp_path / f"v{i}.py"))[0], copilot=copilot, observers=True)
        code = "".join(re.sub(r"/\*.*?\*/", "", text, flags=re.S) for text in unit.files.values())
        found.append(set(re.findall(r"[A-Za-z_]\w*", code)))
    before, after = found
    assert before <= after
    own = ("drift", "drifts", "later", "slow", "sc")
    new = {name for name in after - before if name.split("_")[0] not in own and not re.fullmatch("u?x[0-9a-fu]+", name)}
    assert all(re.fullmatch(r"i|u?int\d+_t|U?INT\d+_MAX", name) for name in new), new


def test_no_identifier_has_a_line_number(tmp_path):
    shifted = "\n" * 83 + SPEC
    texts = []
    for i, text in enumerate((SPEC, shifted)):
        (tmp_path / f"v{i}.py").write_text(text)
        unit = unit_of(load(str(tmp_path / f"v{i}.py"))[0], observers=True)
        texts.append([re.sub(r"/\*.*?\*/", "", t, flags=re.S) for t in unit.files.values()])
    assert texts[0] == texts[1]
