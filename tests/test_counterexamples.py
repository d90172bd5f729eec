"""Counterexamples as people see them: the names, the rows and steps that may be asked for, files that replay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamcheck import *
from streamcheck.lang.flatten import flatten
from streamcheck.report.trace import TraceOptions, trace_table
from streamcheck.run.prove import Settings, prove

COMMAND = Path(sys.executable).parent / "streamcheck"
QUANTIFIED = """
from streamcheck import *
x, y = extern("x", Word8), extern("y", Word8)
n = stream(Word16, lambda n: [1] ++ (n * n * 3 + cast(Word16, x)))
spec = Spec("s")
spec.prop("first", forall(Word8, lambda v: implies(x == v, v < 200)))
spec.prop("second", forall(Word8, lambda v: implies(x == v, v < 201)))
spec.prop("wide", forall(Word16, lambda v: v < 300))
spec.prop("twice", forall(Word8, lambda v: x != v) | forall(Word8, lambda v: y != v))
spec.prop("taken", forall(Word8, lambda y: x != y))
spec.prop("open", forall(Word16, lambda v: implies(n == v, v != 7)))
spec.exists("some", exists(Word8, lambda v: (x == v) & (v > 5)))
"""


def run(folder, *args):
    environment = {"PATH": "/usr/bin:/bin", "STREAMCHECK_NO_CACHE": "1"}
    return subprocess.run([COMMAND, *map(str, args)], cwd=folder, env=environment, capture_output=True, text=True)


def rows_of(text):
    """The rows of the tables by title, then by name."""
    found, rows = {}, {}
    for line in text.splitlines():
        if line.startswith("  ") and line[2] != " ":
            rows = found[line.split()[1]] = {}
        elif line.startswith("      "):
            name, *cells = line.split()
            rows[name] = cells
    return found


@pytest.fixture(scope="module")
def quantified(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quantified")
    (folder / "s.py").write_text(QUANTIFIED)
    return folder


def test_the_constant_of_a_forall_has_the_name_of_its_parameter(quantified):
    done = run(quantified, "explain", "s.py", "--timeout", 6)
    tables = rows_of(done.stdout)
    assert all("v" in tables[name] for name in ("first", "second", "wide", "some", "open")), done.stdout
    assert {"v", "v_2", "x", "y"} <= tables["twice"].keys() and "y_2" in tables["taken"]
    assert all("v_2" not in rows for name, rows in tables.items() if name != "twice")
    assert "= implies(x == v, v < 201)" in done.stdout
    assert "v = 201" in done.stdout and "v_2 = 0" in done.stdout


def test_the_json_has_only_the_constants_of_the_property(quantified):
    props = [word for name in ("second", "wide", "open") for word in ("--prop", name)]
    done = run(quantified, "prove", "s.py", "--json", *props, "--timeout", 8)
    for row in json.loads(done.stdout)["properties"]:
        run_of = row.get("counterexample") or row["not_inductive"]
        assert "v" in run_of["steps"][0]["streams"]
        assert not any(name.startswith("v_") for name in run_of["steps"][0]["streams"])


def test_a_counterexample_has_what_its_property_needs(tmp_path):
    b, c = extern("b", Bool), extern("c", Bool)
    n, m = (stream(Word8, lambda s, x=x: [0] + +mux(x, s + 1, s)) for x in (b, c))
    spec = Spec("s")
    spec.observer("n", n)
    spec.observer("m", m)
    spec.assume("given", m < 100)
    spec.prop("small", n < 2)
    spec.prop("other", n * 3 != 200)
    small, _ = (r for r in prove(flatten(spec), Settings(timeout=10)).results if not r.prop.is_implied)
    other = next(p.term for p in flatten(spec).properties if p.name == "other")
    assert all(other not in values and small.prop.term in values for values in small.run.steps)
    (tmp_path / "s.json").write_text(spec.show("json"))
    done = run(tmp_path, "prove", "s.json", "--json", "--timeout", 10, "--trace", "json", "out")
    steps = {row["name"]: row["counterexample"]["steps"] for row in json.loads(done.stdout)["properties"][:2]}
    assert {"small", "n", "m"} <= steps["small"][0]["streams"].keys() and "other" not in steps["small"][0]["streams"]
    assert [step["inputs"].keys() for step in steps["small"]] == [{"b", "c"}] * 3
    spec = Spec("s")
    spec.observer("n", n)
    spec.observer("m", m)
    spec.prop("small", n < 2)
    (tmp_path / "s.json").write_text(spec.show("json"))
    done = run(tmp_path, "prove", "s.json", "--json", "--timeout", 10, "--trace", "json", "out")
    (row,) = json.loads(done.stdout)["properties"]
    assert "n" in (streams := row["counterexample"]["steps"][0]["streams"]) and "m" not in streams
    assert "m" in json.loads(next((tmp_path / "out").glob("*small*")).read_text())["rows"]


def test_the_names_survive_the_spec_as_json(quantified):
    (quantified / "s.json").write_text(run(quantified, "show", "s.py", "--as", "json").stdout)
    tables = rows_of(run(quantified, "prove", "s.json", "--prop", "second", "--full").stdout)
    assert tables["second"]["v"] == ["201"]


ALL_TYPES = """
import enum
from streamcheck import *

