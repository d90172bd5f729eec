"""Runs on logs: CSV, JSON lines and Parquet with columns of their own, time stamps, properties as columns."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPEC = """\
from streamcheck import *
import enum
class Mode(enum.Enum):
    OFF = 0
    ON = 1
@struct
class Pos:
    lat: Double
    fix: Bool
mv, beat = extern("mv", Word16), extern("beat", Bool)
temp, spare = extern("temp", Float), [extern("spare", Pos)]
mode, pos, ratio = extern("mode", EnumOf(Mode)), extern("pos", Pos), extern("ratio", Real)
low = stream(Bool, lambda u: [False] ++ mux(mv < 3300, True, mux(mv > 3500, False, u)))
spec = Spec("mon")
spec.trigger("shed", low & ~beat, {"mv": mv})
spec.observer("low", low)
spec.observer("lat", mux(pos.fix & (mode == Mode.ON), pos.lat, 0.0))
spec.observer("ratio", ratio + 1)
spec.assume("lively", beat | ~low)
spec.prop("charged", mv > 3000)
spec.prop("low", ~low)
"""
ROWS = [
    {"time": "10:00", "mv": 3600, "beat": True, "mode": "ON", "pos": {"lat": 0.5, "fix": True}, "ratio": 0.25},
    {"time": "10:01", "mv": 3200, "beat": True, "mode": "OFF", "pos": {"lat": 1.5, "fix": True}, "ratio": 2},
    {"time": "10:02", "mv": 2900, "beat": True, "mode": "ON", "pos": {"lat": 2.5, "fix": False}, "ratio": 1},
    {"time": "10:03", "mv": 3600, "beat": False, "mode": "ON", "pos": {"lat": 3.5, "fix": True}, "ratio": 1},
    {"time": "10:04", "mv": 2000, "beat": True, "mode": "ON", "pos": {"lat": 4.5, "fix": True}, "ratio": 1},
]
NOTES = [
    "note: property charged is false at step 2, 10:02",
    "note: property low is false at step 2, 10:02",
    "note: assumption lively is false at step 3, 10:03",
]


def flat(row):
    scalars = {k: v for k, v in row.items() if k != "pos"} | {f"pos.{k}": v for k, v in row["pos"].items()}
    return {k: str(v).lower() if isinstance(v, bool) else v for k, v in scalars.items()}


def write_csv(path, rows, separator=","):
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mon.py").write_text(SPEC)
    write_csv(tmp_path / "log.csv", [flat(row) for row in ROWS])
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def write_parquet(path, rows):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def run(folder, *options, stdin=None):
    return subprocess.run(
        [COMMAND, "run", "mon.py", *map(str, options)], input=stdin, capture_output=True, text=True, cwd=folder
    )


def table(done):
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_a_property_has_a_column_and_the_time_is_kept(folder):
    done = run(folder, "--input", "log.csv", "--format", "csv")
    assert done.stderr.splitlines() == NOTES and done.returncode == 0
    rows = table(done)
    assert list(rows[0]) == [
        *("step", "time", "shed", "shed.mv", "low", "lat", "ratio", "charged", "low (property)", "lively")
    ]  # fmt: skip
    assert [row["time"] for row in rows] == [row["time"] for row in ROWS]
    assert [row["charged"] for row in rows] == ["true", "true", "false", "true", "false"]
    assert [row["low (property)"] for row in rows] == ["true", "true", "false", "false", "true"]
    assert [row["lively"] for row in rows] == ["true", "true", "true", "false", "true"]
    shown = run(folder, "--input", "log.csv").stdout.splitlines()
    assert shown[0].split()[:3] == ["step", "time", "shed"] and shown[3].split()[:2] == ["2", "10:02"]
    shown = run(folder, "--input", "log.csv", "--format", "wave").stdout
    assert "charged" in shown and "lively" in shown


def test_every_form_of_data_has_the_same_run(folder):
    write_parquet(folder / "log.parquet", ROWS)
    typed = [flat(row) | {"beat": row["beat"], "pos.fix": row["pos"]["fix"]} for row in ROWS]
    write_parquet(folder / "flat.parquet", typed)
    outputs = [
        run(folder, "--input", data, "--format", shape)
        for shape in ("csv", "json", "table", "wave")
        for data in ("log.csv", "log.jsonl", "log.parquet", "flat.parquet")
    ]
    for i in range(0, 16, 4):
        assert len({(o.stdout, o.stderr, o.returncode) for o in outputs[i : i + 4]}) == 1, outputs[i : i + 4]
        assert outputs[i].returncode == 0 and outputs[i].stdout
    lines = [json.loads(line) for line in outputs[4].stdout.splitlines()]
    assert lines[3] == {
        "step": 3,
        "kept": {"time": "10:03"},
        "triggers": {"shed": {"mv": 3600}},
        "observers": {"low": True, "lat": 3.5, "ratio": 2},
        "broken": ["low"],
        "unmet": ["lively"],
    }


def test_externs_that_are_declared_and_unused_are_accepted_and_named(folder):
    write_csv(folder / "more.csv", [flat(row) | {"temp": "?", "spare.lat": 1, "spare.fix": ""} for row in ROWS])
    done = run(folder, "--input", "more.csv", "--format", "csv")
    assert done.stdout == run(folder, "--input", "log.csv", "--format", "csv").stdout
    assert done.stderr.splitlines()[:2] == [
        "note: mon does not use spare, which the file declares: its values are not read",
        "note: mon does not use temp, which the file declares: its values are not read",
    ]


def test_columns_that_are_no_inputs(folder):
    write_csv(folder / "more.csv", [flat(row) | {"comment": f"{i},x"} for i, row in enumerate(ROWS)])
    done = run(folder, "--input", "more.csv")
    assert done.returncode == 2 and "column 'comment' is not an input of this spec" in done.stderr
    assert run(folder, "--input", "more.csv", "--ignore-extra").returncode == 0
    kept = table(run(folder, "--input", "more.csv", "--keep", "comment", "--keep", "mv", "--format", "csv"))
    assert [row["comment"] for row in kept] == ["0,x", "1,x", "2,x", "3,x", "4,x"]
    assert [row["mv"] for row in kept] == [str(row["mv"]) for row in ROWS]
    done = run(folder, "--input", "more.csv", "--ignore-extra", "--keep", "remark")
    assert done.returncode == 2 and "no column 'remark' to keep" in done.stderr


def test_violations_and_fail_count_assumptions_too(folder):
    done = run(folder, "--input", "log.csv", "--violations", "--fail", "--format", "csv")
    assert [row["step"] for row in table(done)] == ["2", "3", "4"] and done.returncode == 1
    calm = [row for row in ROWS if row["mv"] == 3600 and row["beat"]]
    write_csv(folder / "calm.csv", [flat(row) for row in calm])
    done = run(folder, "--input", "calm.csv", "--violations", "--fail", "--format", "csv")
    assert done.returncode == 0 and table(done) == []
    unmet = [ROWS[1] | {"mv": 3250}, ROWS[3]]
    (folder / "mon.py").write_text(SPEC.replace('spec.prop("low", ~low)\n', ""))
    write_csv(folder / "unmet.csv", [flat(row) for row in unmet])
    done = run(folder, "--input", "unmet.csv", "--violations", "--fail", "--format", "csv")
    assert done.returncode == 1 and [row["lively"] for row in table(done)] == ["false"]


def test_mistakes_in_the_data(folder):
    rows = [flat(row) for row in ROWS]
    write_csv(folder / "bad.csv", rows, ";")
    done = run(folder, "--input", "bad.csv")
    assert done.returncode == 2 and "bad.csv:1: the values are separated by ';'; CSV has commas" in done.stderr
    write_csv(folder / "bad.csv", [{"mV" if k == "mv" else k: v for k, v in row.items()} for row in rows])
    done = run(folder, "--input", "bad.csv")
    assert "column 'mV' is not an input of this spec; is 'mv' meant?" in done.stderr
    (folder / "bad.parquet").write_text("mv,beat\n")
    done = run(folder, "--input", "bad.parquet")
    assert done.returncode == 2 and "error: bad.parquet: not a Parquet file" in done.stderr
    write_parquet(folder / "bad.parquet", [ROWS[0], ROWS[1] | {"mv": 70000}])
    done = run(folder, "--input", "bad.parquet", "--format", "csv")
    assert done.returncode == 2 and len(table(done)) == 1
    assert done.stderr.splitlines()[-1].startswith("error: bad.parquet: row 2: column mv: 70000 does not fit Word16")
    write_parquet(folder / "bad.parquet", [{k: v for k, v in ROWS[0].items() if k != "pos"}])
    assert "no column for pos.lat, pos.fix" in run(folder, "--input", "bad.parquet").stderr


def test_a_row_that_is_wrong_ends_the_run_after_the_rows_before_it(folder):
    rows = [flat(ROWS[0])] * 3000
    write_csv(folder / "long.csv", [*rows, flat(ROWS[0]) | {"mv": "many"}, *rows])
    for shape in ("csv", "table", "json"):
        done = run(folder, "--input", "long.csv", "--format", shape)
        assert done.returncode == 2 and len(done.stdout.splitlines()) == 3000 + (shape != "json")
        assert "long.csv:3002: column mv: 'many' is not a Word16" in done.stderr


def test_expressions_have_columns(folder):
    options = ["--input", "log.csv", "--format", "csv", "--eval", "mv - pre(0, mv)", "--eval", "low"]
    done = run(folder, *options, "--eval", "  mtl.always_been(0,\n 1, beat)")
    rows = table(done)
    assert done.returncode == 0 and done.stderr.splitlines() == NOTES
    assert [row["mv - pre(0, mv)"] for row in rows] == ["3600", "65136", "65236", "700", "63936"]
    assert [row["low (--eval)"] for row in rows] == [row["low"] for row in rows]
    assert [row["mtl.always_been(0, 1, beat)"] for row in rows] == ["true", "true", "true", "false", "false"]
    used = run(folder, "--input", "log.csv", "--eval", "temp > 1")  # an extern that the spec alone does not use
    assert used.returncode == 2 and "no column for temp" in used.stderr


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("mv + temp", "--eval:1: Word16 + Float: Word16 and Float are different types"),
        ("mv > 3 & beat", "write: (mv > 3) & beat"),
        ("beat and low", "write: beat & low"),
        ("mv +", "--eval:1: Python cannot read this: invalid syntax"),
        ("mv, 3", "--eval:1: expected a stream, found a tuple; a comma too many?"),
        ("len([])", "--eval:1: expected a stream, found 0"),
        ("drop(1, mv)", 'this needs extern "mv" 1 step ahead'),
        ("mux(beat)", "write: mux(condition, then, otherwise)"),
    ],
)
def test_mistakes_in_an_expression(folder, expression, complaint):
    done = run(folder, "--input", "log.csv", "--eval", expression)
    assert done.returncode == 2 and complaint in done.stderr and done.stdout == ""
    assert f"\n    {expression}\n" in done.stderr + "\n"


def test_expressions_are_for_python(folder):
    (folder / "mon.json").write_text(
        subprocess.run([COMMAND, "show", "mon.py", "--as", "json"], capture_output=True, text=True, cwd=folder).stdout
    )
    done = subprocess.run(
        [COMMAND, "run", "mon.json", "--input", "log.csv", "--eval", "mv"], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 2 and "mon.json: --eval is for specs in Python" in done.stderr


def test_expressions_have_rows_in_counterexamples(folder):
    (folder / "count.py").write_text(
        """\
