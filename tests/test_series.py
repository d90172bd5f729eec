"""Many rounds at once (`certify.rounds`): series against each of their values, and when a result is known."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import pytest

from streamcheck.certify.evaluate import apply
from streamcheck.certify.rounds import over, repeat
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import BOOL, DOUBLE, INT, REAL, machine
from streamcheck.problem.automaton import Edge

WORD, BYTE = machine(8, signed=False), machine(8, signed=True)
LINES = {
    WORD: [
        (0,),
        (1,),
        (3,),
        (7,),
        (8,),
        (200,),
        (0, 1),
        (3, 2),
        (40, -8),
        (0, 8),
        (9, 3),
        (250, 2),
        (255, -1),
        (16, 1),
    ],
    BYTE: [(0,), (-1,), (3,), (8,), (100,), (-128,), (0, 1), (-3, 2), (-128, 8), (120, 3), (16, -8), (-2, 1), (6, -3)],
    INT: [(0,), (-5,), (2,), (8,), (0, 1), (-300, 100), (4, -2), (7, 8), (-1, 1), (-4, 2), (10**20, 5)],
}
CURVES = {
    WORD: [(0, 1, 1), (3, 0, 2), (60, -4, 1), (1, 2, 3, 4)],
    BYTE: [(-8, 1, 1), (4, -2, 1), (100, -1, -1), (0, 1, -1)],
    INT: [(5, -7, 3), (0, 1, 1), (-20, 3, 1, 1), (9, 0, -2)],
}
BINARY = ["add", "sub", "mul", "min", "max", "lt", "le", "gt", "ge", "eq", "ne", "same"]
WHOLE = ["floordiv", "mod", "quot", "rem"]
ROUNDS = (1, 2, 5)


def at(series, i):
    return sum(factor * comb(i, k) for k, factor in enumerate(series))


def values_of(series, times):
    return [at(series, i) for i in range(times)]


def operands(type, forms, times):
    """The forms that stay in the type."""
    inside = getattr(type, "low", float("-inf")), getattr(type, "high", float("inf"))
    return [s for s in forms if all(inside[0] <= v <= inside[1] for v in values_of(s, times))]


def result(op, types, given, times, payload=None):
    """What is known of the operation, seen to be its value in each round."""
    args = [variable(f"v{i}", t) for i, t in enumerate(types)]
    node = term(op, *args, payload=payload)
    found = over([node], dict(zip(args, given, strict=True)), times)[node]
    expected = [apply(node, list(row)) for row in zip(*(values_of(s, times) for s in given), strict=True)]
    if found is not None:
        assert ([*found] * times if len(found) == 1 else values_of(found, times)) == expected, (op, given, times)
        assert len(found) == 1 or found[-1] != 0
    return found, expected


@pytest.mark.parametrize("type", LINES, ids=str)
def test_series_are_the_values_in_each_round(type):
    shifts = ["shl", "shr", "bitand"] if type is not INT else []
    for times in ROUNDS:
        forms = operands(type, LINES[type] + CURVES[type], times)
        for op, a, b in itertools.product(BINARY + WHOLE + shifts, forms, forms):
            result(op, [type, type], [a, b], times)
        for op, a in itertools.product(["neg", "abs", *(["bitnot"] if shifts else [])], forms):
            result(op, [type], [a], times)
        for target, a in itertools.product([WORD, BYTE, machine(16, signed=True), INT, BOOL], forms):
            if target is not type:
                result("cast", [type], [a], times, payload=target)


def is_within_one_period(type, exact):
    return type is INT or len({(value - type.low) // 256 for value in exact}) == 1


@pytest.mark.parametrize("type", LINES, ids=str)
@pytest.mark.parametrize("times", [2, 5])
def test_what_is_known_of_lines(type, times):
    """A line is known at its ends: all is decided that does not change between them."""
    forms = operands(type, LINES[type], times)
    for a, b in itertools.product(forms, forms):
        if len(a) == len(b) == 1:
            continue
        x, y = values_of(a, times), values_of(b, times)
        difference = [p - q for p, q in zip(x, y, strict=True)]
        for op in ("lt", "le", "gt", "ge", "eq", "ne", "same"):
            found, expected = result(op, [type, type], [a, b], times)
            assert (found is not None) == (len(set(expected)) == 1), (op, a, b)
        for op in ("min", "max"):
            found, _ = result(op, [type, type], [a, b], times)
            assert (found is not None) == (min(difference) >= 0 or max(difference) <= 0), (op, a, b)
        for op, exact in (("add", [p + q for p, q in zip(x, y, strict=True)]), ("sub", difference)):
            found, _ = result(op, [type, type], [a, b], times)
            assert (found is not None) == is_within_one_period(type, exact), (op, a, b)
        if len(a) == 1 or len(b) == 1:
            found, _ = result("mul", [type, type], [a, b], times)
            assert (found is not None) == is_within_one_period(type, [p * q for p, q in zip(x, y, strict=True)])
        for op in WHOLE:
            found, _ = result(op, [type, type], [a, b], times)
            is_positive = len(b) == 1 and b[0] > 0
            is_settled = is_positive and (a[1] % b[0] == 0 or len({v // b[0] for v in x}) == 1)
            assert (found is not None) == (is_settled and (op in ("floordiv", "mod") or min(x) >= 0)), (op, a, b)


@pytest.mark.parametrize("type", [WORD, BYTE], ids=str)
def test_what_is_known_of_bits(type):
    times = 5
    for a, amount in itertools.product(operands(type, LINES[type], times), [0, 1, 3, 7, 8, 15, 31]):
        if len(a) == 1:
            continue
        x = values_of(a, times)
        for left in ((a, (amount,)), ((amount,), a)):
            found, _ = result("bitand", [type, type], left, times)
            is_settled = a[1] % (amount + 1) == 0 or len({v // (amount + 1) for v in x}) == 1
            assert (found is not None) == (amount & (amount + 1) == 0 and is_settled), (a, amount)
        shifted, _ = result("shl", [type, type], [a, (amount,)], times)
        assert (shifted is not None) == (amount < 8 and is_within_one_period(type, [v << amount for v in x]))
        shifted, _ = result("shr", [type, type], [a, (amount,)], times)
        is_settled = a[1] % (1 << min(amount, 8)) == 0 or len({v >> min(amount, 8) for v in x}) == 1
        assert (shifted is not None) == (amount < 8 and is_settled), (a, amount)
        for op, image in (("neg", lambda v: -v), ("bitnot", lambda v: -1 - v)):
            found, _ = result(op, [type], [a], times)
            assert (found is not None) == is_within_one_period(type, map(image, x)), (op, a)
        found, _ = result("abs", [type], [a], times)
        assert (found is not None) == ((min(x) >= 0 or max(x) <= 0) and is_within_one_period(type, map(abs, x))), a
        found, expected = result("cast", [type], [a], times, payload=BOOL)
        assert (found is not None) == (len(set(expected)) == 1), a
        for target in (WORD, BYTE):
            found, _ = result("cast", [type], [a], times, payload=target) if target is not type else ((), ())
            assert (found is not None) == is_within_one_period(target, x), (target, a)


P, Q, N = variable("p", BOOL), variable("q", BOOL), variable("n", INT)


@pytest.mark.parametrize("p", [None, (False,), (True,)])
@pytest.mark.parametrize("q", [None, (False,), (True,)])
def test_some_operands_decide(p, q):
    """A result is known if it is the same for all values of the operands that are not known."""
    for op in ("and", "or", "implies", "xor"):
        node = term(op, P, Q)
        each = itertools.product(*([False, True] if known is None else known for known in (p, q)))
        values = {apply(node, list(row)) for row in each}
        assert over([node], {P: p, Q: q}, 3)[node] == ((values.pop(),) if len(values) == 1 else None)
    choice = term("mux", P, N, constant(INT, 4))
    for n in (None, (4,), (1, 2)):
        assert over([choice], {P: p, N: n}, 3)[choice] == (None if p is None else n if p[0] else (4,))


def test_values_that_are_no_series():
    half, d = variable("r", REAL), variable("d", DOUBLE)
    assert over([term("div", half, constant(REAL, Fraction(2)))], {half: (Fraction(1), Fraction(1))}, 3)
    node = term("add", d, constant(DOUBLE, 1.0))
    assert over([node], {d: (0.5,)}, 3)[node] == (1.5,) and over([node], {}, 3)[node] is None
    whole = term("cast", half, payload=INT)
    assert over([whole], {half: (Fraction(1, 2), Fraction(1))}, 3)[whole] is None
    exact = term("cast", N, payload=REAL)
    assert over([exact], {N: (1, 1)}, 3)[exact] is None and over([exact], {N: (3,)}, 3)[exact] == (Fraction(3),)


def edge(guard=TRUE, choices=(), chosen=None, **updates):
    pairs = tuple((variable(name, new.type), new) for name, new in updates.items())
    return Edge("a", "a", guard, pairs, choices, "loop"), chosen or {}


W, M = variable("w", WORD), variable("m", INT)
ONE, UP = constant(WORD, 1), term("add", W, constant(WORD, 1))


@pytest.mark.parametrize("times", [0, 1, 5, 6, 7, 100, 10**6])
def test_rounds_of_a_loop(times):
    """A counter, its sum, the sum of that, and a variable that is left alone."""
    total = term("add", M, N)
    steps = [
        edge(term("ge", N, constant(INT, 0)), n=term("add", N, constant(INT, 1))),
        edge(m=total, k=variable("m", INT)),
    ]
    start = {N: 0, M: 3, variable("k", INT): 3, variable("s", BOOL): True}
    assert repeat(steps, start, times) == {
        N: times,
        M: 3 + times * (times + 1) // 2,
        variable("k", INT): 3 + times * (times - 1) // 2 if times else 3,
        variable("s", BOOL): True,
    }


@pytest.mark.parametrize("times", [200, 254, 255, 256])
def test_the_condition_holds_in_each_round_or_none_is_taken(times):
    below = edge(term("lt", W, constant(WORD, 255)), w=UP)
    found = repeat([below], {W: 0}, times)
    assert found == {W: times} if times <= 255 else found.startswith("the condition of loop is")
    assert repeat([edge(w=UP)], {W: 0}, times) == ({W: times} if times <= 255 else {})


def test_conditions_that_are_false_or_open():
    never, some = edge(FALSE), edge(term("ne", N, constant(INT, 50)), n=term("add", N, constant(INT, 1)))
    assert repeat([never], {N: 0}, 3) == "the condition of loop is false"
    assert repeat([some], {N: 0}, 50) == {N: 50} == repeat([some], {N: 47}, 3)
    assert repeat([some], {N: 47}, 4) == "the condition of loop is false"
    assert "not known to be true in each of 51 rounds" in repeat([some], {N: 0}, 51)
    assert repeat([some], {N: 51}, 10**9) == {N: 51 + 10**9}
    assert "depends on values that many rounds leave open" in repeat([some], {}, 2)
    assert repeat([edge(n=M)], {N: 1}, 100) == {} == repeat([edge(n=M)], {N: 1}, 1)


def test_choices_of_the_steps_have_their_values():
    chosen = variable("c", INT)
    step = edge(choices=(chosen,), chosen={chosen: 7}, n=term("add", N, chosen))
    assert repeat([step], {N: 0}, 1000) == {N: 7000}
    assert repeat([step, edge(term("eq", chosen, N), (chosen,), {chosen: 7})], {N: 0}, 1) == {N: 7}
    assert "false" in repeat([step, edge(term("eq", chosen, N), (chosen,), {chosen: 8})], {N: 0}, 1)


def test_values_that_are_not_of_low_degree_are_left_open():
    """A power has no series; a variable that depends on it has none either."""
    doubled = edge(n=term("add", N, N), m=term("add", M, N), w=ONE)
    assert repeat([doubled], {N: 1, M: 0, W: 1}, 4) == {N: 16, M: 15, W: 1}
    assert repeat([doubled], {N: 1, M: 0, W: 1}, 100) == {W: 1}
    assert repeat([edge(w=ONE)], {W: 0}, 100) == {} and repeat([edge(w=ONE)], {W: 0}, 6) == {W: 1}
    names = [variable(name, INT) for name in "abcde"]
    sums = edge(**{b.payload: term("add", b, a) for a, b in itertools.pairwise(names)})
    found = repeat([sums], dict.fromkeys(names, 1), 50)
    assert found == {v: sum(comb(50, j) for j in range(k + 1)) for k, v in enumerate(names)}
    d = variable("d", DOUBLE)
    assert repeat([edge(d=d)], {d: 0.5}, 9) == {d: 0.5}
    assert repeat([edge(d=term("neg", d))], {d: 0.0}, 100) == {}
