"""Property directed reachability on bits: the examples of [Werner] step by step, and random systems against explicit
search."""

from __future__ import annotations

import math
from functools import reduce as folded

import pytest
from finite import HERE, W8, Explicit, systems
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judging import check

from streamcheck.api.files import load
from streamcheck.core.evaluate import evaluate
from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, TRUE, constant, substitute, term, variable, variables
from streamcheck.core.types import BOOL, FLOAT, INT, machine
from streamcheck.engines.bit_pdr import BitPdr
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.system import STATES, space_of_system
from streamcheck.engines.ic3.words import LiftedPredecessors, value_literals
from streamcheck.engines.options import BitPdrOptions
from streamcheck.engines.protocol import NO_NUMBERS, Progress, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import State, TransitionSystem
from streamcheck.problem.verdict import Falsified, Proved, Unknown
from streamcheck.smt.bit_solver import BitSolver
from streamcheck.smt.ternary import Ternary, needed_variables

QUIET = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
SWITCHES = ("ternary", "tighten", "widen", "inductive", "push", "propagate", "forward")
OFF = dict.fromkeys(("ternary", "tighten", "push", "forward"), False)


def anyone(*terms):
    return folded(lambda a, b: term("or", a, b), terms)


def all_of(*terms):
    return folded(lambda a, b: term("and", a, b), terms)


X1, X2, X3 = (variable(f"x{i}", BOOL) for i in (1, 2, 3))
Y1, Y2, Y3 = (variable(f"y{i}", BOOL) for i in (1, 2, 3))  # x1', x2', x3'
GO = variable("go", BOOL)


def no(t):
    return negation(t)


def system(state, inputs, assumed, claim):
    begun = tuple(State(v, FALSE, after) for v, after in state)
    given = (Claim("T", assumed, HERE),) if assumed is not None else ()
    return TransitionSystem("bits", begun, inputs, (), given, (Claim("P", claim, None),))


# The examples of sections 3.3.1 and 3.3.2: T as it is printed, with inputs for the next state, and as functions

T_FAILING = all_of(anyone(X1, no(Y2)), anyone(no(X1), Y2), anyone(X2, no(Y3)), anyone(no(X2), Y3))
T_PASSING = all_of(
    anyone(X1, no(X2), Y2), anyone(X1, X2, no(Y1)), anyone(no(X1), Y1), anyone(no(X1), no(Y2)), anyone(X2, no(Y2))
)
P_FAILING, P_PASSING = anyone(no(X1), no(X2), no(X3)), anyone(no(X1), X2)
FAILING = {
    "relation": system(((X1, Y1), (X2, Y2), (X3, Y3)), (Y1, Y2, Y3), T_FAILING, P_FAILING),
    "functions": system(((X1, GO), (X2, X1), (X3, X2)), (GO,), None, P_FAILING),
}
PASSING = {
    "relation": system(((X1, Y1), (X2, Y2)), (Y1, Y2), T_PASSING, P_PASSING),
    "functions": system(
        ((X1, anyone(X1, all_of(X2, GO))), (X2, all_of(no(X1), X2))), (GO,), None, P_PASSING
    ),
}  # fmt: skip


def test_the_functions_are_the_relations():
    for x1 in (False, True):
        for x2 in (False, True):
            reached = set()
            for go in (False, True):
                values = {X1: x1, X2: x2, GO: go}
                nexts = [s.next for s in PASSING["functions"].state]
                found = evaluate(nexts, values)
                reached.add(tuple(found[n] for n in nexts))
            related = {
                (y1, y2)
                for y1 in (False, True)
                for y2 in (False, True)
                if evaluate([T_PASSING], {X1: x1, X2: x2, Y1: y1, Y2: y2})[T_PASSING]
            }
            assert reached == related


class WatchedBits(BitPdr):
    def __init__(self, options):
        super().__init__(options)
        self.obligations = []

    def predecessors(self):
        return Recorded(super().predecessors(), self.obligations)


class Recorded:
    def __init__(self, strategy, obligations):
        self.strategy, self.obligations = strategy, obligations

    def guess(self, one, along, frames):
        return self.strategy.guess(one, along, frames)

    def before(self, one, along, model):
        found = self.strategy.before(one, along, model)
        self.obligations.append((set(found.cube), found.level))
        return found


