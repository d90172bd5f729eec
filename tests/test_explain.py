"""What is known of a property: failures of induction, lemmas, invariants in the spec's syntax, causes of violations."""

from __future__ import annotations

import csv
import errno
import json
import re
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest
from vcd.reader import TokenKind, tokenize

from streamcheck import *
from streamcheck.certify.replay import replay
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import DOUBLE, INT
from streamcheck.engines.protocol import NO_FLOATS
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay
from streamcheck.problem.verdict import Certificate, Trace
from streamcheck.report.paste import FileNames, Pasting, python_text
from streamcheck.report.trace import TraceOptions, trace_table
from streamcheck.report.verdicts import report
from streamcheck.report.verdicts_json import verdicts_json
from streamcheck.run.explain import Explainer
from streamcheck.run.memory import memory_limit
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target, read
from streamcheck.run.undecided import Undecided

COMMAND = Path(sys.executable).parent / "streamcheck"
WRAPS = """
from streamcheck import *
adc = extern("adc", Word16)
@stream(Word32)
def uv_ms(): return [0] ++ mux(adc == unsafe_cast(Word16, uv_ms // 10 * 7919), uv_ms + 10, uv_ms)
@stream(Word8)
def t(): return [0] ++ mux(t < 9, t + 1, 0)
@stream(Word8)
def unrelated(): return [0] ++ (unrelated + 3)
spec = Spec("uv")
spec.trigger("show", uv_ms > 5, [t, unrelated])
spec.prop("tens", uv_ms % 10 == 0)
spec.prop("small", t <= 9)
spec.prop("below_four", t < 4)
"""


@pytest.fixture
def wraps(tmp_path):
    path = tmp_path / "uv.py"
    path.write_text(WRAPS)
    return path


def run(*args):
    return subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True)


def test_an_unknown_property_shows_where_induction_fails(wraps):
    done = run("explain", wraps, "--prop", "tens", "--timeout", 20)
    assert done.returncode == 3, done
    assert "true up to step" in done.stdout
    assert "from a state that perhaps no run reaches (" in done.stdout
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("      ")}
    before, after = (int(cell.strip("*()")) for cell in rows["uv_ms"][-2:])
    assert before % 10 == 0 and after == (before + 10) % 2**32 and after % 10  # it wrapped
    assert "unrelated" not in done.stdout and "a bound on uv_ms" in done.stdout
    steps = len(rows["uv_ms"]) - 2
    wrap = f"wraps around at step {steps}: uv_ms + 10 is {before + 10}, of which Word32 holds {after}"
    assert wrap in done.stdout
    depth = int(re.search(r"true up to step (\d+)", done.stdout)[1])
    assert f"(none does before step {depth - steps})" in done.stdout


def test_the_same_is_in_the_json(wraps):
    (problem,) = read(Target.parse(str(wraps)))
    verdicts = prove(problem, Settings(timeout=20, engines=("bmc", "k-induction"), props=("tens",), explain=8.0))
    (row,) = verdicts_json(verdicts, "uv.py", {})["properties"]
    first, *_, last = [step["streams"]["tens"] for step in row["not_inductive"]["steps"]]
    assert (first, last) == (True, False) and row["depth"] >= 0 and row["lemmas"] == []


LOTTERY = """
from streamcheck import *
go = extern("go", Bool)
@stream(Word32)
def x(): return [1] ++ (x * 1103515245 + 12345)
@stream(Word16)
def n(): return [0] ++ mux(x == 7, 25, mux((n >= 25) | (go & (n < 20)), n + 1, n))
spec = Spec("s")
spec.prop("hard", n != 30)
"""


def test_candidates_of_random_runs_are_shown_if_they_exclude_the_failing_state(tmp_path):
    """`n <= 20` holds in all runs that anyone will see, and is not inductive: after x == 7 comes 25."""
    path = tmp_path / "lottery.py"
    path.write_text(LOTTERY)
    (problem,) = read(Target.parse(str(path)))
    settings = Settings(timeout=7, engines=("bmc", "templates"), explain=3.0)
    verdicts = prove(problem, settings)
    (hard,) = verdicts.results
    assert hard.verdict == "unknown" and hard.explanation is not None
    texts = [python_text(problem, t) for t in hard.explanation.candidates]
    assert "n <= 20" in texts
    (line,) = (line for line in report(verdicts) if "true in random runs" in line)
    assert all(text in line for text in texts)
    (row,) = verdicts_json(verdicts, "lottery.py", {})["properties"]
    assert row["candidates"] == texts


