"""Violations after a timer: short runs that the solver begins, long ones that go on from there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from streamcheck import *
from streamcheck.core.evaluate import value_of
from streamcheck.engines import beginnings
from streamcheck.engines.beginnings import Beginnings
from streamcheck.engines.long_runs import VeryLongRuns
from streamcheck.engines.protocol import Task
from streamcheck.engines.timers import timers_of
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import Falsified
from streamcheck.run.features import features_of
from streamcheck.run.prove import Settings, prove
from streamcheck.smt.unroll import Composed, at
from streamcheck.transform.views import views

COMMAND = Path(sys.executable).parent / "streamcheck"


def system_of(*claims):
    spec = Spec("timers")
    for number, claim in enumerate(claims):
        spec.prop(f"p{number}", claim)
    return views(flatten(spec))[0].system


def set_by_code(type=Int, *, most=900):
    """A timer that counts down from a number, once a code of three digits has been given one by one."""
    digit, amount, go = extern("digit", Word8), extern("amount", type), extern("go", Bool)
    given = stream(
        Word8, lambda n: [0] ++ mux(n == 3, 3, mux(digit == mux(n == 0, 4, mux(n == 1, 7, Word8(1))), n + 1, 0))
    )
    begins = (given == 3) & go & (amount <= most) & (amount > 0)
    return begins, stream(type, lambda left: [0] ++ mux(left > 0, left - 1, mux(begins, amount, left)))


def values_at_the_end(system, trace, term):
    """The term's value in the last step of a run."""
    runs, last = Composed(system), trace.length - 1
    given = {at(v, i): row[v.payload] for i, row in enumerate(trace.inputs) for v in system.inputs}
    constants = {at(c, 0): trace.constants[c.payload] for c in runs.constants}
    return value_of(runs.image(term, last), {**given, **constants})


# The command


def test_a_cooker_that_is_set_to_more_than_ten_minutes(tmp_path):
    command = [COMMAND, "prove", "specs/cooker.py", "--json", "--no-cache", "--timeout", "60"]
    done = subprocess.run([*command, "--certificates", tmp_path], capture_output=True, text=True)
    rows = {row["name"]: row for row in json.loads(done.stdout)["properties"]}
    assert rows["not with an open door"]["verdict"] == "proved"
    row = rows["ten minutes at most"]
    assert (row["verdict"], row["engine"]) == ("falsified", "long-runs") and 600 < row["k"] < 640, row
    kept = [f for f in tmp_path.iterdir() if "falsified" in f.read_text()]
    assert all(
        "falsified" in subprocess.run([COMMAND, "check", f], capture_output=True, text=True).stdout for f in kept
    )


# What counts as a timer, and how far it goes


def test_the_timers_of_a_system():
    limit, on = extern("limit", Int), extern("on", Bool)
    kept = stream(Int, lambda kept: [0] ++ mux(on, kept, limit))
    up = stream(Int, lambda up: [0] ++ mux(on, mux(up < kept, up + 1, up), 0))
    down = stream(Int, lambda down: [9] ++ maximum(down - 5, 0))
    copied = stream(Int, lambda copied: [0] ++ (kept * 2))
    system = system_of((up < 1000) & (down < 10) & (copied != 7))
    found = {(t.amount, len(t.goals)) for t in timers_of(system)}
    assert found == {(1, 1), (-5, 1)}
    (rising,) = (t for t in timers_of(system) if t.amount == 1)
    (limit_of_it,) = rising.goals
    assert limit_of_it in {s.var for s in system.state} - {rising.var}


def test_without_a_timer_no_solver_is_asked(monkeypatch):
    monkeypatch.setattr(beginnings, "Solver", None)
    x, on = extern("x", Int), extern("on", Bool)
    last = stream(Int, lambda last: [0] ++ mux(on, x, last))
    assert list(Beginnings(system_of(last < 5)).traces()) == []
    low = stream(Double, lambda low: [0.0] ++ (low / 2.0 + mux(on, Double(1.0), Double(0.0))))
    n = stream(Int, lambda n: [5] ++ (n - 1))
    assert list(Beginnings(system_of((low < 5.0) & (n < 6))).traces()) == []


