"""The chain of causes that `explain` shows: folded, cut to what is asked for, in the spec's words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamcheck import *
from streamcheck.lang.flatten import flatten
from streamcheck.problem.result import Cause
from streamcheck.report.chain import cause_lines
from streamcheck.report.trace import TraceOptions

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """\
from streamcheck import *
from streamcheck import signals

probe = extern("probe", Word8)
hot = probe > 250

def since(c):
    return stream(Word8, lambda n: [0] ++ mux(c, n + 1, 0))

ticks = stream(Word8, lambda t: [0] ++ (t + 1))
late = stream(Bool, lambda late: [False] ++ (late | (ticks == 40)))
armed = stream(Bool, lambda a: [False] ++ (a | (probe == 7)))
spec = Spec("chain")
spec.prop("short", (since(hot) < 4) | (since(~hot) > 3))
spec.prop("soon", ticks < 60)
spec.prop("held", ~(late & armed & ~hot))
"""
ALL_STEPS = ("--set", "long-runs.steps=1")  # no step of a run is left out
LOOP = """\
void reach_error(void);
extern int nondet_int(void);
int main(void) {
  int n = nondet_int(), s = 0, t = 1;
  STEPS
  if (s == 1035 && t == 1) reach_error();
  return 0;
}
"""


def chain(path, *options):
    """The lines of the chain, split at two spaces and more."""
    command = [COMMAND, "explain", "--no-cache", path, *options, *(ALL_STEPS if path.suffix == ".py" else ())]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done
    text = done.stdout.partition(", from the end:\n")[2]
    return [re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.startswith(" " * 6)]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "chain.py"
    file.write_text(SPEC)
    return file


def test_the_middle_of_a_long_chain_is_left_out_and_counted(path):
    rows = chain(path, "--prop", "soon")
    assert rows[0][:2] == ["step 60", "soon = false"] and rows[-1] == ["step 0", "ticks = 0"]
    assert ["…", "51 steps more (--full)"] in rows and len(rows) < 15
    assert [row[0] for row in rows if row[0].startswith("step")][-3:] == ["step 53", "step 1", "step 0"]
    full = chain(path, "--prop", "soon", "--full")
    assert len(full) == 62 and ["step 30", "ticks = 30"] in full


def test_equal_steps_of_a_chain_are_one_line(path):
    rows = chain(path, "--prop", "held", "--rows", "armed")
    equal = [row for row in rows if "…" in row[0] and row[0].startswith("step")]
    assert equal and all(row[1] == "armed = true" for row in equal) and len(rows) < 8
    first, last = map(int, re.fullmatch(r"step (\d+)…(\d+)", equal[0][0]).groups())
    assert last - first >= 20
    assert all(row[0] == "…" or row[1].startswith("armed = ") for row in rows)


def test_a_name_that_comes_late_in_the_chain_keeps_its_line(path):
    rows = chain(path, "--prop", "held")
    assert any(row[1].startswith("ticks = ") and "at step" in row[2] for row in rows)


def test_steps_and_rows_cut_the_chain(path):
    rows = chain(path, "--prop", "soon", "--steps", "20-24", "--rows", "ticks")
    assert [row[0] for row in rows] == [f"step {i}" for i in (24, 23, 22, 21, 20)]
    assert rows[0][1:] == ["ticks = 24", f"= at step 23: ticks + 1  ({path}:10)"] or len(rows[0]) == 4
    done = subprocess.run(
        [COMMAND, "explain", "--no-cache", path, "--prop", "soon", "--steps", "70-80"], capture_output=True, text=True
    )
    assert "from the end" not in done.stdout and "before --steps 70-80" in done.stdout


def test_streams_without_names_are_shown_by_their_lines(path):
    rows = chain(path, "--prop", "short")
    text = "\n".join(" ".join(row) for row in rows)
    assert "cell_" not in text and "short = false = (‹line 8› < 4) | (‹line 8, 2› > 3)" in text
    assert "‹line 8› = 4 = at step 3: mux(hot, ‹line 8› + 1, 0)" in text
    done = subprocess.run([COMMAND, "prove", "--no-cache", path, "--rows", "xx"], capture_output=True, text=True)
    assert done.returncode == 2 and "line 8" in done.stderr and "cell_" not in done.stderr
    one = [COMMAND, "prove", "--no-cache", path, "--prop", "short", "--rows", "line 8"]
    assert "‹line 8›  0" in subprocess.run(one, capture_output=True, text=True).stdout


def test_a_stream_that_no_file_has_is_shown_as_its_text():
    n = stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, 0))
    spec = Spec("s")
    spec.prop("low", n <= 9)
    (low,) = spec.prove()
    shown = [repr(s) for s in low.invariant_streams]
    assert shown and not any("<invariants>" in text for text in shown)
    assert any(re.fullmatch(r"<stream of Bool, ‹line \d+› <= 9>", text) for text in shown), shown
    assert repr(n) == f"<stream of Word8, {n._node.where}>" and "test_chain.py" in repr(n)


def test_the_chain_of_a_program_is_counted_and_chosen(tmp_path):
    file = tmp_path / "loop.c"
    steps = [f"if (n > {i}) s = s + {i};" for i in range(46)]
    file.write_text(LOOP.replace("STEPS", "\n  ".join(steps)))
    rows = chain(file, "--prop", "reach_error*", "--timeout", "40")
    assert rows[-1][0] == "…" and re.fullmatch(r"\d+ lines more \(--full\)", rows[-1][1])
    full = chain(file, "--prop", "reach_error*", "--timeout", "40", "--full")
    assert len(full) > 41 and all(row[0] != "…" for row in full)
    some = chain(file, "--prop", "reach_error*", "--timeout", "40", "--rows", "t")
    assert some and all(re.search(r"\bt = 1", " ".join(row)) for row in some)


def test_equal_steps_are_not_one_line_across_steps_that_are_missing():
    """Of a run whose rounds were computed, some steps are not there."""
    n = extern("n", Word8)
    spec = Spec("s")
    spec.prop("p", n < 3)
    specification = flatten(spec)
    var = specification.inputs[0].var
    steps = [*range(100, 94, -1), *range(20, 14, -1)]
    causes = [Cause(step, "n", 1, var, None, False, None) for step in steps]
    lines = [line.split() for line in cause_lines(specification, causes, TraceOptions())]
    assert lines == [
        ["step", "100", "n", "=", "1", "input"],
        ["step", "95…99", "n", "=", "1"],
        ["step", "15…20", "n", "=", "1"],
    ]