class Mode(enum.Enum):
    IDLE = 7
    BUSY = 2

@struct
class Pair:
    low: Int16
    high: Double

mode = extern("mode", EnumOf(Mode))
pair = extern("pair", Pair)
cells = extern("cells", Array(Word8, 3))
ratio = extern("ratio", Real)
on = extern("on", Bool)
n = stream(Word8, lambda n: [0] ++ mux((mode == Mode.BUSY) & (pair.low < 3) & (cells[1] > cells[2]) & on, n + 1, n))
spec = Spec("types")
spec.prop("few", implies((pair.high > 0.3) & (ratio > Real(1) / 3), n < 2))
"""
NO_INPUTS = """
from streamcheck import *
n = stream(Word8, lambda n: [0] ++ (n + 1))
spec = Spec("clock")
spec.prop("early", n < 5)
"""
NO_STATE = """
from streamcheck import *
step = extern("step", Word8)
spec = Spec("now")
spec.prop("low", step < 7)
"""


@pytest.mark.parametrize(("text", "at"), [(ALL_TYPES, 2), (NO_INPUTS, 5), (NO_STATE, 0)])
@pytest.mark.parametrize("shape", ["csv", "json"])
def test_a_trace_replays(tmp_path, text, at, shape):
    (tmp_path / "s.py").write_text(text)
    assert run(tmp_path, "prove", "s.py", "--trace", shape, "traces").returncode == 1
    (file,) = (tmp_path / "traces").iterdir()
    done = run(tmp_path, "run", "s.py", "--input", file, "--format", "csv")
    assert f"is false at step {at}" in done.stderr and done.returncode == 0, done
    assert len(done.stdout.splitlines()) == at + 2
    if text is NO_INPUTS:
        assert run(tmp_path, "run", "s.py", "--input", file, "--format", "csv", "--native").stdout == done.stdout


def test_the_steps_of_a_spec_without_inputs_may_come_from_data(tmp_path):
    (tmp_path / "s.py").write_text(NO_INPUTS)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "wrong.csv").write_text("speed\n3\n")
    (tmp_path / "three.jsonl").write_text("{}\n" * 3)
    (tmp_path / "half.json").write_text('{\n "inputs": ["n"],\n "rows": {}}')
    assert run(tmp_path, "run", "s.py", "--input", "three.jsonl", "--format", "csv").stdout.count("\n") == 4
    assert "or is `step` if there are none" in run(tmp_path, "run", "s.py", "--input", "empty.csv").stderr
    assert "it has none" in run(tmp_path, "run", "s.py", "--input", "wrong.csv").stderr
    assert "neither JSON lines nor a run" in run(tmp_path, "run", "s.py", "--input", "half.json").stderr


PAIRS = """
from streamcheck import *

@struct
class Pair:
    low: Int16
    high: Int16

