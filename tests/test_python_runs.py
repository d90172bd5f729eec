"""Runs and traces from Python with the options of the command: the same notes, the same steps, Python's words."""

from __future__ import annotations

import enum
import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pandas
import pytest

import streamcheck as sc
from streamcheck import *
from streamcheck import SpecError
from streamcheck.api.commands import Commands
from streamcheck.api.results import PropertyResult, RecordedPath, RecordedRun

COMMAND = Path(sys.executable).parent / "streamcheck"
RENAMED = {"data": "inputs"}
SHOWN_ONLY = {"file", "shape"}


class Mode(enum.Enum):
    LOW = 0
    HIGH = 7


def counting():
    go = extern("go", Bool, samples=[True] * 7)
    mode = extern("mode", EnumOf(Mode), samples=[Mode.LOW, Mode.HIGH] * 4)
    n = stream(Word8, lambda n: [0] + +mux(go, n + 1, n))

    spec = Spec("counting")
    spec.trigger("high", mode == Mode.HIGH, {"n": n, "mode": mode})
    spec.observer("n", n)
    spec.observer("both", Array(Word8, 2)([n, n + 1]))
    spec.prop("small", n < 3)
    spec.prop("even", n % 2 == 0)
    spec.assume("short", n < 6)
    return spec


go = extern("go", Bool)  # for expressions, which have the names of the module
LOG = "time,go,mode,note\n" + "".join(f"{i / 10},true,{'LOW' if i % 2 else 'HIGH'},n{i}\n" for i in range(7))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "counting.py"
    modes = "class Mode(enum.Enum):\n    LOW = 0\n    HIGH = 7\n\ngo = extern('go', Bool)\n"
    source = f"{modes}{inspect.getsource(counting)}\nspec = counting()\n"
    path.write_text(f"from streamcheck import *\nimport enum\n{source}")
    (path.parent / "log.csv").write_text(LOG)
    return path


def sources(file):
    return {"spec": counting(), "file": sc.load(file)}


def command(*args):
    done = subprocess.run([COMMAND, "run", *map(str, args)], capture_output=True, text=True)
    return done.stdout, done.stderr


def test_every_option_of_run_is_a_parameter():
    options = {p.name for p in import_module("streamcheck.cli.run").command.params if p.expose_value} - SHOWN_ONLY
    assert {RENAMED.get(o, o) for o in options} == set(inspect.signature(Commands.run).parameters) - {"self"}


@pytest.mark.parametrize("function", [RecordedRun.table, RecordedPath.table, PropertyResult.explain])
def test_tables_have_the_options_of_the_command(function):
    command = import_module("streamcheck.cli.explain").command
    shown = {"full", "rows", "steps"}
    assert shown <= {p.name for p in command.params} and shown <= set(inspect.signature(function).parameters)


@pytest.mark.parametrize("options", [{}, {"violations": True}, {"keep": ["note"], "ignore_extra": True}])
@pytest.mark.parametrize("native", [False, True])
def test_a_log_gives_what_the_command_prints(file, options, native):
    flags = ["--violations"] * ("violations" in options) + ["--keep", "note"] * ("keep" in options)
    out, err = command(file, "--input", file.parent / "log.csv", "--ignore-extra", *flags, *["--native"] * native)
    for run_of in sources(file).values():
        run = run_of.run(inputs=file.parent / "log.csv", **options | {"ignore_extra": True}, native=native)
        assert run.ok and run.notes == []
        assert str(run) + "\n" == out + err and "property small is false at step 3, 0.3" in err
        assert not run.ok and [f"note: {note}" for note in run.notes] == err.splitlines()
        assert [step.step for step in run] == ([1, 3, 4, 5, 6] if "violations" in options else [*range(7)])


@pytest.mark.parametrize("kind", ["samples", "rows", "frame", "log"])
def test_compiled_code_makes_the_same_steps(file, kind):
    frame = pandas.read_csv(file.parent / "log.csv").drop(columns="note")
    inputs = {"samples": None, "rows": frame.to_dict("records"), "frame": frame, "log": file.parent / "slim.csv"}[kind]
    frame.to_csv(file.parent / "slim.csv", index=False)
    for spec in sources(file).values():
        slow, fast = (list(spec.run(inputs=inputs, native=native)) for native in (False, True))
        assert repr(slow) == repr(fast) and len(slow) == 7
        assert slow[3].broken == ("small", "even") and slow[6].unmet == ("short",)
        assert (slow[2].kept == {"time": "0.2"}) == (kind != "samples")