def test_candidates_that_the_failing_state_meets_are_left_out(wraps):
    (problem,) = read(Target.parse(str(wraps)))
    uv, t = (next(c.var for c in problem.cells if c.name == name) for name in ("uv_ms", "t"))
    bound, parity = (term("lt", uv, constant(uv.type, 1000)), term("ge", uv, constant(uv.type, 0)))
    candidates = [bound, parity, term("lt", t, constant(t.type, 9))]
    settings = Settings(timeout=2, engines=("bmc",), props=("tens",))
    results = prove(problem, settings).results
    (result,) = Explainer(problem, settings, 6.0, [], candidates).explain(results)
    assert result.explanation.fails is not None and result.explanation.candidates == (bound,)


def test_a_state_that_no_run_reaches_is_named_so():
    go = extern("go", Bool)

    @stream(Word16)
    def even():
        return [0] + +mux(go & (even < 1000), even + 2, 0)

    spec = Spec("s")
    spec.prop("never", even != 79)
    verdicts = prove(flatten(spec), Settings(timeout=8, engines=("bmc",), explain=7.0))
    (never,) = verdicts.results
    assert never.verdict == "unknown" and never.explanation.unreachable
    assert any("from a state that no run reaches (this is proved), it fails" in line for line in report(verdicts))


def test_a_signal_ends_an_explanation(wraps):
    """Of the ten seconds, the last three are for it."""
    command = [COMMAND, "explain", wraps, "--prop", "tens", "--timeout", "10", "--no-cache"]
    explain = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(8.5)
    began = time.monotonic()
    explain.send_signal(signal.SIGINT)
    out, err = explain.communicate(timeout=20)
    assert time.monotonic() - began < 0.5
    assert explain.returncode == 130 and "unknown    tens" in out and "Traceback" not in err


def test_the_reason_is_of_an_engine_that_the_property_is_for():
    undecided = Undecided()
    undecided.add_reason(["p"], "spacer", NO_FLOATS)
    undecided.add_reason(["p"], "k-induction", "a query took too long")
    unknown = undecided.verdict("p", ["bmc"], "")
    assert unknown.reason == "k-induction: a query took too long"
    assert list(unknown.reasons) == ["k-induction", "spacer"]
    undecided.add_reason(["q"], "spacer", NO_FLOATS)
    assert undecided.verdict("q", [], "").reason == f"spacer: {NO_FLOATS}"


def test_a_failure_of_induction_meets_what_is_proved():
    n = extern("n", Word32)

    @stream(Word8)
    def a():
        return [0] + +mux(a < 6, a + 1, 0)

    @stream(Word32)
    def x():
        return [1] + +((x * x + cast(Word32, a) * 0 + n % 5) % 1000003)

    spec = Spec("s")
    spec.prop("at_most_six", a <= 6)
    spec.prop("hard", (x != 77777) & (a < 9))
    verdicts = prove(flatten(spec), Settings(timeout=6, explain=3.0))
    hard = next(r for r in verdicts.results if r.name == "hard")
    assert hard.verdict == "unknown" and hard.explanation is not None
    fails = hard.explanation.fails
    if fails is not None:  # the solver may need longer
        cell = next(c.var for c in flatten(spec).cells if c.name == "a")
        assert all(step[cell] <= 6 for step in fails.steps)
    assert any("to try" in line for line in report(verdicts))


def test_lemmas_about_the_clock_of_the_tests_for_vacuity_are_left_out():
    n = extern("n", Word32)

    @stream(Word32)
    def x():
        return [1] + +((x * x + n % 5) % 1000003)

    spec = Spec("s")
    spec.assume("small", n < 100)
    spec.prop("hard", x != 77777)
    problem = flatten(spec)
    clock = variable("the step", INT)
    certificates = [Certificate("inductive", 1, (term("ge", clock, constant(INT, 0)),))]
    (unknown,) = prove(problem, Settings(timeout=1, engines=("bmc",), explain=0.0)).results
    assert unknown.verdict == "unknown"
    (told,) = Explainer(problem, Settings(timeout=2), 0.5, certificates).explain([unknown])
    assert told.explanation is not None and told.explanation.lemmas == ()


