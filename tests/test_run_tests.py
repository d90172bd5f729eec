"""Runs as tests: what `prove --write-test` writes, `assert_same`, and runs that hypothesis draws."""

import enum
import re
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings

import streamcheck as sc
from streamcheck import *
from streamcheck.testing import assert_on_run, assert_same, runs_of

SPEC = """from streamcheck import *

x = extern("x", Word8)
hot = x > 250
since = stream(Word8, lambda n: [0] ++ mux(hot, n + 1, 0))
spec = Spec("engine")
spec.trigger("alarm", since > 2, {"since": since})
spec.prop("never long", since < 4)
spec.exists("once", since == 2)
spec.prop("for all", forall(Word8, lambda c: implies(c > 9, since < c)))
"""
MENDED = SPEC.replace("mux(hot, n + 1, 0)", "mux(hot & (n < 3), n + 1, 0)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A spec, and in `tests` the tests of its runs."""
    where = tmp_path_factory.mktemp("runs")
    (where / "engine.py").write_text(SPEC)
    words = "prove engine.py --no-cache --quiet --timeout 60 --write-test tests"
    done = command(where, *words.split())
    assert done.returncode == 1 and "note: no test of the run of for all: it does not follow" in done.stderr
    return where


def command(folder, *words):
    return subprocess.run([sys.executable, "-m", "streamcheck", *words], cwd=folder, capture_output=True, text=True)


def pytest_in(folder):
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def test_a_counterexample_is_a_test_that_passes_once_the_spec_is_mended(folder):
    names = {path.name for path in (folder / "tests").iterdir() if path.is_file()}
    stems = ("engine_never_long", "engine_once")
    assert names == {"engine_test.c", *(f"{s}.csv" for s in stems), *(f"test_{s}.py" for s in stems)}
    done = pytest_in(folder)
    assert "1 failed, 1 passed" in done.stdout and "never long is false at step 4 of this run" in done.stdout
    assert 'engine.py:8: spec.prop("never long", since < 4)' in done.stdout
    (folder / "engine.py").write_text(MENDED)
    assert "2 passed" in pytest_in(folder).stdout
    (folder / "engine.py").write_text(SPEC)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_same_runs_are_a_test_of_the_generated_c(folder):
    sc.load(str(folder / "engine.py")).compile(folder / "c", unproven=True, validate=False)
    words = ["cc", "-std=c99", "-Ic", "tests/engine_test.c", "c/engine.c", "-o", "run"]
    subprocess.run(words, cwd=folder, check=True)
    done = subprocess.run(["./run"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and "runs: 2" in done.stdout
    code = folder / "c" / "engine.c"
    code.write_text(re.sub(r"> 2u?\b", "> 1u", code.read_text()))
    subprocess.run(words, cwd=folder, check=True)
    assert subprocess.run(["./run"], cwd=folder, capture_output=True).returncode != 0


def test_a_property_that_no_run_decides_is_refused():
    x, y = extern("x", Word8), unknown(Word8)
    spec = Spec("open")
    spec.prop("low", x < 9)
    spec.prop("chosen", y < 9)
    for name, meant in (("lw", "low"), ("chosen", "low")):
        with pytest.raises(sc.SpecError, match=f"no property named '{name}' that a run decides.*{meant}"):
            assert_on_run(spec, name, [{"x": 1}])


def test_steps_count_until_an_assumption_is_false():
    x = extern("x", Word8)
    spec = Spec("bounded")
    spec.assume("small", x < 9)
    spec.prop("low", x < 5)
    spec.exists("seven", x == 7)
    assert_on_run(spec, "low", [{"x": 1}, {"x": 9}, {"x": 7}])
    assert_on_run(spec, "seven", [{"x": 1}, {"x": 7}])
    for name, rows in (("low", [{"x": 1}, {"x": 6}]), ("seven", [{"x": 9}, {"x": 7}])):
        with pytest.raises(AssertionError, match=name):
            assert_on_run(spec, name, rows)


def test_c_in_a_folder_is_the_same_or_not(tmp_path):
    x = extern("x", Word8)
    count = stream(Word8, lambda n: [0] + +mux(x > 5, n + 1, 0))
    spec = Spec("watch")
    spec.assume("few", x < 9)
    spec.observer("count", count)
    spec.trigger("high", count > 2, {"count": count})
    spec.compile(tmp_path / "c", unproven=True, validate=False)
    assert assert_same(spec, tmp_path / "c")["high"].proved
    code = tmp_path / "c" / "watch.c"
    text = code.read_text()
    code.write_text(text.replace("5u", "8u"))  # only beyond the assumption they would agree
    with pytest.raises(AssertionError, match=r"falsified +high"):
        assert_same(spec, tmp_path / "c")
    code.write_text(text.replace("+ 1u", "+ 2u") + "\nvoid extra(void);\n")
    with pytest.raises(AssertionError, match=r"falsified +high"):
        assert_same(spec, tmp_path / "c")
    other = Spec("watch")
    other.trigger("low", x < 3)
    code.write_text(text)
    with pytest.raises(sc.SpecError, match=r"only one of watch and the C in .* calls high, low"):
        assert_same(other, tmp_path / "c")
    with pytest.raises(sc.SpecError, match="has no step functions"):
        assert_same(spec, tmp_path)


class Mode(enum.Enum):
    IDLE = 0
    RUN = 1
    STOP = 5


@struct
class Position:
    height: Word8
    speed: Float


def test_drawn_runs_meet_the_assumptions():
    clock, x = extern("clock", Int), extern("x", Word8)
    mode, flow = extern("mode", EnumOf(Mode)), extern("flow", Double)
    place, flags, share = extern("place", Position), extern("flags", Array(Bool, 2)), extern("share", Real)
    spec = Spec("plant")
    spec.assume("ticks", clock == pre(0, clock) + 3)
    spec.assume("stops", implies(x > 3, mode == Mode.STOP))
    spec.assume("flows", (flow >= 1.5) & (flow <= 2.5))
    spec.observer("all", (place.height > 3) & flags[0] & (share > 0))
    lengths = []

    @settings(max_examples=15, deadline=None, database=None)
    @given(runs_of(spec, max_steps=8))
    def meets(rows):
        lengths.append(len(rows))
        steps = list(spec.run(inputs=rows)) if rows else []
        assert len(steps) == len(rows) and not any(step.unmet for step in steps)

    meets()
    assert max(lengths) > 3


def test_a_drawn_run_ends_where_the_assumptions_do():
    x = extern("x", Word8)
    number = stream(Word8, lambda n: [0] + +(n + 1))
    spec = Spec("short")
    spec.assume("three", (number < 3) & (x > number))
    lengths = set()

    @settings(max_examples=30, deadline=None, database=None)
    @given(runs_of(spec))
    def short(rows):
        lengths.add(len(rows))

    short()
    assert max(lengths) == 3


def test_a_spec_without_a_property_that_a_run_decides_says_none():
    spec = Spec("empty")
    spec.prop("chosen", unknown(Word8) < 9)
    with pytest.raises(sc.SpecError, match="that a run decides; it has none"):
        assert_on_run(spec, "chosen", [{}])
