"""Property directed reachability on automata: the examples of [Werner] step by step, and random automata against
explicit search."""

from __future__ import annotations

import itertools

import pytest
from automata import SMALL, automaton, configurations, locks, locks_in_blocks, moves, programs
from hypothesis import HealthCheck, given, settings

from streamcheck.core.evaluate import evaluate
from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, TRUE, constant, substitute, term, variable
from streamcheck.core.types import BOOL, INT, machine
from streamcheck.engines.cfa.base import Inconclusive, Safe, SymbolicPath, Unsafe
from streamcheck.engines.cfa.lifted_pdr import LiftedPdr
from streamcheck.engines.cfa.options import LiftedPdrOptions
from streamcheck.engines.cfa.preimages import _reasons
from streamcheck.engines.protocol import Task
from streamcheck.smt.solver import Solver

QUIET = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
SWITCHES = ("cubes", "tighten", "split", "inductive", "turns", "propagate", "forward")
OFF = dict.fromkeys(SWITCHES, False)
INT32, W8 = machine(32, signed=True), machine(8, signed=False)


class WatchedPrograms(LiftedPdr):
    def __init__(self, options):
        super().__init__(LiftedPdrOptions(**options))
        self.obligations = []

    def predecessors(self):
        return RecordedPreconditions(super().predecessors(), self.obligations)


class RecordedPreconditions:
    def __init__(self, strategy, obligations):
        self.strategy, self.obligations = strategy, obligations

    def guess(self, one, along, frames):
        return self._record(self.strategy.guess(one, along, frames))

    def before(self, one, along, model):
        return self._record(self.strategy.before(one, along, model))

    def _record(self, one):
        if one is not None:
            self.obligations.append((one.cube, one.place, one.level))
        return one


def search(program, options=None, signs=2_000, patience=5_000_000):
    """The engine and its answer; None where it gave too many signs of life."""
    engine = WatchedPrograms(options or {})
    steps = engine.search(program, Task(None, patience, program))
    for _ in range(signs):
        try:
            next(steps)
        except StopIteration as end:
            return engine, end.value
    return engine, None


def assert_right(program, answer):
    """The answer shows what it says, looked at edge by edge with a solver of its own."""
    solver = Solver()
    if isinstance(answer, Unsafe):
        path = SymbolicPath(program)
        places = [program.entry, *(e.target for e in answer.path)]
        assert [e.source for e in answer.path] == places[:-1] and places[-1] in program.bad
        solver.add(*(path.follow(e) for e in answer.path))
        assert solver.check() is True
        return
    assert isinstance(answer, Safe), answer
    at = {name: answer.invariants.get(name, FALSE) for name in program.locations}
    assert not program.bad & set(answer.invariants)
    queries = [[negation(at[program.entry])]]
    for e in program.edges:
        after = substitute([at[e.target]], e.update)[at[e.target]]
        queries.append([at[e.source], e.guard, negation(after)])
    for query in queries:
        solver.push()
        solver.add(*query)
        assert solver.check() is False, query
        solver.pop()


# The examples of [Werner, section 4.3], with nothing switched on that is not in the algorithm

X, Y = variable("x", INT), variable("y", INT)


def number(value):
    return constant(INT, value)


REACHABLE = """
    l0 -> l1: x := 0
    l1 -> l2: x := x + 1
    l2 -> lE: [x == 1]
    l2 -> l3: [x != 1]
"""
UNREACHABLE = """
    l0 -> l1: x := 0; y := 0
    l1 -> l1: x := x + 1; y := y + 1
    l1 -> l2: [x == y]
    l1 -> lE: [x != y]
"""


def table(engine, locations, top):
    """The frames of each location at levels 0 … top."""
    return {name: [engine.frames.formula(name, level) for level in range(top + 1)] for name in locations}


def levels(program, options=OFF):
    """At the beginning of each level and at the end: the engine. Each sign of life here is a new level."""
    engine = WatchedPrograms(options)
    steps = engine.search(program, Task(None, None, program))
    while True:
        try:
            next(steps)
            yield engine, None
        except StopIteration as end:
            yield engine, end.value
            return


def test_the_reachable_example_step_by_step():
    program = automaton(REACHABLE)
    places, not_one = ("l0", "l1", "l2", "l3"), term("ne", X, number(1))
    run = levels(program)
    engine, _ = next(run)  # steps 1, 2: next level
    begun = {"l0": [TRUE, TRUE], "l1": [FALSE, TRUE], "l2": [FALSE, TRUE], "l3": [FALSE, TRUE]}
    assert table(engine, places, 1) == begun and engine.obligations == []
    engine, _ = next(run)  # steps 3, 4, 5: x = 1 is blocked, there is no fixpoint, next level
    assert engine.obligations == [((term("eq", X, number(1)),), "l2", 1)]
    blocked = {
        "l0": [TRUE, TRUE, TRUE],
        "l1": [FALSE, TRUE, TRUE],
        "l2": [FALSE, not_one, TRUE],
        "l3": [FALSE, TRUE, TRUE],
    }
    assert table(engine, places, 2) == blocked
    engine, answer = next(run)  # step 6
    assert engine.obligations[1:] == [
        ((term("eq", X, number(1)),), "l2", 2),
        ((term("eq", X, number(0)),), "l1", 1),
        ((), "l0", 0),  # true
    ]
    assert table(engine, places, 2) == blocked
    assert isinstance(answer, Unsafe)
    assert [answer.path[0].source, *(e.target for e in answer.path)] == ["l0", "l1", "l2", "lE"]


