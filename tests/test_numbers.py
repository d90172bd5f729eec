"""Numbers at their corners: rounding, math.h, intervals that are exact, values of composites with NaN."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from streamcheck.certify.bitwise import Unrenderable, _from_float
from streamcheck.certify.evaluate import apply
from streamcheck.core import floats
from streamcheck.core.evaluate import value_of
from streamcheck.core.intervals import RULES
from streamcheck.core.meaning import meaning
from streamcheck.core.python import PythonWriter
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import DOUBLE, FLOAT, INT, REAL, array_of, machine
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.problem.specification import Input, Named, Specification

INF, NAN = math.inf, math.nan
CORNERS = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 2.5, -3.0, 1e300, -1e300, 5e-324, INF, -INF, NAN, 3.0, 1e-300]


def nearest(value, fraction_bits, least, most):
    """By the definition: of the two floats around an exact number the nearer one, of two as near the even one."""
    if value == 0:
        return 0.0
    length = value.numerator.bit_length() - value.denominator.bit_length()
    unit = Fraction(2) ** max(length - 2 - fraction_bits, least)
    while abs(value) / unit >= 1 << (fraction_bits + 1):
        unit *= 2
    whole, rest = divmod(abs(value), unit)
    if rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1):
        whole += 1
    size = INF if whole * unit > most else float(whole * unit)
    return -size if value < 0 else size


def test_exact_numbers_are_rounded_once():
    rng = random.Random(5)
    places = itertools.product((-149, -126, -3, 0, 30, 127), (23, 24, 25, 53), (-1, 0, 1, 3))
    numbers = [Fraction(2) ** k + Fraction(2) ** (k - j) * s for k, j, s in places]
    numbers += [n + Fraction(s, 1 << 300) for n in numbers[:] for s in (-1, 1)]
    numbers += [Fraction(rng.getrandbits(80), rng.getrandbits(70) + 1) for _ in range(300)]
    numbers += [Fraction(n) for n in (0, (1 << 24) + 1, (1 << 24) + 3, 1 << 128, (1 << 128) - (1 << 103), 1 << 1024)]
    numbers += [
        Fraction((1 << 128) - (1 << 103) - 1),
        Fraction(1, 1 << 150),
        Fraction(3, 1 << 151),
        Fraction(1, 1 << 1075),
    ]
    for value in itertools.chain.from_iterable((n, -n) for n in numbers):
        single = nearest(value, 23, -149, (2 - Fraction(1, 1 << 23)) * 2**127)
        double = nearest(value, 52, -1074, (2 - Fraction(1, 1 << 52)) * 2**1023)
        assert floats.to_f32(value) == single and floats.to_f64(value) == double, value
        node = term("cast", variable("r", REAL), payload=FLOAT)
        assert apply(node, [value]) == single, value  # the checker's
        if value.denominator == 1:
            assert apply(term("cast", variable("n", INT), payload=DOUBLE), [int(value)]) == double


def test_functions_at_their_corners():
    same = floats.identical
    for x in CORNERS:
        whole = not math.isfinite(x) or x == int(x)
        assert same(floats.ceil(x), x if whole else math.copysign(float(math.ceil(x)), x))
        assert same(floats.floor(x), x if whole else float(math.floor(x)))
        assert same(floats.sqrt(x), x if x == 0 or x != x else NAN if x < 0 else math.sqrt(x))
        assert same(floats.log(x), -INF if x == 0 else NAN if x < 0 or x != x else math.log(x))
        assert floats.to_integer(x) == (int(x) if math.isfinite(x) else 0)
        assert floats.to_real(x) == (Fraction(x) if math.isfinite(x) else 0)
        limited = 0 if x != x else -128 if x < -128 else 127 if x > 127 else int(x)
        assert floats.to_machine(x, -128, 127) == limited
    assert same(floats.ceil(-0.5), -0.0) and same(floats.floor(0.5), 0.0)
    for edge, expected in ((127.9, 127), (128.0, 127), (-128.0, -128), (-128.9, -128), (-129.0, -128), (-127.9, -127)):
        assert floats.to_machine(edge, -128, 127) == expected


def test_quotients_and_powers():
    same = floats.identical
    for x, y in itertools.product(CORNERS, CORNERS):
        if y == 0:
            expected = NAN if x != x or x == 0 else math.copysign(INF, x) * math.copysign(1.0, y)
        else:
            expected = x / y
        assert same(floats.fdiv(x, y), expected), (x, y)
    for x, y, expected in (
        (-0.0, -3.0, -INF), (0.0, -3.0, INF), (-0.0, -2.0, INF), (-0.0, -2.5, INF), (-2.0, 0.5, NAN),
        (-1e300, 3.0, -INF),
        (-1e300, 2.0, INF), (1e300, 2.0, INF), (1e300, 3.0, INF), (2.0, 10.0, 1024.0), (NAN, 0.0, 1.0), (1.0, NAN, 1.0),
        (-8.0, 1 / 3, NAN),
    ):  # fmt: skip
        assert same(floats.power(x, y), expected), (x, y)
    assert same(floats.sinh(-1e4), -INF) and same(floats.cosh(-1e4), INF) and same(floats.exp(1e4), INF)
    assert same(floats.asin(2.0), NAN) and same(floats.sin(INF), NAN)


def test_identity():
    for i, x in enumerate(CORNERS):
        for j, y in enumerate(CORNERS):
            assert floats.identical(x, y) == (i == j)
    assert floats.identical(1, 1) and not floats.identical(1, True) and not floats.identical(1, 1.0)
    assert not floats.identical(1.0, 1) and floats.identical(Fraction(1), Fraction(1))


def test_composites_with_nan_are_not_equal():
    a, b = (variable(name, array_of(DOUBLE, 2)) for name in "ab")
    equal = term("eq", a, b)
    for x, y, expected in (
        ((NAN, 1.0), (NAN, 1.0), False),
        ((0.0, 1.0), (-0.0, 1.0), True),
        ((1.0, 2.0), (1.0, 3.0), False),
    ):
        assert meaning(equal)(x, y) is expected is apply(equal, [x, y])
        assert value_of(term("ne", a, b), {a: x, b: y}) is not expected


def test_constants_in_the_python_of_a_run():
    x, r, n = variable("x", DOUBLE), variable("r", REAL), variable("n", INT)
    shown = [term("add", x, constant(DOUBLE, v)) for v in (INF, -INF, NAN, -0.0, 0.5, -0.5, 1e-300)]
    shown += [term("mul", r, constant(REAL, v)) for v in (Fraction(1, 3), Fraction(-7, 2), Fraction(4))]
    shown += [term("sub", n, constant(INT, v)) for v in (-3, 0, 10**30)]
    inputs = tuple(Input(v.payload, v.type, True, "", "", None) for v in (x, r, n))
    named = tuple(Named(f"o{i}", t, None) for i, t in enumerate(shown))
    planned = plan(Specification("s", inputs, (), (), (), (), named, (), (), None))
    (step,) = stepper(planned)([(-0.0, Fraction(2, 5), 7)])
    for node, value in zip(shown, step.observers.values(), strict=True):
        assert floats.identical(value, value_of(node, {x: -0.0, r: Fraction(2, 5), n: 7}))
    assert PythonWriter([x], {}).constant(3) != ""


INTERVALS = """
    shl 3..4 1..2 is 6..16, shl -3..4 1..2 is -12..16, shl 1..1 -1..2 is 0..4, shl 3..3 -2..-1 is 0..3
    shr 5..9 1..2 is 1..4, shr -9..5 1..1 is -5..2, shr 8..8 0..3 is 1..8
    mod 0..9 5..5 is 0..4, mod 0..3 5..5 is 0..3, mod -1..9 5..5 is 0..4, mod -9..9 -5..-5 is -4..0
    rem 0..9 5..5 is 0..4, rem 0..9 -5..-5 is 0..4, rem -9..0 5..5 is -4..0, rem -9..9 3..5 is -4..4
    rem -3..3 5..6 is -3..3, rem -2..9 5..5 is -2..4, rem -9..2 5..5 is -4..2, rem -9..9 0..5 is -9..9
    rem 0..9 10..11 is 0..9, rem 0..9 9..9 is 0..8
    bitand 3..9 1..4 is 0..4, bitand -1..9 1..4 is 0..4, bitand 3..9 -4..-1 is 0..9
    bitor 3..9 1..4 is 3..15, bitor 0..8 0..7 is 0..15, bitxor 3..9 1..4 is 0..15, bitxor 0..7 0..7 is 0..7
    bitnot 3..9 is -10..-4, abs -3..2 is 0..3, abs -3..-1 is 1..3, abs 2..5 is 2..5
"""


def ends(text):
    return tuple(map(int, text.split("..")))


@pytest.mark.parametrize("row", [row.strip() for row in INTERVALS.replace("\n", ",").split(",") if row.strip()])
def test_intervals_of_results(row):
    given, _, expected = row.partition(" is ")
    op, *spans = given.split()
    assert RULES[op](*map(ends, spans)) == ends(expected)


def test_floats_as_integers_have_a_form_for_solvers():
    for source, width in itertools.product((FLOAT, DOUBLE), (8, 16, 32, 64, 100)):
        for signed in (False, True):
            assert f"bv {width})" in _from_float("x", source, machine(width, signed=signed))
    for width in (128, 200):  # their bounds are no floats
        with pytest.raises(Unrenderable):
            _from_float("x", FLOAT, machine(width, signed=True))
        assert _from_float("x", DOUBLE, machine(width, signed=True))