def steps(given, options=OFF):
    """The engine after each phase of propagation, with its verdict at the end."""
    engine = WatchedBits(BitPdrOptions(**options))
    for event in engine.run(Task(given), list):
        if isinstance(event, Proved | Falsified):
            yield engine, event
            return
        if event == Progress(0):  # at the beginning
            continue
        if isinstance(event, Progress):
            yield engine, None


def clauses(engine, level):
    return set(engine.frames.terms(STATES, level))


@pytest.mark.parametrize("form", FAILING)
def test_the_failing_property_step_by_step(form):
    given = FAILING[form]
    after = [(max(engine.frames.kept[STATES]), clauses(engine, 1), clauses(engine, 2)) for engine, _ in steps(given)]
    assert after[0] == (1, {P_FAILING, no(X2), no(X3)}, set())  # steps 1-3
    assert after[1][2] == {P_FAILING, no(X3)}  # steps 4, 5
    assert after[1][1] == {P_FAILING, no(X2), no(X3)}
    *_, (engine, verdict) = steps(given)  # steps 6, 7
    assert engine.obligations == [({X1, X2, no(X3)}, 2), ({X1, no(X2), no(X3)}, 1), ({no(X1), no(X2), no(X3)}, 0)]
    assert isinstance(verdict, Falsified)
    assert states(given, verdict.trace) == [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]


def states(given, trace):
    """The run of a trace."""
    now = {s.var: s.init.payload for s in given.state}
    run = []
    for chosen in trace.inputs:
        run.append(tuple(int(now[s.var]) for s in given.state))
        values = evaluate([s.next for s in given.state], {**now, **{v: chosen[v.payload] for v in given.inputs}})
        now = {s.var: values[s.next] for s in given.state}
    return run


@pytest.mark.parametrize("form", PASSING)
def test_the_passing_property_step_by_step(form):
    given = PASSING[form]
    run = steps(given)
    engine, verdict = next(run)
    assert verdict is None and clauses(engine, 1) == {P_PASSING, no(X1), no(X2)}  # steps 1-3
    engine, last = next(run)  # steps 4, 5
    assert clauses(engine, 2) == clauses(engine, 1) == {P_PASSING, no(X1), no(X2)}
    assert engine.obligations == []
    assert set(last.certificate.invariants) == {P_PASSING, no(X1), no(X2)}
    assert check(given, given.properties[0], last.certificate) is None


@pytest.mark.parametrize("form", FAILING)
def test_the_ternary_reduction_of_the_third_example(form):
    """Section 3.4: (x1 ∧ ¬x2 ∧ ¬x3, 1), which leads to x1 ∧ x2 ∧ ¬x3, becomes (x1 ∧ ¬x2, 1)."""
    given = FAILING[form]
    nexts = {s.var: s.next for s in given.state}
    goal = all_of(X1, X2, no(X3))
    roots = [substitute([goal], nexts)[goal], *(a.term for a in given.assumptions)]
    values = {X1: True, X2: False, X3: False, Y1: True, Y2: True, Y3: False, GO: True}
    assert needed_variables(roots, values, [X1, X2, X3]) == [X1, X2]


@pytest.mark.parametrize("options", [{}, OFF, *({name: False} for name in SWITCHES)], ids=str)
@pytest.mark.parametrize("form", FAILING)
def test_the_examples_with_every_switch(form, options):
    *_, (_, verdict) = steps(FAILING[form], options)
    assert isinstance(verdict, Falsified) and verdict.trace.length == 4
    *_, (_, verdict) = steps(PASSING[form], options)
    assert check(PASSING[form], PASSING[form].properties[0], verdict.certificate) is None


def test_only_bits():
    n = variable("n", INT)
    given = TransitionSystem("n", (State(n, constant(INT, 0), n),), (), (), (), (Claim("P", TRUE, None),))
    assert list(BitPdr().run(Task(given), list)) == [Unknown("P", NO_NUMBERS)]


def test_two_states_that_alternate():
    """If what is blocked strengthened one frame alone, these would differ for ever."""
    a, b, c = (variable(n, BOOL) for n in "abc")
    state = (State(a, TRUE, negation(a)), State(b, FALSE, a), State(c, FALSE, all_of(a, b)))
    given = TransitionSystem("s", state, (), (), (), (Claim("P", negation(c), None),))
    for options in ({}, OFF):
        *_, (_, verdict) = steps(given, options)
        assert check(given, given.properties[0], verdict.certificate) is None


