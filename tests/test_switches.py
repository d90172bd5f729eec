"""Every idea that a source compares can be switched off, and helps somewhere: counts, not clocks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from counts import decide

from streamcheck.engines.protocol import Falsified, Proved
from streamcheck.run.source import Target, read
from streamcheck.transform.views import views

sys.path.append(str(Path(__file__).parent / "bench"))
from generators import locks


def problem(directory, text, suffix=".py", blocks=True):
    """The view that engines have of a file with this text."""
    path = directory / f"problem{suffix}"
    path.write_text(text)
    (found,) = read(Target.parse(str(path)))
    return views(found, blocks=blocks)[0]


@pytest.fixture(scope="module")
def three_locks(tmp_path_factory):
    return problem(tmp_path_factory.mktemp("locks"), locks(3), ".c", blocks=False)


@pytest.mark.parametrize(("engine", "refinements"), [("predicates", 3), ("predicates-path", 6)])
def test_locks_need_two_predicates_each(three_locks, engine, refinements):
    """One path is refuted at a time, or all of a length: half as many refinements."""
    found, counts = decide(three_locks, (engine,))
    assert all(isinstance(verdict, Proved) for verdict in found.values()) and len(found) == 1
    assert (counts.predicates, counts.refinements) == (6, refinements)


@pytest.mark.parametrize("engine", ["predicates", "predicates-path"])
def test_what_a_step_does_not_depend_on_stays_out_of_abstract_states(three_locks, engine):
    _, with_it = decide(three_locks, (engine,))
    found, without = decide(three_locks, (engine,), generalize=False)
    assert found and with_it.lemmas < without.lemmas / 2 and with_it.queries < without.queries


@pytest.mark.parametrize("engine", ["predicates", "predicates-path"])
def test_the_location_as_a_variable_takes_more_queries(three_locks, engine):
    _, located = decide(three_locks, (engine,))
    found, variable = decide(three_locks, (engine,), locations=False)
    assert found and 5 * located.queries < variable.queries and located.predicates < variable.predicates


def test_a_broken_lock_is_found_by_both_strategies(tmp_path):
    broken = locks(3).replace("held1 = 1", "held1 = 2")
    view = problem(tmp_path, broken, ".c", blocks=False)
    for engine in ("predicates", "predicates-path"):
        found, _ = decide(view, (engine,))
        assert [type(verdict) for verdict in found.values()] == [Falsified]


def test_blocks_leave_nothing_to_refine(tmp_path):
    found, counts = decide(problem(tmp_path, locks(3), ".c", blocks=True), ("predicates",))
    assert found and counts.refinements == 0
