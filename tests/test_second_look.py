"""Counterexamples that are looked for once more, among runs in which calls of a step agree."""

from __future__ import annotations

from lustre_runs import read
from test_lustre_recursion import FACT, top

from streamcheck.run.second_look import look_again, time_set_aside


def test_a_run_without_calls_that_are_not_unfolded_is_found(tmp_path):
    problem = read(tmp_path, top('check "Q" fact(k) < 2; check "R" fact(k) < 24;', FACT))
    found, stopped = look_again(problem, {"Q": 1}, 20.0)
    assert stopped is None
    assert [(d.name, d.verdict, d.shortest, d.found) for d in found] == [("Q", "falsified", False, None)]
    assert found[0].replay is not None
    assert look_again(problem, {"R": 1}, 20.0) == ([], None)  # it fails at a deeper call, of which nothing is known


def test_no_time_is_set_aside_where_nothing_is_called(tmp_path):
    problem = read(tmp_path, top('check "Q" k < 7;', ""))
    assert time_set_aside(problem, 60.0) == 0.0
    assert look_again(problem, {"Q": 1}, 20.0) == ([], None)
    called = read(tmp_path, top('check "Q" fact(k) < 7;', FACT))
    assert 0.0 < time_set_aside(called, 60.0) <= 2.0
