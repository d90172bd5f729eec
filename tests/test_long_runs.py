"""Violations after billions of steps: runs with rounds that are computed, and their replay."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from streamcheck import *
from streamcheck.certify.long_runs import NotRepeated
from streamcheck.certify.replay import replay, run_of
from streamcheck.engines import long_runs
from streamcheck.engines.long_runs import VeryLongRuns
from streamcheck.engines.options import LongRunsOptions
from streamcheck.engines.protocol import Progress, Task
from streamcheck.lang.flatten import flatten
from streamcheck.problem.result import Inconsistent, Replay
from streamcheck.problem.verdict import Falsified, Rounds, Trace
from streamcheck.report.trace_files import csv_text, json_text, vcd_text
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target, read
from streamcheck.transform.views import views

COMMAND = Path(sys.executable).parent / "streamcheck"
ONLY = Settings(timeout=60, engines=("long-runs",))
UPTIME = """
from streamcheck import *
tick = extern("tick", Bool)
@stream(Int32)
def uptime(): return [0] ++ mux(tick, uptime + 1, uptime)
spec = Spec("clock")
spec.prop("after_the_start", uptime >= 0)
"""


def run(folder, *args):
    environment = {"PATH": "/usr/bin:/bin", "STREAMCHECK_NO_CACHE": "1"}
    return subprocess.run([COMMAND, *map(str, args)], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def clock(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clock")
    (folder / "clock.py").write_text(UPTIME)
    return folder


def only_result(spec, settings=ONLY):
    (result,) = prove(flatten(spec), settings).results
    return result


# From the command


def test_an_uptime_of_32_bits_wraps_around_after_2_147_483_648_steps(clock):
    done = run(clock, "prove", "clock.py", "--certificates", "kept", "--engine", "long-runs")
    assert done.returncode == 1 and "long-runs, step 2147483648" in done.stdout, done.stdout + done.stderr
    assert "wraps around at step 2147483647: uptime + 1 is 2147483648" in done.stdout
    assert "steps 2 to 2147483644, computed at once, go on as those before" in done.stdout
    (file,) = (clock / "kept").iterdir()
    assert "falsified" in run(clock, "check", file).stdout
    plain = json.loads(file.read_text())
    ((begin, end, times),) = plain["rounds"]
    for wrong in ((begin, end, times - 1), (begin, end, times + 2**32), (begin, end + 1, times)):
        file.write_text(json.dumps({**plain, "rounds": [wrong]}))
        refused = run(clock, "check", file)
        assert refused.returncode == 4 and "rejected" in refused.stdout, (wrong, refused)
    for damaged in ([5, 5, 1], [0, 99, 1], [0, 1, 0], "rounds", [0, 1]):
        file.write_text(json.dumps({**plain, "rounds": [damaged]}))
        refused = run(clock, "check", file)
        assert refused.returncode == 2 and "Traceback" not in refused.stderr, damaged


def test_the_default_command_finds_it(clock):
    done = run(clock, "prove", "clock.py", "--json", "--timeout", 60)
    (row,) = json.loads(done.stdout)["properties"]
    assert (row["verdict"], row["k"], row["engine"]) == ("falsified", 2147483648, "long-runs")
    run_ = row["counterexample"]
    assert run_["length"] == 2147483649 and not run_["shortest"]
    numbers = [step["step"] for step in run_["steps"]]
    assert numbers[0] == 0 and numbers[-1] == 2147483648 and len(numbers) < 30
    assert run_["steps"][-1]["streams"]["uptime"] == -(2**31)


def test_explain_ends_its_chain_where_the_rounds_are(clock):
    text = run(clock, "explain", "clock.py").stdout
    assert "step 2147483648  uptime = -2147483648     = at step 2147483647: mux(tick, uptime + 1, uptime)" in text
    steps = [int(line.split()[1]) for line in text.splitlines() if line.startswith("      step 2")]
    assert steps and min(steps) > 2147483600


def test_a_bound_keeps_longer_runs_out(clock):
    done = run(clock, "prove", "clock.py", "--bound", 50)
    assert done.returncode == 5 and "falsified" not in done.stdout


def test_a_kept_run_is_replayed(clock):
    args = ("prove", "clock.py", "--json", "--timeout", "60")
    environment = {"PATH": "/usr/bin:/bin"}
    for kept in (False, True):
        done = subprocess.run([COMMAND, *args], cwd=clock, env=environment, capture_output=True, text=True)
        (row,) = json.loads(done.stdout)["properties"]
        assert (row["verdict"], row["k"], row.get("kept", False)) == ("falsified", 2147483648, kept)


def test_files_of_a_long_run(clock):
    run(clock, "prove", "clock.py", "--engine", "long-runs", "--trace", "csv", "files")
    (file,) = (clock / "files").iterdir()
    refused = run(clock, "run", "clock.py", "--input", file)
    assert refused.returncode == 2 and "step_of_a_run_with_gaps" in refused.stderr


# Specs


def spec_with(*claims):
    spec = Spec("long")
    for name, claim in claims:
        spec.prop(name, claim)
    return spec


def test_a_clock_of_digits():
    minutes = stream(Word8, lambda m: [0] + +mux(m == 59, 0, m + 1))
    hours = stream(Word32, lambda h: [0] + +mux(minutes == 59, h + 1, h))
    result = only_result(spec_with(("a_week", hours < 168)))
    assert (result.verdict, result.k) == ("falsified", 168 * 60)


def test_a_value_that_is_met_once():
    n = stream(Word32, lambda n: [7] + +(n + 3))
    assert only_result(spec_with(("never", n != 3_000_001))).k == 999_998


def test_a_sum_of_a_sum():
    n = stream(Int, lambda n: [0] + +(n + 1))
    total = stream(Int, lambda t: [0] + +(t + n))
    result = only_result(spec_with(("small", total < 10**12)))
    assert result.verdict == "falsified" and result.k == 1414215


def test_inputs_in_turns_double_a_number():
    fill, swap = extern("fill", Bool), extern("swap", Bool)

    @stream(Int32)
    def left():
        return [1] + +mux(fill, mux(left > 0, left - 1, left), mux(swap, right, left))

    @stream(Int32)
    def right():
        return [0] + +mux(fill, mux(left > 0, right + 2, right), mux(swap, 0, right))

    result = only_result(spec_with(("room", right < 1_000_000_000)))
    assert result.verdict == "falsified" and result.k > 500_000_000


def test_streams_that_the_violation_does_not_depend_on_may_be_open():
    tick = extern("tick", Bool)
    n = stream(Int32, lambda n: [0] + +mux(tick, n + 1, n))
    noise = stream(Word8, lambda r: [1] + +(r * 5 + 3))
    later = stream(Word16, lambda r: [0] + +(r * 3 + cast(Word16, noise)))
    specification = flatten(spec_with(("up", n >= 0), ("noisy", later != 12345)))
    claim, trace = specification.properties[0], Trace({}, ({"tick": True},) * 3, (Rounds(0, 1, 2**31 - 2),))
    shown = replay(specification, claim, trace)
    assert isinstance(shown, Replay) and shown.numbers[-1] == 2**31 and len(shown.steps) < 200
    assert "later" not in {c.name for c in specification.cells if c.var in shown.steps[-1]}
    for text in (json_text(specification, claim, shown), vcd_text(specification, claim, shown)):
        assert str(2**31) in text and "later" not in text
    assert csv_text(specification, shown).splitlines()[-1].startswith(f"{2**31},")
    assert replay(specification, specification.properties[1], trace) == Inconsistent(
        "what it depends on is not known after many rounds"
    )


def test_a_counter_that_stops_breaks_nothing():
    tick = extern("tick", Bool)
    n = stream(Word32, lambda n: [0] + +mux(tick & (n < 4_000_000_000), n + 1, n))
    specification = flatten(spec_with(("bounded", n <= 4_000_000_000)))
    events = list(VeryLongRuns(LongRunsOptions(steps=50_000)).run(Task(views(specification)[0].system), list))
    assert events and all(isinstance(e, Progress) for e in events)


def test_assumptions_hold_in_all_rounds():
    tick, limit = extern("tick", Bool), 3_000_000
    n = stream(Word32, lambda n: [0] + +mux(tick, n + 1, n))
    spec = spec_with(("small", n <= limit))
    spec.assume("stops", implies(n >= limit, ~tick))
    specification = flatten(spec)
    (claim,) = specification.properties
    engine = VeryLongRuns(LongRunsOptions(steps=50_000))
    assert all(isinstance(e, Progress) for e in engine.run(Task(views(specification)[0].system), list))
    ticks = Trace({}, ({"tick": True}, {"tick": True}), (Rounds(0, 1, limit),))
    refused = replay(specification, claim, ticks)
    assert isinstance(refused, Inconsistent) and "condition of a step" in refused.reason


def test_functions_without_a_definition_are_not_repeated(tmp_path):
    path = tmp_path / "f.lus"
    path.write_text(
        "function imported f(x: int) returns (y: int);\n"
        "node top() returns (ok: bool);\nvar n: int;\n"
        "let n = 0 -> pre n + 1; ok = n < 1000 or f(n) > 0; --%MAIN;\n--%PROPERTY ok;\ntel\n"
    )
    (specification,) = read(Target.parse(str(path)))
    claim = specification.properties[0]
    shown = replay(specification, claim, Trace({}, ({},) * 3, (Rounds(1, 2, 1000),)))
    assert isinstance(shown, Inconsistent) and "functions" in shown.reason


# Computed rounds against steps one by one


TYPES = ("Word8", "Int8", "Word16", "Int")


def random_spec(rng):
    """A spec of some cells that count, each in terms of those before it, with its inputs."""
    lines, names = ["f, g, x = extern('f', Bool), extern('g', Bool), extern('x', Word8)"], []
    for i in range(rng.randrange(1, 5)):
        own, type = f"c{i}", rng.choice(TYPES)
        others = [f"unsafe_cast({type}, {c})" for c in (*names, "x")]

        def number(own=own, others=others):
            small = rng.choice((0, 1, 1, 2, 3, 7, 40))
            sums = f"({own} + {small})", f"({own} - {small})", f"({own} + {rng.choice(others)})"
            return rng.choice([own, own, *sums, str(small)])

        def condition(own=own):
            limit = rng.choice((0, 1, 3, 5, 59, 100))
            equal = f"({rng.choice([*names, 'x'])} == {limit})"
            return rng.choice(["f", "(f & ~g)", f"({own} < {limit})", f"({own} != {limit})", equal])

        after = f"mux({condition()}, {own} + {rng.randrange(4)}, {number()})"
        if rng.random() < 0.4:
            after = f"mux({condition()}, {after}, {number()})"
        lines.append(f"{own} = stream({type}, lambda {own}: [{rng.randrange(5)}] ++ ({after}))")
        names.append(own)
    claims = [f"spec.prop('p{i}', {rng.choice(names)} != {rng.randrange(120)})" for i in range(2)]
    scope: dict = {}
    exec("\n".join(["from streamcheck import *", *lines, "spec = Spec('random')", *claims]), scope)
    return flatten(scope["spec"])


def random_trace(rng):
    rows = [
        {"f": rng.random() < 0.5, "g": rng.random() < 0.3, "x": rng.choice((0, 1, 3, 100, 255))}
        for _ in range(rng.randrange(3, 8))
    ]
    begin = rng.randrange(len(rows) - 2)
    end = rng.randrange(begin + 1, min(begin + 4, len(rows)))
    return Trace({}, tuple(rows), (Rounds(begin, end, rng.choice((1, 3, 8, 20, 60, 300))),))


def taken_apart(trace):
    """The same run, step by step, and the places in it of the steps that are given."""
    (part,) = trace.rounds
    rows = [*trace.inputs[: part.end], *trace.inputs[part.begin : part.end] * part.times, *trace.inputs[part.end :]]
    skipped = part.times * (part.end - part.begin)
    return Trace({}, tuple(rows)), [i if i < part.end else i + skipped for i in range(len(trace.inputs))]


def test_computed_rounds_are_what_steps_make_of_them():
    rng, judged, left_open = random.Random(20261119), 0, 0
    for _ in range(250):
        specification = random_spec(rng)
        for trace in (random_trace(rng) for _ in range(4)):
            whole, places = taken_apart(trace)
            try:
                computed = list(run_of(specification, trace))
            except NotRepeated:
                left_open += 1
                continue
            taken = list(run_of(specification, whole))
            for place, values in zip(places, computed, strict=True):
                assert all(taken[place][node] == value for node, value in values.items()), (trace, place)
            judged += len(computed[-1]) == len(taken[-1])
    assert judged > 300 and left_open < 700, (judged, left_open)


def test_violations_found_are_violations_step_by_step(monkeypatch):
    monkeypatch.setattr(long_runs, "SHORT", 0)
    rng, found, long, doubtful = random.Random(7), 0, 0, 0
    for _ in range(60):
        specification = random_spec(rng)
        system = views(specification)[0].system
        for event in VeryLongRuns(LongRunsOptions(steps=8000)).run(Task(system), list):
            if isinstance(event, Falsified):
                claim = next(p for p in specification.properties if p.name == event.prop)
                shown = replay(specification, claim, event.trace)
                if isinstance(shown, Inconsistent):  # the replay may know less of the rounds than a run shows
                    doubtful += 1
                    continue
                assert isinstance(shown, Replay), (event, shown)
                found, long = found + 1, long + bool(event.trace.rounds)
                if event.trace.rounds and event.trace.length < 100_000:
                    rows = list(event.trace.inputs)
                    for part in reversed(event.trace.rounds):
                        rows[part.end : part.end] = rows[part.begin : part.end] * part.times
                    assert isinstance(replay(specification, claim, Trace(event.trace.constants, tuple(rows))), Replay)
    assert found > 20 and long > 5 and doubtful < found / 10, (found, long, doubtful)


def test_a_deadline_that_wraps_around_is_wrong_and_a_duration_is_not():
    done = run(Path.cwd(), "prove", "specs/uptime.py", "--json", "--timeout", 60)
    rows = {row["name"]: row for row in json.loads(done.stdout)["properties"]}
    assert rows["no wait is longer"]["verdict"] == "proved"
    assert (rows["the deadline is ahead"]["verdict"], rows["the deadline is ahead"]["k"]) == ("falsified", 4294962297)


def test_numbers_that_grow_without_end_end_a_run():
    square = stream(Int, lambda x: [3] + +(x * x + 1))
    events = list(VeryLongRuns().run(Task(views(flatten(spec_with(("odd", square != 77))))[0].system), list))
    assert events and all(isinstance(e, Progress) for e in events)


def test_a_short_run_that_is_not_regular_is_never_a_false_claim():
    """What happens amid rounds, at no constant of the spec, must not become a run that does not replay."""
    a = stream(Int, lambda a: [0] + +(a + 1))
    b = stream(Int, lambda b: [600] + +(b - 1))
    met = stream(Int, lambda n: [0] + +mux(a == b, 1, n))
    specification = flatten(spec_with(("late", implies(a > 900, met == 1)), ("never", met == 0)))
    for claim in specification.properties:
        system = views(specification)[0].system
        for event in VeryLongRuns().run(Task(system), list):
            if isinstance(event, Falsified) and event.prop == claim.name:
                assert not isinstance(replay(specification, claim, event.trace), str)