def test_frames_are_compared_everywhere():
    """At the end alone, two frames in a row would never be the same here."""
    b = [variable(f"b{i}", BOOL) for i in range(6)]
    i1 = variable("i1", BOOL)
    either, differ = anyone(b[5], b[3]), term("xor", b[3], b[2])
    same = term("eq", either, differ)
    starts = (FALSE, TRUE, TRUE, FALSE, TRUE, FALSE)
    nexts = (same, differ, either, same, either, b[1])
    state = tuple(State(v, init, after) for v, init, after in zip(b, starts, nexts, strict=True))
    claims = (Claim("p0", anyone(i1, b[4]), None), Claim("p1", anyone(b[0], b[3]), None))
    given = TransitionSystem("s", state, (i1,), (), (Claim("A", anyone(i1, b[0]), HERE),), claims)
    for options in ({}, OFF):
        events = list(BitPdr(BitPdrOptions(**options)).run(Task(given), list))
        assert {e.prop for e in events if isinstance(e, Proved | Falsified)} == {"p0", "p1"}


# Random systems


@st.composite
def bit_systems(draw):
    """Up to six bits, an input or two, random functions; at times an assumption, and starts that are open."""
    bits = [variable(f"b{i}", BOOL) for i in range(draw(st.integers(2, 6)))]
    inputs = [variable(f"i{i}", BOOL) for i in range(draw(st.integers(1, 2)))]
    conditions = [*bits, *inputs]
    for _ in range(draw(st.integers(3, 14))):
        a, b, c = (draw(st.sampled_from(conditions)) for _ in range(3))
        op = draw(st.sampled_from(["and", "or", "xor", "implies", "not", "mux", "eq"]))
        conditions.append(term(op, *((a,) if op == "not" else (a, b, c) if op == "mux" else (a, b))))
    pick = lambda: draw(st.sampled_from(conditions))
    state = tuple(State(v, constant(BOOL, draw(st.booleans())), pick()) for v in bits)
    properties = tuple(Claim(f"p{i}", anyone(pick(), pick()), None) for i in range(draw(st.integers(1, 2))))
    assumed = (Claim("A", anyone(pick(), pick()), HERE),) if draw(st.integers(0, 3)) == 0 else ()
    return TransitionSystem("bits", state, tuple(inputs), (), assumed, properties)


@pytest.mark.parametrize("options", [{}, OFF, *({name: False} for name in SWITCHES)], ids=str)
def test_agreement_with_explicit_search(options):
    @settings(max_examples=60, **QUIET)
    @given(bit_systems())
    def run(given):
        explicit = Explicit(given)
        events = BitPdr(BitPdrOptions(**options)).run(Task(given), list)
        found = {e.prop: e for e in events if isinstance(e, Proved | Falsified)}
        assert len(found) == len(given.properties)  # it decides everything
        for claim in given.properties:
            truth, verdict = explicit.shortest_violation(claim), found[claim.name]
            assert isinstance(verdict, Proved) == (truth is None)
            if isinstance(verdict, Proved):
                assert check(given, claim, verdict.certificate) is None
            else:
                assert breaks(given, claim, verdict.trace)

    run()


def breaks(given, claim, trace):
    """Whether the trace is a run whose last step breaks the claim."""
    now = {s.var: s.init.payload for s in given.state}
    for chosen in trace.inputs:
        values = evaluate(given.roots(), {**now, **{v: chosen[v.payload] for v in given.inputs}})
        if not all(values[a.term] for a in given.assumptions):
            return False
        now = {s.var: values[s.next] for s in given.state}
    return values[claim.term] is False


@pytest.mark.parametrize("options", [{}, OFF, *({name: False} for name in SWITCHES[1:])], ids=str)
def test_agreement_with_explicit_search_on_words(options):
    @settings(max_examples=30, **QUIET)
    @given(systems(W8))
    def run(given):
        explicit = Explicit(given)
        events = BitPdr(BitPdrOptions(**options)).run(Task(given), list)
        found = {e.prop: e for e in events if isinstance(e, Proved | Falsified)}
        assert len(found) == len(given.properties)
        for claim in given.properties:
            truth, verdict = explicit.shortest_violation(claim), found[claim.name]
            assert isinstance(verdict, Proved) == (truth is None)
            if isinstance(verdict, Proved):
                assert verdict.certificate.prover == "bitwuzla"
                assert check(given, claim, verdict.certificate) is None
            else:
                assert breaks(given, claim, verdict.trace)

    run()


