"""Invariants found on the way: templates, polynomials, and that nothing is told which does not hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from finite import systems
from hypothesis import given, settings
from judging import check
from test_engines import QUIET, verdicts
from test_ic3 import n, plus, system, x, y

from streamcheck.certify.check import Checker
from streamcheck.core.simplify import conjunction, disjunction, implication, negation
from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import BOOL, INT, REAL, machine
from streamcheck.engines.protocol import Invariants, Task
from streamcheck.engines.random_runs import Simulator
from streamcheck.invariants.discovery import Columns
from streamcheck.invariants.houdini import Houdini
from streamcheck.invariants.nullspace import relations
from streamcheck.invariants.sums import least_sums
from streamcheck.invariants.widening import Widening
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import State, TransitionSystem
from streamcheck.problem.verdict import Proved
from streamcheck.run.registry import build
from streamcheck.run.source import Target, read
from streamcheck.transform.integers import to_integers
from streamcheck.transform.premise import lasting_premise
from streamcheck.transform.views import views

PROBE = Claim("probe", constant(BOOL, True), None)


def test_what_is_told_always_stands_on_its_own():
    told = []

    @settings(max_examples=40, **QUIET)
    @given(systems())
    def run(given):
        _, events = verdicts(given, ("templates", "polynomial", "ic3"), rounds=90)
        for _, event in events:
            if isinstance(event, Invariants):
                assert check(given, PROBE, event.certificate) is None
                told.append(len(event.certificate.invariants))

    run()
    assert len(told) > 10


def only_by(engine, given, rounds=60):
    found, _ = verdicts(given, (engine,), rounds)
    for claim in given.properties:
        verdict = found[claim.name][1]
        assert isinstance(verdict, Proved) and check(given, claim, verdict.certificate) is None


def test_bounds_sums_and_equalities_by_templates():
    b, z = variable("b", BOOL), variable("z", INT)
    up, down = term("mux", b, plus(x, n(1)), x), term("mux", b, y, term("sub", y, n(1)))
    moves = term("and", term("lt", x, n(20)), term("gt", y, n(-20)))
    state = (x, n(0), term("mux", moves, up, x)), (y, n(0), term("mux", moves, down, y))
    balance = (z, n(0), term("mux", moves, term("mux", b, plus(z, n(1)), plus(z, n(1))), z))
    claim = term("eq", term("sub", x, y), z)
    only_by("templates", system({"steps": claim, "sum": term("le", plus(x, y), n(25))}, *state, balance, inputs=(b,)))


def workshop(lasting):
    """Parts that are free, in work or done. The premise: of eight events at most one at a time, and so `lasting`ly."""
    first, m = variable("first", BOOL), variable("m", INT)
    free, work, done = (variable(name, INT) for name in ("free", "work", "done"))
    events = [variable(f"e{i}", BOOL) for i in range(8)]
    one = TRUE
    for i, e in enumerate(events):
        others = disjunction(*(other for other in events if other is not e))
        one = conjunction(one, implication(e, negation(others)))
        if i == 0:
            one = conjunction(one, disjunction(*events), term("gt", m, n(0)))
    seen, env = variable("seen", BOOL), one
    if lasting:
        env = term("mux", first, one, term("and", one, seen))
    take = term("and", events[0], term("ge", free, n(1)))
    end = term("and", events[1], term("ge", work, n(1)))

    def moves(number, start, plus_if, minus_if):
        moved = term("mux", plus_if, plus(number, n(1)), term("mux", minus_if, term("sub", number, n(1)), number))
        return number, n(0), term("mux", first, start, moved)

    never, m0 = constant(BOOL, False), variable("m0", INT)
    state = [(first, TRUE, never), (seen, never, env), (m0, n(0), term("mux", first, m, m0))]
    state += [moves(free, m, never, take), moves(work, n(0), take, end), moves(done, n(0), end, never)]
    claim = term("implies", env, term("le", done, m0))
    return system({"ok": claim}, *state, inputs=(m, *events))


def test_sums_of_counters_under_a_premise_that_lasts():
    given = workshop(lasting=True)
    (lasting,) = {lasting_premise(given)}
    assert lasting is given.properties[0].term.args[0]
    only_by("templates", given)
    assert lasting_premise(workshop(lasting=False)) is TRUE


def test_a_premise_of_every_part_of_a_property_is_its_premise():
    given = workshop(lasting=True)
    (claim,) = given.properties
    env, goal = claim.term.args
    parts = term("and", claim.term, term("implies", env, term("ge", variable("work", INT), n(0))))
    split = replace(given, properties=(replace(claim, term=parts),))
    assert lasting_premise(split) is lasting_premise(given)
    only_by("templates", split)
    mixed = replace(given, properties=(replace(claim, term=term("and", claim.term, goal)),))
    assert lasting_premise(mixed) is TRUE


def test_the_premise_of_one_property_is_not_that_of_another():
    given = workshop(lasting=True)
    (claim,) = given.properties
    later = replace(claim, term=term("mux", variable("first", BOOL), TRUE, claim.term))
    assert lasting_premise(replace(given, properties=(claim, later))) is lasting_premise(given)
    other = Claim("other", term("ge", variable("done", INT), n(0)), None)
    assert lasting_premise(replace(given, properties=(*given.properties, other))) is TRUE


def test_sums_that_follow_from_fewer_numbers_are_left_out():
    free, work, done = [5, 4, 3, 3, 9, 8], [0, 1, 1, 0, 0, 1], [0, 0, 1, 2, 0, 0]
    total = [5, 5, 5, 5, 9, 10]
    found = dict(least_sums([free, work, done, total]))
    assert found[(-1, -1, -1, 1)] == 0
    assert found[(0, 1, 0, 0)] == 0 and (0, 1, 1, 0) not in found


def test_a_difference_under_a_condition_on_one_of_the_two():
    # Both count with a; c clears both, b clears x alone. So x is ahead only once y is full.
    a, b, c = (variable(name, BOOL) for name in "abc")
    full = n(40)
    up_x = term("mux", term("and", a, term("lt", x, n(70))), plus(x, n(1)), x)
    up_y = term("mux", term("and", a, term("lt", y, full)), plus(y, n(1)), y)
    state = (x, n(0), term("mux", term("or", b, c), n(0), up_x)), (y, n(0), term("mux", c, n(0), up_y))
    claim = term("implies", term("eq", x, n(70)), term("eq", y, full))
    only_by("templates", system({"ok": claim}, *state, inputs=(a, b, c)))


def test_bounds_that_no_run_comes_near():
    # y is at most x, and x at most a million, or both are 0.
    z = variable("z", INT)
    start = term("and", term("le", z, n(1_000_000)), term("lt", x, n(0)))
    grows = term("mux", term("lt", y, x), plus(y, n(1)), y)
    given = system(
        {"ok": term("le", y, n(1_000_000))}, (x, n(-1), term("mux", start, z, x)), (y, n(0), grows), inputs=(z,)
    )
    only_by("templates", given)


def test_counting_in_steps_that_are_chosen_at_first():
    k, chosen, z = variable("k", INT), variable("chosen", BOOL), variable("z", INT)
    end = term("mul", n(1000), k)
    pick = term("mux", term("and", term("ge", z, n(0)), term("le", z, n(10))), z, n(0))
    state = [(chosen, constant(BOOL, False), TRUE), (k, n(0), term("mux", chosen, k, pick))]
    state.append((x, n(0), term("mux", term("and", chosen, term("lt", x, end)), plus(x, k), x)))
    claim = term("implies", term("ge", x, end), term("eq", x, end))
    only_by("templates", system({"ok": claim}, *state, inputs=(z,)))


def test_counters_that_wrap_around_and_whose_difference_is_bounded():
    int8 = machine(8, signed=True)
    front, back, gap = (variable(name, int8) for name in ("front", "back", "gap"))
    push, pop = variable("push", BOOL), variable("pop", BOOL)
    one, none = constant(int8, 1), constant(int8, 0)
    pushed = term("mux", term("and", push, term("lt", gap, constant(int8, 5))), term("add", front, one), front)
    popped = term("mux", term("and", pop, term("gt", gap, none)), term("add", back, one), back)
    state = (front, none, pushed), (back, none, popped), (gap, none, term("sub", pushed, popped))
    claim = term("and", term("ge", gap, none), term("le", gap, constant(int8, 5)))
    only_by("templates", to_integers(system({"ok": claim}, *state, inputs=(push, pop))))


def test_candidates_get_a_second_chance():
    # That x is at most 9, which z repeats, stands only with a condition that is looked at later.
    on, go, back = (variable(name, BOOL) for name in ("on", "go", "back"))
    z = variable("z", INT)
    after = term("mux", on, plus(x, n(6)), term("mux", back, n(0), term("min", plus(x, n(1)), n(9))))
    state = (on, constant(BOOL, False), term("and", go, term("le", after, n(3)))), (x, n(0), after), (z, n(0), x)
    only_by("templates", system({"ok": term("le", z, n(9))}, *state, inputs=(go, back)))


def test_one_hot_groups_and_modes_by_templates():
    go = variable("go", BOOL)
    hot = [variable(f"m{i}", BOOL) for i in range(3)]
    turn = [term("mux", go, hot[i - 1], hot[i]) for i in range(3)]
    state = [(m, constant(BOOL, i == 0), turn[i]) for i, m in enumerate(hot)]
    exactly = term("and", term("or", term("or", *hot[:2]), hot[2]), term("not", term("and", hot[0], hot[2])))
    only_by("templates", system({"one": exactly}, *state, inputs=(go,)))
    mode = variable("mode", INT)
    after = term("mux", term("eq", mode, n(3)), n(7), term("mux", term("eq", mode, n(7)), n(12), n(3)))
    only_by("templates", system({"never": term("ne", mode, n(9))}, (mode, n(3), after)))


def test_a_bound_under_a_condition():
    on, off = variable("on", BOOL), variable("off", BOOL)
    level = term("mux", on, term("min", plus(x, n(1)), n(9)), n(0))
    claim = term("implies", term("not", on), term("le", x, n(9)))
    given = system({"low": claim}, (on, constant(BOOL, False), off), (x, n(0), level), inputs=(off,))
    only_by("templates", given)


@pytest.mark.parametrize(
    ("grows", "claim"),
    [
        (lambda k, v: plus(v, k), lambda k, v: term("eq", term("mul", n(2), v), term("mul", k, term("sub", k, n(1))))),
        (
            lambda k, v: plus(v, plus(plus(term("mul", n(3), term("mul", k, k)), term("mul", n(3), k)), n(1))),
            lambda k, v: term("eq", v, term("mul", k, term("mul", k, k))),
        ),
        (
            lambda k, v: plus(v, plus(term("mul", n(2), k), n(1))),
            lambda k, v: term("implies", term("eq", k, n(12)), term("eq", v, n(144))),
        ),
        (
            lambda k, v: plus(v, term("mul", k, k)),
            lambda k, v: term("implies", term("eq", k, n(5)), term("eq", v, n(30))),
        ),
    ],
    ids=["naturals", "cube", "square", "sum of squares"],
)
def test_polynomials(grows, claim):
    given = system({"ok": claim(x, y)}, (x, n(0), plus(x, n(1))), (y, n(0), grows(x, y)))
    only_by("polynomial", given)


def test_polynomials_where_the_step_is_chosen_by_chance():
    # s grows by 2a + 1 when a does, by whatever condition: no closed form in the number of steps, but s = a².
    go = variable("go", BOOL)
    state = (x, n(0), term("mux", go, plus(x, n(1)), term("sub", x, n(1))))
    grown = term("mux", go, plus(plus(y, term("mul", n(2), x)), n(1)), plus(term("sub", y, term("mul", n(2), x)), n(1)))
    claim = term("implies", term("eq", x, n(9)), term("eq", y, n(81)))
    only_by("polynomial", system({"ok": claim}, state, (y, n(0), grown), inputs=(go,)))


def test_null_spaces():
    assert relations([[1, 2, 3], [2, 4, 6]]) == [[-2, 1, 0]] or relations([[1, 2, 3], [2, 4, 6]]) == [[2, -1, 0]]
    assert relations([[1, 5, 3]]) == []
    (row,) = relations([[0, 1, 2, 5], [7, 10, 13, 22]])  # y = 3x + 7
    a, b, c = row
    assert [a * u + b * v + c for u, v in ((4, 19), (9, 34))] == [0, 0]


def test_houdini_keeps_the_largest_inductive_set():
    given = system({}, (x, n(0), plus(x, n(1))), (y, n(1), plus(x, y)))
    candidates = [term("ge", y, n(1)), term("ge", x, n(0)), term("le", x, n(4)), term("eq", y, n(1))]
    houdini = Houdini(given, None)
    assert houdini.inductive(candidates) == candidates[:2]
    assert houdini.inductive(candidates[:1]) == []
    parts = houdini.parts_with({"one": [candidates[1]]}, candidates[:2])
    assert parts == [(["one"], [candidates[1]])]


def test_goals_that_need_mostly_the_same_invariants_share_a_certificate():
    a, b, z = (variable(name, INT) for name in "abz")
    cells = [State(x, n(0), y), State(y, n(0), z), State(z, n(0), a), State(b, n(0), plus(b, n(1)))]
    small = Claim("small", term("le", a, n(4)), None)
    given = TransitionSystem("s", tuple(cells), (a,), (), (small,), ())
    bounds = [term("le", v, n(4)) for v in (x, y, z)]
    goals = {"x": bounds[:1], "x2": [term("le", x, n(5))], "b": [term("ge", b, n(0))]}
    candidates = [*bounds, *(t for terms in goals.values() for t in terms)]
    houdini = Houdini(given, None)
    assert houdini.inductive(candidates) == list(dict.fromkeys(candidates))
    (names, together), (other, alone) = houdini.parts_with(goals, list(dict.fromkeys(candidates)))
    assert names == ["x", "x2"] and {*together} == {*bounds, *goals["x2"]}
    assert other == ["b"] and alone == goals["b"]


def test_runs_are_the_same_every_time_and_meet_the_assumptions():
    small = Claim("small", term("and", term("le", y, n(3)), term("ge", y, n(0))), None)
    given = TransitionSystem("s", (State(x, n(0), plus(x, y)),), (y,), (), (small,), ())
    states = Simulator(given).states()
    assert states == Simulator(given).states() and len(states) > 20
    assert min(states) == (0,)


def test_an_assumption_that_chance_does_not_meet_is_met_by_the_solver():
    rare = Claim("rare", term("eq", y, term("add", term("mul", n(7919), x), n(104729))), None)
    claim = Claim("p", term("ge", y, n(0)), None)
    given = TransitionSystem("s", (State(x, n(0), plus(x, n(1))),), (y,), (), (rare,), (claim,))
    assert len(Simulator(given).states()) > 30
    (engine,) = build(["templates"])
    assert any(isinstance(event, Proved) for event in engine.run(Task(given), list))


def smoothed():
    """A filter with a gain of two, smoothed again: both stay below 12/5, which they only come near."""
    one, two, signal = (variable(name, REAL) for name in ("one", "two", "signal"))
    bound = term("and", term("le", signal, r("6/5")), term("ge", signal, r("-6/5")))
    step = term("sub", term("mul", r(2), signal), one)
    state = (one, r(0), plus(one, term("mul", r("1/8"), step)))
    behind = (two, r(0), plus(two, term("mul", r("1/16"), term("sub", one, two))))
    given = system({"never": term("ne", term("mul", r(3), one), r(8))}, state, behind, inputs=(signal,))
    return replace(given, assumptions=(Claim("bound", bound),))


def r(value):
    return constant(REAL, Fraction(value))


def bounds_of(given):
    states = Simulator(given).states()
    columns = Columns({s.var: [row[i] for row in states] for i, s in enumerate(given.state)})
    return Widening(given, columns.holds, None)


def test_bounds_that_no_run_reaches_and_no_line_names():
    given = smoothed()
    only_by("templates", given)
    found, _ = verdicts(given, ("templates",), 60, {"widening": False})
    assert not found


def test_bounds_are_inductive_and_the_close_ones_closer():
    given = smoothed()
    widening = bounds_of(given)
    rough, close = list(widening.rough()), list(widening.close())
    assert len(rough) == len(close) == 6  # of both filters, and of the value that the second has next
    assert set(Houdini(given, None).inductive(rough)) == set(rough)
    assert set(Houdini(given, None).inductive(close)) == set(close)
    for wide, narrow in zip(rough, close, strict=True):
        assert wide.args[0] is narrow.args[0] and Fraction("12/5") <= narrow.args[1].payload <= wide.args[1].payload
    assert sum(narrow.args[1].payload < wide.args[1].payload for wide, narrow in zip(rough, close, strict=True)) > 1


def test_what_grows_without_end_has_no_bound():
    up = variable("up", BOOL)
    given = system({"p": term("le", x, n(5))}, (x, n(0), term("mux", up, plus(x, n(1)), x)), inputs=(up,))
    bounds = list(bounds_of(given).rough())
    assert [b.args[0] for b in bounds] == [term("neg", x)]  # it is not negative


BUFFER = """
node buffer(put, take : bool) returns (ok : bool);
var written, taken, late, before : int32; full, puts : bool;
let
  before = (int32 0) -> pre late;
  puts = put and before < (int32 3);
  written = (int32 0) -> if puts then pre written + (int32 1) else pre written;
  taken = (int32 0) -> if take and pre written - pre taken > (int32 0) then pre taken + (int32 1) else pre taken;
  full = written - taken >= (int32 5);
  late = if full and (false -> pre full) then if puts then before + (int32 1) else before else (int32 0);
  ok = written - taken <= (int32 8);
  --%PROPERTY ok;
tel
"""


def test_differences_of_counters_that_wrap_around(tmp_path):
    """Written and taken elements are counted, and the counters wrap around. Their difference stays small."""
    path = tmp_path / "buffer.lus"
    path.write_text(BUFFER)
    (problem,) = read(Target(str(path), None), 20)
    view = views(problem)[0]
    assert view.model == "integers"
    (engine,) = build(["templates"])
    (proved,) = (e for e in engine.run(Task(view.system, patience=5_000_000), list) if isinstance(e, Proved))
    assert Checker(problem).check(proved.prop, view.back(proved.certificate)) is None