from streamcheck import *
x, y = extern("x", Word8), extern("y", Word8)
n = stream(Word8, lambda n: [0] ++ mux(x > 250, n + 1, 0))
spec = Spec("count")
spec.prop("few", n < 3)
spec.prop("ok", n <= 255)
"""
    )
    command = [COMMAND, "prove", "count.py", "--no-cache"]

    def prove(*options):
        return subprocess.run([*command, *options], capture_output=True, text=True, cwd=folder)

    plain = prove()
    done = prove("--eval", "x  - pre(0, x)", "--eval", "100 // y", "--eval", "n + 1")
    assert plain.returncode == done.returncode == 1
    rows = dict(re.findall(r"^      (\S.*?)  +(\S.*)$", done.stdout, re.M))
    assert rows["n + 1"].split() == ["1", "2*", "3*", "4*"] and {"x - pre(0, x)", "100 // y"} <= set(rows)
    xs = [int(text.strip("(*)")) for text in rows["x"].split()]
    changes = [(b - a) % 256 for a, b in zip([0, *xs], xs, strict=False)]
    assert [int(text.strip("*")) for text in rows["x - pre(0, x)"].split()] == changes
    assert "division" not in done.stdout  # what an expression implies is no claim of the spec
    verdicts = re.compile(r"^  (proved|falsified) +(\w+)", re.M)
    assert verdicts.findall(plain.stdout) == verdicts.findall(done.stdout)
    chosen = prove("--rows", "x", "--eval", "n + 1").stdout
    assert "n + 1" in chosen and "few    " not in chosen.partition("step ")[2]
    wrong = prove("--eval", "n + z")
    assert wrong.returncode == 2 and "--eval:1: name 'z' is not defined" in wrong.stderr


def test_expressions_from_python(folder):
    import streamcheck as sc

    loaded = sc.load(str(folder / "mon.py"), expressions=["mv - pre(0, mv)"])
    row = {"mv": 9, "beat": True, "temp": 0.0, "mode": "ON", "pos": {"lat": 0.5, "fix": True}, "ratio": 1}
    steps = list(loaded.run(inputs=[row, row | {"mv": 11}]))
    assert [step.observers["mv - pre(0, mv)"] for step in steps] == [9, 2]


@pytest.mark.parametrize("shape", ["table", "csv", "json", "wave"])
@pytest.mark.parametrize("native", [[], ["--native"]])
@pytest.mark.parametrize("begin", ["x,go\n1,maybe\n", "x\n1\n", "x,go\n1,true\n2\n"])
def test_no_line_comes_before_an_error_of_the_first_row(tmp_path, shape, native, begin):
    spec, log = tmp_path / "s.py", tmp_path / "log.csv"
    externs = "from streamcheck import *\nx, go = extern('x', Word8), extern('go', Bool)\n"
    spec.write_text(externs + "spec = Spec('s')\nspec.prop('p', go)\nspec.observer('x', x)\n")
    log.write_text(begin)
    for data, text in ((log, ""), ("-", begin)):
        command = [COMMAND, "run", spec, "--input", data, "--format", shape, *native]
        done = subprocess.run(command, capture_output=True, text=True, input=text)
        assert done.returncode == 2 and done.stderr.count("error: ") == 1
        rows = begin.count("true")
        assert (done.stdout == "") == (rows == 0 or shape == "wave")


def test_columns_to_keep_need_data(tmp_path):
    spec = tmp_path / "s.py"
    source = "spec = Spec('s')\nspec.observer('x', extern('x', Word8, samples=[1]))\n"
    spec.write_text("from streamcheck import *\n" + source)
    done = subprocess.run([COMMAND, "run", spec, "--keep", "time"], capture_output=True, text=True)
    assert done.returncode == 2 and "--keep time: samples have no columns to keep" in done.stderr
    assert done.stdout == "" and "write: --input data.csv" in done.stderr