def test_explain_shows_the_causes_of_a_violation(wraps):
    done = run("explain", wraps, "--prop", "below_four")
    lines = [line.strip() for line in done.stdout.splitlines()]
    begin = lines.index("how the run breaks it, from the end:")
    causes = lines[begin + 1 :]
    assert done.returncode == 1
    assert causes[0].startswith("step 4  below_four = false") and causes[0].endswith("uv.py:14)")
    assert [line.split()[:5] for line in causes[1:]] == [["step", str(i), "t", "=", str(i)] for i in (4, 3, 2, 1, 0)]


def test_explained_invariants_can_be_pasted_into_the_spec(tmp_path):
    path = tmp_path / "pair.py"
    text = """
from streamcheck import *
go = extern("go", Bool)
@stream(Word16)
def a(): return [0] ++ mux(go, a + 2, b)
@stream(Word16)
def b(): return [0] ++ mux(go, b + 4, a + 6)
spec = Spec("pair")
spec.prop("never_five", a != 5)
"""
    path.write_text(text)
    done = run("explain", path)
    pasted = re.findall(r"^ +(spec\.prop\(.*\))$", done.stdout, re.M)
    assert done.returncode == 0 and pasted, done.stdout
    path.write_text(text + "\n".join(pasted) + "\n")
    alone = run("prove", path, "--engine", "bmc", "--engine", "k-induction")
    assert alone.returncode == 0 and alone.stdout.count("k = 1") == 1 + len(pasted)


DELAYED = """
from streamcheck import *
hot = extern("hot", Bool)
n = stream(Word8, lambda n: [0] ++ mux(hot, n + 1, 0))
late = n > 1
spec = Spec("delayed")
spec.prop("p", ~pre(False, late))
"""


def test_causes_are_told_once_and_delays_without_a_name_are_written_out(tmp_path):
    path = tmp_path / "delayed.py"
    path.write_text(DELAYED)
    lines = [line.strip() for line in run("explain", path).stdout.splitlines()]
    causes = lines[lines.index("how the run breaks it, from the end:") + 1 :]
    assert causes[0].startswith("step 3  p = false") and "= ~pre(false, late)" in causes[0]
    assert causes[1].startswith("step 3  pre(false, late) = true") and "= at step 2: late" in causes[1]
    assert causes[2].startswith("step 2  late = true") and "= n > 1" in causes[2]
    assert causes[-1] == "step 0  n = 0, hot = true" or causes[-1] == "step 0  hot = true, n = 0"
    assert sum("mux(hot" in cause for cause in causes) == 1


@pytest.mark.parametrize("option", [("--trace", "csv"), ("--certificates",)])
def test_a_folder_that_cannot_be_made_is_refused_before_the_proof(wraps, tmp_path, option):
    (tmp_path / "file").write_text("")
    done = run("prove", wraps, *option, tmp_path / "file" / "folder")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == f"error: {tmp_path}/file/folder: this folder cannot be made (Not a directory)\n"


def test_several_formats_of_traces_at_once(wraps, tmp_path):
    run("prove", wraps, "--prop", "below_four", "--trace", "csv", tmp_path, "--trace", "vcd", tmp_path / "vcd")
    assert (tmp_path / "uv.uv.below_four.csv").exists() and (tmp_path / "vcd" / "uv.uv.below_four.vcd").exists()


MANY_NAMES = """
import enum
from streamcheck import *

class Mode(enum.Enum):
    IDLE = 7
    BUSY = 2
    DONE = 5

@struct
class Pair:
    low: Int16
    high: Int16

def counter(go, most):
    @stream(Word16)
    def n(): return [0] ++ mux(go & (n < most), n + 2, mux(n > most, n + 1, n))
    return n

g = extern("the go", Bool)
counts = [counter(g, 10 * i) for i in (1, 2)]
pairs = extern("pairs", Array(Pair, 2))

@stream(EnumOf(Mode))
def mode(): return [Mode.IDLE] ++ mux(g, Mode.BUSY, mux(mode == Mode.BUSY, Mode.IDLE, mode))

@stream(Array(Word8, 2))
def cells(): return [[1, 2]] ++ mux(g, cells.set(0, cells[0] + 2), cells)

late = pre(False, pre(False, g))
sure = Spec("names")
sure.prop("even", counts[1] != 13)
sure.prop("not done", (mode != Mode.DONE) & (cells[0] != 4))
sure.prop("held", implies(late, pre(False, pre(False, g)) & (counts[0] != 15)))
"""


