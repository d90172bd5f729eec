"""Numbers that double their digits at every step: nothing waits for them that does not depend on them."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from fractions import Fraction

import pytest

from streamcheck.certify.replay import replay
from streamcheck.core.floats import identical, identity
from streamcheck.core.huge import HUGE, MOST_BITS, is_huge, is_unbounded
from streamcheck.core.types import BOOL, INT, REAL, MachineType
from streamcheck.engines.bmc import Bmc
from streamcheck.engines.completeness import Completeness
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.problem import claim_named
from streamcheck.problem.result import Replay
from streamcheck.problem.verdict import Falsified, Trace, Unknown
from streamcheck.run import endless
from streamcheck.run.child import Child
from streamcheck.run.source import Target, read
from streamcheck.smt.solver import TOO_LONG
from streamcheck.smt.watch import A_LOOK, limit_processor_time
from streamcheck.smt.work import work_done
from streamcheck.transform.views import views

TEXT = """
from streamcheck import *
x = extern("x", Int)
y = stream(Int, lambda y: [2] ++ (y*y + 1))
again = stream(Int, lambda again: [0] ++ mux(y > 100, 0, again))
n = stream(Int, lambda n: [0] ++ (n + 1))
spec = Spec("s")
spec.assume("below", x < {bound})
spec.prop("short", n != 15)
spec.prop("small", y < 2**5000)
"""


@pytest.fixture
def specification(tmp_path):
    def made(bound):
        path = tmp_path / "problem.py"
        path.write_text(TEXT.format(bound=bound))
        (found,) = read(Target.parse(str(path)))
        return found

    return made


def run(specification, prop, steps):
    return replay(specification, claim_named(specification, prop), Trace({}, ({"x": 0},) * steps))


def values_by_name(specification, shown):
    cells = {c.var: c.name for c in specification.cells}
    return [{name: step[var] for var, name in cells.items() if var in step} for step in shown.steps]


def test_what_a_violation_does_not_depend_on_is_left_out_once_it_is_huge(specification):
    spec = specification("3")
    shown = run(spec, "short", 16)
    assert isinstance(shown, Replay)
    steps = values_by_name(spec, shown)
    assert steps[5]["y"] == (((26**2 + 1) ** 2 + 1) ** 2 + 1)
    assert "y" not in steps[-1] and steps[-1]["n"] == 15
    assert "again" not in steps[-1]  # what comes of it
    lost = [i for i, step in enumerate(steps) if "y" not in step]
    assert lost == list(range(lost[0], 16)) and lost[0] > 8


def test_what_a_violation_depends_on_is_computed_however_large(specification):
    spec = specification("3")
    shown = run(spec, "small", 14)
    assert isinstance(shown, Replay) and values_by_name(spec, shown)[-1]["y"].bit_length() > 2 * HUGE


def test_what_an_assumption_depends_on_is_computed_however_large(specification):
    spec = specification("y")
    shown = run(spec, "short", 16)
    assert isinstance(shown, Replay) and values_by_name(spec, shown)[-1]["y"].bit_length() > 2 * HUGE


def test_runs_that_meet_the_assumptions_end_at_huge_numbers(specification, monkeypatch):
    monkeypatch.setattr(endless, "MOST_STEPS", 16)
    found = endless.EndlessRun(specification("y"), None, 0.0, 1, deterministic=False)
    assert found.doubt() is not None and 8 < found.longest < 16


def test_huge():
    assert is_unbounded(INT) and is_unbounded(REAL)
    assert not is_unbounded(MachineType(8, signed=False)) and not is_unbounded(BOOL)
    assert is_huge(2**HUGE) and is_huge((1, (2, -(2**HUGE)))) and is_huge(Fraction(1, 2**HUGE))
    assert not any(map(is_huge, (2**HUGE - 1, True, 1e308, (1, 2), Fraction(1, 3))))


@pytest.mark.parametrize("engine", [Bmc, Completeness])
def test_an_unrolling_ends_at_numbers_that_no_solver_counts(tmp_path, engine):
    """They are constants: a query about them is one unit of work, however long they are."""
    path = tmp_path / "squares.py"
    path.write_text(
        "from streamcheck import *\n"
        "y = stream(Int, lambda y: [2] ++ (y*y + 1))\n"
        "spec = Spec('s')\nspec.prop('odd', y != 7)\nspec.prop('late', y < 2**14000)\n"
    )
    (problem,) = read(Target.parse(str(path)))
    events = list(engine().run(Task(views(problem)[0].system), list))
    ends = [event for event in events if isinstance(event, Unknown)]
    assert {event.prop for event in ends} >= {"odd"} and all("too long" in event.reason for event in ends)
    deepest = max(event.depth for event in events if isinstance(event, Progress))
    assert 1 << deepest < 2 * MOST_BITS
    if engine is Bmc:  # until then nothing is missed
        assert [event.trace.length - 1 for event in events if isinstance(event, Falsified)] == [14]


def test_a_query_of_products_ends_though_its_work_is_hardly_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("streamcheck.smt.solver.SECONDS_PER_UNIT", 1e-7)  # so that the clock is first on any machine
    path = tmp_path / "products.py"
    path.write_text(
        "from streamcheck import *\n"
        "a, b = extern('a', Int), extern('b', Int)\n"
        "y = stream(Int, lambda y: [2] ++ (y * a + b))\n"
        "z = stream(Int, lambda z: [1] ++ (z * y + a))\n"
        "spec = Spec('s')\nspec.prop('p', z * y != 1234567)\n"
    )
    (problem,) = read(Target.parse(str(path)))
    patience, before = 1_000_000, work_done()
    for event in Completeness().run(Task(views(problem)[0].system, patience), list):
        before, spent = work_done(), work_done() - before
        if isinstance(event, Unknown):
            assert event.reason == TOO_LONG and spent < patience  # the clock of the process ended it
            return
    pytest.fail("it came to an end")


def test_identity_is_shared_by_what_is_identical():
    values = [0.0, -0.0, float("nan"), -float("nan"), 1.5, (0.0, 1), (-0.0, 1), (0.0, 2)]
    for a in values:
        for b in values:
            if isinstance(a, float) and isinstance(b, float):
                assert (identity(a) == identity(b)) == identical(a, b)
    assert len(set(map(identity, values))) == len(values) - 1  # NaN is NaN


class Query:
    """Stands for a solver."""

    def interrupt(self):
        raise AssertionError("it has time left")


def test_the_watch_over_a_query_does_not_keep_its_solver():
    """Else the thread of the watch frees it, while the query's own thread uses z3."""
    query = Query()
    kept = weakref.ref(query)
    with limit_processor_time(query, 60.0):
        time.sleep(4 * A_LOOK)
    del query
    assert kept() is None


def test_the_watch_collects_no_garbage_and_ends_with_its_query():
    """A collection in its thread would free z3's terms while the query uses them; a thread left behind would meet a
    fork, or another call of z3."""
    before = set(threading.enumerate())
    with limit_processor_time(Query(), 60.0):
        (thread,) = set(threading.enumerate()) - before
        assert not gc.isenabled()
    assert gc.isenabled() and not thread.is_alive()


class EndlessQuery:
    """Stands for a solver whose query ends only if it is interrupted."""

    def __init__(self):
        self.is_interrupted = False

    def interrupt(self):
        self.is_interrupted = True

    def ask(self, seconds):
        began = time.process_time()
        with limit_processor_time(self, seconds):
            while not self.is_interrupted and time.process_time() - began < 10.0:
                pass
        return self.is_interrupted


def test_a_forked_child_watches_its_own_queries():
    assert EndlessQuery().ask(0.0)
    child = Child(lambda channel: channel.send(EndlessQuery().ask(0.0)))
    try:
        assert child.channel.receive(60.0) is True
    finally:
        child.end()