@pytest.mark.parametrize("type", [Int, Word16, Int32])
def test_the_timer_is_set_as_far_as_it_goes(type):
    _, left = set_by_code(type)
    system = system_of(left < 1000)
    (timer,) = (t for t in timers_of(system) if t.amount == -1)
    search = Beginnings(system)
    runs = [trace for trace in search.traces() if trace is not None]
    heights = [values_at_the_end(system, trace, timer.var) for trace in runs]
    assert max(heights) == 900 and search.work <= beginnings.ALL_WORK + beginnings.PRICE_OF_NOTHING
    for trace in runs:  # each ends with a step of the timer
        assert any(values_at_the_end(system, trace, t.changes) is True for t in search.timers)


def test_a_limit_that_is_an_input_has_an_end():
    """Numbers without a bound are doubled only so far."""
    _, left = set_by_code(Int, most=10**30)
    search = Beginnings(system_of(left < 10**20))
    heights = [t for t in search.traces() if t is not None]
    assert heights and search.work <= beginnings.ALL_WORK + beginnings.PRICE_OF_NOTHING


def test_a_timer_that_is_set_brings_long_runs_forward():
    _, left = set_by_code()
    assert "timer" in features_of(None, parts=[system_of(left < 900)])
    up = stream(Int, lambda up: [0] ++ (up + 1))  # nothing sets it
    assert "timer" not in features_of(None, parts=[system_of(up < 900)])


# Violations


def falsified(claim, engines=("long-runs",)):
    spec = Spec("late")
    spec.prop("p", claim)
    (result,) = prove(flatten(spec), Settings(timeout=60, engines=engines)).results
    return (result.verdict, result.k)


def since(begins):
    return stream(Int, lambda n: [0] ++ mux(begins, 1, mux(n > 0, n + 1, n)))


def test_an_alarm_is_wrong_at_the_end():
    _, left = set_by_code()
    runs = stream(Int, lambda n: [0] ++ mux(left > 0, n + 1, 0))
    verdict, k = falsified(runs <= 600)
    assert verdict == "falsified" and 601 < k < 630


def test_a_mode_decides_what_happens_at_the_end():
    begins, left = set_by_code()
    silent = extern("silent", Bool)
    muted = stream(Bool, lambda muted: [False] ++ mux(begins & (left == 0), silent, muted))
    runs = stream(Int, lambda n: [0] ++ mux(left > 0, n + 1, 0))
    verdict, k = falsified(implies(muted, runs <= 600))
    assert verdict == "falsified" and 601 < k < 630
    verdict, k = falsified(implies(~muted, runs <= 600))
    assert verdict == "falsified" and 601 < k < 630


def test_a_timer_that_counts_every_fourth_step():
    digit, amount = extern("digit", Word8), extern("amount", Int)
    given = stream(
        Word8, lambda n: [0] ++ mux(n == 3, 3, mux(digit == mux(n == 0, 4, mux(n == 1, 7, Word8(1))), n + 1, 0))
    )
    phase = stream(Word8, lambda phase: [0] ++ mux(phase == 3, 0, phase + 1))
    left = stream(
        Int,
        lambda left: (
            [0] ++ mux(left > 0, mux(phase == 3, left - 1, left), mux((given == 3) & (amount <= 500), amount, 0))
        ),
    )
    runs = stream(Int, lambda n: [0] ++ mux(left > 0, n + 1, 0))
    verdict, k = falsified(runs <= 1500)
    assert verdict == "falsified" and 1500 < k < 1530


def test_a_counter_up_to_a_limit_that_was_set():
    begins, _ = set_by_code()
    amount = extern("amount", Int)
    limit = stream(Int, lambda limit: [0] ++ mux((limit == 0) & begins, amount, limit))
    up = stream(Int, lambda up: [0] ++ mux(up < limit, up + 1, up))
    verdict, k = falsified(up != 873)
    assert verdict == "falsified" and 873 < k < 900


def test_what_is_true_stays_open():
    _, left = set_by_code()
    runs = stream(Int, lambda n: [0] ++ mux(left > 0, n + 1, 0))
    events = VeryLongRuns().run(Task(system_of(runs <= 900)), list)
    assert not any(isinstance(e, Falsified) for e in events)