def test_pasted_invariants_prove_whatever_the_file_calls_its_streams(tmp_path):
    path = tmp_path / "names.py"
    path.write_text(MANY_NAMES)
    done = run("explain", path, "--timeout", 30)
    assert done.returncode == 0, done.stdout + done.stderr
    pasted = [line[6:] for line in done.stdout.splitlines() if line.startswith("      ")]
    names = re.findall(r'sure\.prop\("(\w+)"', done.stdout)
    assert names, done.stdout
    path.write_text(MANY_NAMES + "\n".join(pasted) + "\n")
    again = run("prove", path, "--engine", "bmc", "--engine", "k-induction", "--timeout", 30, "--quiet")
    assert again.returncode == 0, again.stdout + again.stderr
    assert set(names) <= {line.split()[1] for line in again.stdout.splitlines()[1:]}


def test_names_of_a_file_are_those_of_its_last_statements():
    names = FileNames.of("a = 1\nif a:\n    b = [c for c in 'xy']\n\n@deco\ndef f():\n    a = 2\n    return a\n")
    at = lambda name, line: names.text(name, Location("x.py", line))
    assert (at("a", 1), at("f", 5), at("f", 6), at("b_1", 3)) == ("a", "f", "f", "b[1]")
    assert at("a", 7) == "a" and at("b", 1) is None and at("c", 3) is None and names.text("a", None) is None


def test_floats_are_pasted_without_identity():
    x = variable("x", DOUBLE)
    nan, two = (term("same", x, constant(DOUBLE, value)) for value in (float("nan"), 2.0))
    pasting = Pasting(flatten(Spec("empty")), FileNames.of(""), set())
    assert pasting.text(nan) == "x != x" and pasting.text(two) == "x == 2.0"


def test_an_explained_proof_has_no_needless_invariant(wraps):
    done = run("explain", wraps, "--prop", "small")
    assert "it is an invariant by itself" in done.stdout and "spec.prop" not in done.stdout


# Traces


def long_run():
    """A counter that stands for 40 steps."""
    go = extern("go", Bool)

    @stream(Int)
    def n():
        return [0] + +mux(go, n + 1, n)

    spec = Spec("long")
    spec.prop("p", n < 3)
    flat = flatten(spec)
    values = [False] * 40 + [True] * 3 + [False]
    shown = replay(flat, flat.properties[0], Trace({}, tuple({"go": v} for v in values)))
    assert isinstance(shown, Replay)
    return flat, flat.properties[0], shown


def test_equal_steps_are_one_column_and_wide_tables_continue_below():
    flat, claim, shown = long_run()
    lines = list(trace_table(flat, claim, shown))
    assert lines[0].split() == ["step", "0…39", "40", "41", "42", "43"]
    cells = {line.split()[0]: line.split()[1:] for line in lines[1:-1]}
    assert cells["n"] == ["0", "0", "1*", "2*", "3*"]
    wide = list(trace_table(flat, claim, shown, TraceOptions(full=True, width=60)))
    assert max(map(len, wide)) <= 60


def counting_run(steps):
    """A counter that rises at every step, and a struct beside it that it does not depend on."""
    go, idle = extern("go", Bool), extern("idle", Bool)

    @stream(Int)
    def n():
        return [0] + +mux(go, n + 1, n + 2)

    spec = Spec("rising")
    spec.prop("p", (n < steps - 1) | (go & ~go & idle))
    flat = flatten(spec)
    shown = replay(flat, flat.properties[0], Trace({}, ({"go": True},) * steps))
    assert isinstance(shown, Replay), shown
    return flat, flat.properties[0], shown


def test_the_middle_of_a_long_run_is_left_out_and_counted():
    flat, claim, shown = counting_run(60)
    lines = list(trace_table(flat, claim, shown))
    assert lines[0].split() == ["step", "0", "1", "…", *map(str, range(52, 60))]
    assert lines[-1].endswith("… = 50 steps more (--full)")
    assert "…" not in "".join(trace_table(flat, claim, shown, TraceOptions(full=True)))