def test_the_unreachable_example_step_by_step():
    program = automaton(UNREACHABLE)
    places, equal, differ = ("l0", "l1", "l2"), term("eq", X, Y), (term("ne", term("sub", X, Y), number(0)),)
    run = levels(program)
    engine, _ = next(run)  # steps 1, 2
    assert table(engine, places, 1) == {"l0": [TRUE, TRUE], "l1": [FALSE, TRUE], "l2": [FALSE, TRUE]}
    engine, _ = next(run)  # steps 3, 4, 5
    equal = negation(differ[0])
    assert engine.obligations == [(differ, "l1", 1)]
    assert table(engine, places, 2) == {"l0": [TRUE] * 3, "l1": [FALSE, equal, TRUE], "l2": [FALSE, TRUE, TRUE]}
    engine, answer = next(run)  # steps 6, 7: the fixpoint is at level 2
    assert engine.obligations == [(differ, "l1", 1), (differ, "l1", 2)]
    assert table(engine, places, 2) == {"l0": [TRUE] * 3, "l1": [FALSE, equal, equal], "l2": [FALSE, TRUE, TRUE]}
    assert answer == Safe({"l0": TRUE, "l1": equal, "l2": TRUE})
    assert_right(program, answer)


@pytest.mark.parametrize("options", [{}, OFF, *({name: False} for name in SWITCHES)], ids=str)
@pytest.mark.parametrize("text", [REACHABLE, UNREACHABLE])
def test_the_examples_with_every_switch(text, options):
    program = automaton(text)
    _, answer = search(program, options)
    assert isinstance(answer, Unsafe if text is REACHABLE else Safe)
    assert_right(program, answer)


# What [Werner] leaves open


def test_an_error_right_after_the_entry_is_found():
    program = automaton("l0 -> lE: [x == 7]")
    for options in ({}, OFF):
        _, answer = search(program, options)
        assert isinstance(answer, Unsafe) and len(answer.path) == 1


def test_an_entry_that_is_an_error():
    program = automaton("l1 -> l1: x := 0", error="l0")
    assert search(program)[1] == Unsafe(())


def test_an_error_without_edges():
    program = automaton("l0 -> l0: x := x + 1")
    for options in ({}, OFF):
        _, answer = search(program, options)
        assert_right(program, answer)


def test_a_loop_through_the_entry():
    # The entry's frame is `true` for ever: what comes back there is there at once.
    program = automaton("l0 -> l1: [x > 3]\nl1 -> l0: x := 0\nl1 -> lE: [x < 3]")
    _, answer = search(program)
    assert isinstance(answer, Safe)
    assert_right(program, answer)


EXAMPLE_12 = """
    a -> b: x := 0
    b -> c: havoc y
    c -> d: y := x * y
    d -> b: x := x + 1
    d -> f: [y > 20]
"""


@pytest.mark.parametrize("number", [INT, machine(16, signed=True)], ids=str)
def test_twice_through_the_loop(number):
    program = automaton(EXAMPLE_12, entry="a", error="f", number=number)
    for options in ({}, {"turns": False}, {"cubes": False}):
        _, answer = search(program, options, patience=100_000_000)  # z3 needs more or less, by the terms it has seen
        assert not isinstance(answer, Inconclusive), (answer, options)
        assert [answer.path[0].source, *(e.target for e in answer.path)] == list("abcdbcdf"), options
        assert_right(program, answer)


# Random automata


@pytest.mark.parametrize("number", [INT, W8], ids=str)
@pytest.mark.parametrize("options", [{}, OFF, {"turns": False}, {"cubes": False}, {"tighten": False}], ids=str)
def test_agreement_with_explicit_search(number, options):
    decided = []

    @settings(max_examples=60, **QUIET)
    @given(programs(number))
    def run(program):
        found = configurations(program)
        reached = {place for place, _ in found}
        _, answer = search(program, options, signs=300)
        decided.append(not isinstance(answer, Inconclusive | None))
        if decided[-1]:
            assert isinstance(answer, Unsafe) == bool(reached & program.bad)
            assert_right(program, answer)
        if isinstance(answer, Safe):
            assert_inductive_by_enumeration(program, answer, found)

    run()
    assert sum(decided) / len(decided) > 0.7  # examples come in clusters


def assert_inductive_by_enumeration(program, answer, found):
    domains = [(False, True) if v.type is BOOL else range(SMALL) for v in program.variables]

    def inside(place, values):
        given = dict(zip(program.variables, values, strict=True))
        invariant = answer.invariants.get(place, FALSE)
        return evaluate([invariant], given)[invariant]

    assert all(inside(*configuration) for configuration in found)
    for edge, values in itertools.product(program.edges, itertools.product(*domains)):
        if inside(edge.source, values):
            assert all(inside(edge.target, after) for after in moves(program, edge, values))


# Families


@pytest.mark.parametrize("number", [INT, INT32], ids=str)
@pytest.mark.parametrize("make", [locks, locks_in_blocks])
@pytest.mark.parametrize("broken", [False, True])
def test_locks(make, number, broken):
    program = make(6, number, broken)
    engine, answer = search(program)
    assert isinstance(answer, Unsafe if broken else Safe)
    assert_right(program, answer)
    assert engine.frames.queries < 40  # most is seen without the solver


def test_what_only_several_images_imply_has_all_of_them_as_reasons():
    x, y, z = (variable(name, INT) for name in "xyz")
    below, above, other = (term("le", x, constant(INT, n)) for n in (1, 5, 9))
    images = {y: below, z: None, x: other}
    assert _reasons([above], images) == (y,)  # x <= 1 implies x <= 5
    assert _reasons([term("ge", x, constant(INT, 0))], images) == (y, x)