pair = extern("pair", Pair)
cells = extern("cells", Array(Word8, 40))
count = stream(Word8, lambda c: [0] ++ mux(pair.low > 7, c + 1, c))
spec = Spec("pairs")
spec.prop("few", count < 3)
spec.prop("known", forall(Word8, lambda limit: implies(limit > 100, cells[30] < limit)))
"""


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "s.py").write_text(PAIRS)
    return folder


@pytest.mark.parametrize("command", ["prove", "explain"])
def test_rows_that_nothing_has_are_refused_before_the_proof(pairs, command):
    done = run(pairs, command, "s.py", "--rows", "cuont")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "error: --rows cuont: no row of this name; is 'count' meant?\n"
    done = run(pairs, command, "s.py", "--rows", "few", "--rows", "zzz*")
    assert "no row of this name; there are pair, pair.low, pair.high, cells, cells.0" in done.stderr
    assert done.stderr.endswith(" more\n") and done.returncode == 2


def test_rows_may_be_parts_and_properties(pairs):
    done = run(pairs, "prove", "s.py", "--rows", "pair.l*", "--rows", "cells.30", "--rows", "few")
    tables = rows_of(done.stdout)
    assert tables["few"].keys() - {"*"} == {"step", "pair.low", "cells.30", "few"}
    assert tables["known"].keys() - {"*"} == {"step", "pair.low", "cells.30"}


def test_a_run_without_the_rows_or_steps_says_so(pairs):
    done = run(pairs, "prove", "s.py", "--rows", "limit")
    assert "      the run has no row called limit" in done.stdout and "limit" in rows_of(done.stdout)["known"]
    done = run(pairs, "prove", "s.py", "--steps", "3-5")
    assert rows_of(done.stdout)["few"]["step"] == ["3"]
    assert "      the run ends at step 0, before --steps 3-5" in done.stdout
    assert done.returncode == 1


def test_a_long_name_leaves_room_for_the_steps():
    n = stream(Word32, lambda n: [1000000000] + +(n + 1000000000))
    spec = Spec("s")
    spec.prop("a name that is as long as a sentence, which it is, and as wide as a terminal", n < 4000000000)
    flat = flatten(spec)
    (result,) = prove(flat, Settings(timeout=20)).results
    narrow = list(trace_table(flat, result.prop, result.run, TraceOptions(width=60)))
    assert max(map(len, narrow)) <= 60 and any("a name that is as long as …  true" in line for line in narrow)
    assert any("as wide as a terminal" in line for line in trace_table(flat, result.prop, result.run))


def test_neighbours_with_the_same_values_are_one_row_of_a_long_table():
    inputs = [extern(f"x_{i}", Word16) for i in range(100)]
    spec = Spec("s")
    spec.prop("sum", sum(inputs[1:], inputs[0]) != 7000)
    flat = flatten(spec)
    (result,) = prove(flat, Settings(timeout=20)).results
    lines = list(trace_table(flat, result.prop, result.run))
    names = [line[: line.index("  ", 6)].strip() for line in lines[1:-1]]
    assert len(names) < 30 and any(" … " in name for name in names) and "sum" in names
    for options in (TraceOptions(full=True), TraceOptions(rows=("x_*", "sum"))):
        every = [line.split()[0] for line in trace_table(flat, result.prop, result.run, options)]
        assert set(every) >= {"sum", *(f"x_{i}" for i in range(100))}


def test_a_spec_that_is_not_python_is_told_of_data_only(tmp_path):
    (tmp_path / "n.lus").write_text("node n(a: int) returns (b: int);\nlet\n  b = a;\ntel\n")
    assert run(tmp_path, "run", "n.lus").stderr == "error: no values for a\n  write: --input data.csv\n"


def test_traces_of_a_proof_are_none_and_that_is_said(tmp_path):
    (tmp_path / "s.py").write_text(NO_INPUTS.replace("n < 5", "n >= 0"))
    done = run(tmp_path, "prove", "s.py", "--trace", "vcd", "traces")
    assert done.returncode == 0
    assert done.stderr == "note: clock has no counterexample and no witness to write to traces\n"