def test_a_narrow_terminal_shows_fewer_steps_before_it_pages():
    flat, claim, shown = counting_run(60)
    lines = list(trace_table(flat, claim, shown, TraceOptions(width=60)))
    assert "" not in lines and max(map(len, lines[:-1])) <= 60
    columns = lines[0].split()
    assert columns[:4] == ["step", "0", "1", "…"] and 3 <= len(columns) - 4 < 8 and columns[-1] == "59"
    assert lines[-1].endswith(f"… = {60 - len(columns) + 2} steps more (--full)")


def test_rows_that_the_violation_does_not_depend_on_are_not_shown():
    """`go & ~go` is false by its first operand or by its second: what is beside it does not matter."""
    flat, claim, shown = counting_run(4)
    names = [line.split()[0] for line in trace_table(flat, claim, shown)]
    assert "idle" not in names and "n" in names
    assert "idle" in [line.split()[0] for line in trace_table(flat, claim, shown, TraceOptions(full=True))]


@struct
class Fix:
    latitude: Int32
    longitude: Int32


def test_a_wide_struct_has_a_row_for_each_field():
    at = extern("at", Fix)
    spec = Spec("place")
    spec.prop("p", at.latitude + at.longitude < 500_000)
    flat = flatten(spec)
    given = {"at.latitude": 499_000, "at.longitude": 1_000}
    shown = replay(flat, flat.properties[0], Trace({}, (given,)))
    lines = [line.split() for line in trace_table(flat, flat.properties[0], shown)]
    assert ["at.latitude", "499000"] in lines and ["at.longitude", "1000"] in lines
    only = [line.split() for line in trace_table(flat, flat.properties[0], shown, TraceOptions(rows=("*.latitude",)))]
    assert ["at.latitude", "499000"] in only and ["at.longitude", "1000"] not in only


def test_rows_and_steps_are_chosen():
    flat, claim, shown = long_run()
    lines = list(trace_table(flat, claim, shown, TraceOptions(rows=("n",), steps=(41, 43))))
    assert [line.split() for line in lines[:-1]] == [["step", "41", "42", "43"], ["n", "1*", "2*", "3*"]]


def test_only_the_propertys_cone_is_shown_unless_all_is_wanted(wraps):
    few = run("prove", wraps, "--prop", "below_four").stdout
    assert "unrelated" not in few and "uv_ms" not in few
    assert "unrelated" in run("prove", wraps, "--prop", "below_four", "--full").stdout


def test_a_written_trace_replays(wraps, tmp_path):
    done = run("prove", wraps, "--prop", "below_four", "--trace", "csv", tmp_path)
    assert done.returncode == 1
    file = tmp_path / "uv.uv.below_four.csv"
    rows = list(csv.DictReader(file.open()))
    assert len(rows) == 5 and set(rows[0]) == {"step", "adc"}
    again = run("run", wraps, "--input", file)
    assert "property below_four is false at step 4" in again.stderr


def test_traces_for_other_programs(wraps, tmp_path):
    for shape in ("json", "vcd", "html"):
        run("prove", wraps, "--prop", "below_four", "--trace", shape, tmp_path)
    whole = json.loads((tmp_path / "uv.uv.below_four.json").read_text())
    assert whole["rows"]["t"] == [0, 1, 2, 3, 4] and whole["inputs"] == ["adc"]
    assert vcd_values(tmp_path / "uv.uv.below_four.vcd", "t") == [0, 1, 2, 3, 4]
    assert vcd_values(tmp_path / "uv.uv.below_four.vcd", "below_four") == ["1", "0"]
    cells = Cells()
    cells.feed((tmp_path / "uv.uv.below_four.html").read_text())
    assert cells.rows["t"] == ["0", "1", "2", "3", "4"] and cells.links == []


SAME_NAMES = """from streamcheck import *
x = extern("x", Word8)
acc = stream(Word16, lambda a: [0] ++ (a + cast(Word16, x)))
spec = Spec("same")
spec.observer("x", x + 1)
spec.prop("acc", acc != 500)
spec.prop("p q", acc != 300)
spec.prop("p_Q", acc != 301)
"""