@pytest.mark.parametrize("type", [machine(5, signed=True), machine(5, signed=False), BOOL, FLOAT], ids=str)
def test_only_the_value_meets_its_literals(type):
    samples = {"bool": [False, True], "float": [-1.5, 0.0, math.inf, math.nan, 2.0**-149]}
    values = samples.get(type.kind) or list(range(type.low, type.high + 1))
    x = variable("x", type)
    for value in values:
        cube = value_literals(x, value)
        for other in values:
            met = evaluate(cube, {x: other})
            assert all(met[c] is True for c in cube) == (repr(other) == repr(value))


def test_a_predecessor_keeps_the_bits_that_matter():
    """n' = n + 1 on four bits, and the obligation that n' is odd: n is even, whatever its other bits."""
    four = machine(4, signed=False)
    n, one = variable("n", four), constant(four, 1)
    given = TransitionSystem("s", (State(n, constant(four, 0), term("add", n, one)),), (), (), (), ())
    (step,) = space_of_system(given).entering[STATES]
    odd = value_literals(n, 1)[:1]
    after = Obligation(STATES, tuple(odd), 2)
    found = LiftedPredecessors([n], BitSolver, None).before(after, step, {n: 6})
    assert list(found.cube) == value_literals(n, 6)[:1]


def test_filters_in_series():
    """Only a bound of the first filter, which no property names, bounds the second."""
    x, y, z = (variable(name, FLOAT) for name in "xyz")
    real = lambda value: constant(FLOAT, value)
    mixed = lambda a, b: term("add", term("mul", a, real(0.5)), term("mul", b, real(0.5)))
    within = lambda v, bound: all_of(term("le", v, real(bound)), term("ge", v, real(-bound)))
    state = (State(y, real(0.0), mixed(y, x)), State(z, real(0.0), mixed(z, y)))
    assumed = (Claim("A", within(x, 100.0), HERE),)
    given = TransitionSystem("s", state, (x,), (), assumed, (Claim("P", within(z, 101.0), None),))
    *_, verdict = BitPdr().run(Task(given), list)
    assert isinstance(verdict, Proved) and check(given, given.properties[0], verdict.certificate) is None
    assert any(y in variables([t]) and z not in variables([t]) for t in verdict.certificate.invariants)


# Ternary simulation


def test_ternary_simulation_against_all_completions():
    """What is known with variables unknown is so for all of their values."""

    @settings(max_examples=100, **QUIET)
    @given(bit_systems(), st.data())
    def run(given, data):
        variables = [*(s.var for s in given.state), *given.inputs]
        values = {v: data.draw(st.booleans()) for v in variables}
        roots = [given.properties[0].term]
        kept = needed_variables(roots, values, variables)
        wanted = evaluate(roots, values)[roots[0]]
        free = [v for v in variables if v not in kept]
        for _ in range(8):
            other = {**values, **{v: data.draw(st.booleans()) for v in free}}
            assert evaluate(roots, other)[roots[0]] is wanted

    run()


def test_what_is_unknown_stays_unknown():
    simulation = Ternary([term("xor", X1, X2), all_of(X1, X3)], {X1: True, X2: False, X3: False})
    assert not simulation.forget(X2) and not simulation.forget(X3)
    simulation = Ternary([all_of(X1, X3), anyone(X3, no(X3))], {X1: True, X3: False})
    assert simulation.forget(X1) and not simulation.forget(X3)  # x3 ∨ ¬x3 is unknown: [Werner] knows no more


PHASES = """
import enum
from streamcheck import *

class P(enum.Enum):
    A = 0
    B = 1
    C = 5

p = stream(EnumOf(P), lambda p: [P.A] ++ mux(extern("go", Bool), mux(p == P.A, P.B, mux(p == P.B, P.C, p)), p))
n = stream(Word8, lambda n: [0] ++ mux((p == P.A) | (p == P.B) | (p == P.C), n, n ^ 1))
spec = Spec("phases")
spec.prop("kept", n == 0)
"""


@pytest.mark.parametrize("options", [{}, {"pdr-bits.ternary": False}, {"pdr-bits.inductive": False}], ids=str)
def test_an_enum_may_hold_no_member_before_a_step(options, tmp_path):
    """A solver's state before a step may be one that no run reaches."""
    path = tmp_path / "phases.py"
    path.write_text(PHASES)
    results = load(str(path)).prove(engines=["pdr-bits"], options=options, timeout=30)
    assert results["kept"].proved