def test_kept_columns_are_in_the_data_frame(file):
    frame = counting().run(inputs=file.parent / "log.csv", keep=["note"]).to_pandas()
    assert list(frame.columns)[:2] == ["time", "note"] and frame["note"].tolist()[4] == "n4"
    rows = [{"go": True, "mode": "LOW", "timestamp": 3}, {"go": True, "mode": "LOW"}]
    assert [dict(s.kept) for s in counting().run(inputs=rows)] == [{"timestamp": "3"}, {"timestamp": ""}]


def test_the_first_row_is_checked_at_once(file):
    rows = {"no column for mode": {"go": True}, "column 'x' is not an input": {"x": 3}, "expected a dictionary": 3}
    for text, row in rows.items():
        with pytest.raises(SpecError, match=f"row 0 of the inputs: {text}") as refused:
            counting().run(inputs=iter([row]))
        assert refused.value.where.file == __file__
    assert list(counting().run(inputs=[])) == []


def test_expressions_are_observers_of_this_run_alone(file):
    for spec in sources(file).values():
        steps = list(spec.run(3, expressions=["go & ~pre(False, go)", "Word8(3) + 1"], native=False))
        assert [s.observers["go & ~pre(False, go)"] for s in steps] == [True, False, False]
        assert [s.observers["Word8(3) + 1"] for s in steps] == [4, 4, 4]
        assert list(next(spec.run(1)).observers) == ["n", "both"]
        for expression, text in (("gone", "name 'gone' is not defined"), ("5", "expected a stream, found 5")):
            with pytest.raises(SpecError) as refused:
                spec.run(expressions=["go", expression])
            assert f"expressions[1]: {text}" in str(refused.value) and "--eval" not in str(refused.value)


def test_a_run_that_fails_ends_with_an_error(file):
    for spec in sources(file).values():
        steps = []
        with pytest.raises(SpecError) as failed:
            for step in spec.run(fail=True):
                steps.append(step.step)
        assert "property even is false at step 1; property small is false at step 3; assumption" in str(failed.value)
        assert steps == [*range(7)] and failed.value.where.file == __file__
        assert len(list(spec.run(1, fail=True))) == 1
        with pytest.raises(SpecError, match="property even is false at step 1"):
            list(spec.run(2, fail=True, violations=True))


def test_a_table_shows_what_is_asked_for(file):
    small = counting().prove(props=["small"])["small"]
    run = small.counterexample
    assert "mode" not in run.table() and "mode" in run.table(full=True) and "mode" in run.table(rows=["mod*"])
    assert run.table(steps=(1, 2)).splitlines()[0].split() == ["step", "1", "2"]
    assert "before steps=(8, 9)" in run.table(steps=(8, 9)) and "go" not in run.table(rows=["n"])
    assert "  mode " not in small.explain() and "  mode " in small.explain(full=True)
    lines = small.explain(steps=(2, 3)).splitlines()
    assert lines[1].split() == ["step", "2", "3"] and lines[-1].startswith("      step 2")
    for call, text in (
        (lambda: run.table(rows=["m"]), "rows=['m']: no row of this name; is 'n' meant?"),
        (lambda: small.explain(rows=["modes"]), "rows=['modes']: no row of this name; is 'mode' meant?"),
        (lambda: run.table(steps=(3, 1)), "steps=(3, 1): the first step is behind the last"),
        (lambda: run.table(steps=(-1, 1)), "table(steps=…): expected a tuple of an integer of at least 0 and"),
        (lambda: run.table(rows="mode"), "write: table(rows=['mode'])"),
    ):
        with pytest.raises(SpecError, match=re.escape(text)) as refused:
            call()
        assert refused.value.where.file == __file__


def test_a_table_of_a_program_shows_what_is_asked_for(tmp_path):
    path = tmp_path / "loop.c"
    text = "extern void reach_error(void);\nint main() { int i = 0, j = 0; while (i < 10) { i++; j += 2; }\n"
    path.write_text(text + "if (i == 10) reach_error();\n}\n")
    result = sc.load(path).prove()["reach_error, line 3"]
    run = result.counterexample
    assert len(run.table().splitlines()) <= len(run.table(full=True).splitlines())
    assert run.table(full=True) in result.explain(full=True)
    assert "j += 2" in run.table(rows=["j"], full=True) and "i++" not in run.table(rows=["j"], full=True)
    assert len(run.table(steps=(1, 3)).splitlines()) == 3
    assert "none of them in steps=(99, 100)" in run.table(steps=(99, 100))