def test_names_that_two_rows_or_two_files_would_have(tmp_path):
    (tmp_path / "same.py").write_text(SAME_NAMES)
    shapes = ("json", "vcd")
    options = [word for shape in shapes for word in ("--trace", shape, tmp_path / "out")]
    assert run("prove", tmp_path / "same.py", *options).returncode == 1
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    names = ("same.same.acc", "same.same.p_Q_2", "same.same.p_q")
    assert files == [f"{name}.{shape}" for name in names for shape in shapes]
    rows = json.loads((tmp_path / "out" / "same.same.acc.json").read_text())["rows"]
    assert rows["acc"][-1] == 500 and rows["prop acc"][-1] is False
    assert rows["observer x"] == [(x + 1) % 256 for x in rows["x"]]
    assert vcd_values(tmp_path / "out" / "same.same.acc.vcd", "acc")[-1] == 500


def test_steps_in_the_wrong_order_are_refused(wraps):
    done = run("prove", wraps, "--steps", "3-1")
    assert done.returncode == 2 and "--steps 3-1: the first step is behind the last" in done.stderr


def vcd_values(path, name):
    """The values of a signal, as another program reads the file."""
    code, values = None, []
    with path.open("rb") as file:
        for token in tokenize(file):
            if token.kind is TokenKind.VAR and token.var.reference == name:
                code = token.var.id_code
            elif token.kind is TokenKind.CHANGE_VECTOR and token.vector_change.id_code == code:
                values.append(token.vector_change.value)
            elif token.kind is TokenKind.CHANGE_SCALAR and token.scalar_change.id_code == code:
                values.append(token.scalar_change.value)
    return values


class Cells(HTMLParser):
    """The rows of the table by their first cell, and what the page would load."""

    def __init__(self):
        super().__init__()
        self.rows, self.links, self._row = {}, [], []

    def handle_starttag(self, tag, attributes):
        self.links += [v for key, v in attributes if key in ("src", "href") and not v.startswith("#")]
        if tag == "tr":
            self._row = []

    def handle_data(self, data):
        if data.strip():
            self._row.append(data)

    def handle_endtag(self, tag):
        if tag == "tr":
            self.rows[self._row[0]] = self._row[1:]


def test_a_memory_limit_is_for_loading_and_for_workers(tmp_path):
    path = tmp_path / "big.py"
    path.write_text("from streamcheck import *\nxs = [0] * 300_000_000\n")
    done = run("prove", path, "--memory", 300)
    assert done.returncode == 2 and "the memory limit of 300 MB is too small" in done.stderr
    assert "Traceback" not in done.stderr
    path.write_text(WRAPS)
    done = run("prove", path, "--prop", "tens", "--memory", 3)
    assert done.returncode == 2 and "the memory limit of 3 MB is too small" in done.stderr


def test_a_file_that_cannot_be_read_for_want_of_memory_is_the_limits_fault():
    with pytest.raises(SpecError, match="loading: the memory limit of 3 MB"), memory_limit(3_000_000, "loading"):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
    with pytest.raises(FileNotFoundError), memory_limit(3_000_000_000, "loading"):
        raise FileNotFoundError(errno.ENOENT, "no such file")


def test_claims_are_named_in_the_table():
    flat, claim, shown = long_run()
    other = Claim("other name", claim.term)
    assert any(line.split()[:2] == ["other", "name"] for line in trace_table(flat, other, shown))


# Logs


LOG = "at,adc,comment\n0.1,50,ok\n0.2,200,ok\n0.3,200,loud\n"
LOGGED = """
from streamcheck import *
adc = extern("adc", Word16)
spec = Spec("log")
spec.observer("twice", adc + adc)
spec.prop("quiet", adc < 100)
"""


def test_logs_with_other_columns_and_their_violations(tmp_path):
    (tmp_path / "log.csv").write_text(LOG)
    path = tmp_path / "log.py"
    path.write_text(LOGGED)
    refused = run("run", path, "--input", tmp_path / "log.csv")
    assert refused.returncode == 2 and "--ignore-extra" in refused.stderr
    done = run("run", path, "--input", tmp_path / "log.csv", "--ignore-extra", "--violations", "--fail")
    assert done.returncode == 1 and "property quiet is false at step 1" in done.stderr
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["step", "twice", "quiet"],
        ["1", "400", "false"],
        ["2", "400", "false"],
    ]
    assert run("run", path, "--input", tmp_path / "log.csv", "--ignore-extra").returncode == 0
    rows = '{"adc": 1, "extra": 2}\n'
    (tmp_path / "log.jsonl").write_text(rows)
    assert run("run", path, "--input", tmp_path / "log.jsonl", "--ignore-extra", "--fail").returncode == 0
