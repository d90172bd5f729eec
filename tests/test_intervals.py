"""Interval arithmetic, against all values of small types and samples of unbounded numbers."""

from __future__ import annotations

import math
import random

import pytest

from streamcheck.core.intervals import (
    RULES,
    Intervals,
    decide,
    exact_interval,
    intersection,
    interval_of_type,
    is_inside,
    within,
)
from streamcheck.core.meaning import meaning
from streamcheck.core.operators import TypeRule
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, INT, enum_of, machine

TYPES = [machine(3, signed=False), machine(3, signed=True)]
UNARY = {"neg", "abs", "bitnot"}
LEAST = {"add", "sub", "mul", "neg", "abs", "min", "max", "floordiv", "quot"}  # rules that give the least interval
OPERATORS = [op for op in RULES if op != "mux"]


def intervals(type):
    return [(low, high) for low in range(type.low, type.high + 1) for high in range(low, type.high + 1)]


def results(node, spans):
    """The values of the node for all values of its operands in their intervals."""
    apply = meaning(node)
    first = range(spans[0][0], spans[0][1] + 1)
    if len(spans) == 1:
        return {apply(a) for a in first}
    return {apply(a, b) for a in first for b in range(spans[1][0], spans[1][1] + 1)}


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("op", OPERATORS)
def test_values_of_machine_integers_are_inside(op, type):
    operands = [variable(name, type) for name in ("x" if op in UNARY else "xy")]
    node, draw = term(op, *operands), random.Random(op)
    every = intervals(type)
    for _ in range(300):
        spans = [draw.choice(every) for _ in operands]
        low, high = Intervals(dict(zip(operands, spans, strict=True))).of(node)
        values = results(node, spans)
        assert low <= min(values) and max(values) <= high, spans
        exact = exact_interval(op, *spans)
        if op in LEAST and type.low <= exact[0] and exact[1] <= type.high:
            assert (low, high) == (min(values), max(values)), spans


@pytest.mark.parametrize("op", OPERATORS)
def test_results_of_unbounded_integers_are_inside(op):
    operands = [variable(name, INT) for name in ("x" if op in UNARY else "xy")]
    try:
        node = term(op, *operands)
    except TypeRule:
        return  # an operator of words
    apply, draw = meaning(node), random.Random(op)
    for _ in range(300):
        spans, samples = [], []
        for _ in operands:
            ends = sorted(draw.choices([*range(-5, 6), 10**400, -(10**400)], k=2))
            low, high = (bound if abs(bound) < 10**400 else math.copysign(math.inf, bound // 10**400) for bound in ends)
            spans.append((low, high))
            near = [n for n in (*range(-8, 9), -(10**9), 10**9, 10**450) if low <= n <= high]
            samples.append(near)
        low, high = exact_interval(op, *spans)
        for a in samples[0]:
            for rest in [(b,) for b in samples[1]] if len(samples) > 1 else [()]:
                assert low <= apply(a, *rest) <= high, (spans, a, rest)
        assert Intervals(dict(zip(operands, spans, strict=True))).of(node) == (low, high)


def test_everything_that_wraps_around_equally_often_stays_an_interval():
    word, signed = TYPES
    assert within((-6, -1), word) == (2, 7)
    assert within((4, 7), signed) == (-4, -1)
    assert within((7, 8), word) == (0, 7)
    assert within((2, 5), word) == (2, 5)
    assert within((-math.inf, 3), signed) == interval_of_type(signed)


def test_conversions_and_choices():
    color = enum_of("Color", (("RED", 2), ("BLUE", 5)))
    narrow, wide = machine(8, signed=False), machine(16, signed=True)
    x, flag, hue, number = variable("x", narrow), variable("flag", BOOL), variable("hue", color), variable("n", INT)
    found = Intervals()
    assert found.of(term("cast", flag, payload=INT)) == (0, 1)
    assert found.of(term("cast", hue, payload=wide)) == (2, 5)
    assert found.of(term("cast", x, payload=wide)) == (0, 255)
    assert found.of(term("cast", number, payload=wide)) == (wide.low, wide.high)
    both = term("mux", flag, term("cast", x, payload=INT), constant(INT, -3))
    assert found.of(both) == (-3, 255)
    assert found.of(number) == (-math.inf, math.inf)
    assert is_inside(found.of(term("mul", both, both)), (-765, 255**2))


def test_comparisons_are_decided_if_all_values_agree():
    draw = random.Random(1)
    for op in ("lt", "le", "gt", "ge", "eq", "ne"):
        node = term(op, variable("x", INT), variable("y", INT))
        for _ in range(300):
            a, b = (tuple(sorted(draw.choices(range(-3, 4), k=2))) for _ in "ab")
            values = results(node, [a, b])
            assert decide(op, a, b) is (values.pop() if len(values) == 1 else None), (op, a, b)


def test_an_intersection_is_never_empty():
    assert intersection((0, 5), (3, math.inf)) == (3, 5)
    assert intersection((0, 5), (6, 7)) == (0, 5)  # of a branch that is never taken
