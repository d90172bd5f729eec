"""Values in the order of their simplicity, and simpler ones beside a value.

Simpler is what is shorter to read: false before true, members of an enum in their order, integers near 0, and floats
of a common size, whole ones first, then those with few digits. Not a number and infinity are the least simple.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from streamcheck.core.floats import f32
from streamcheck.core.term import Term, walk
from streamcheck.core.types import (
    BoolType,
    EnumType,
    FloatType,
    IntegerType,
    MachineType,
    RealType,
    Type,
    Value,
    float_text,
)

SMALL = (0, 1, -1, 2, 3, 5, 10, 100, 1000)
SHORT = ("0.5", "0.1", "-0.5", "0.25", "0.001")
COMMON = (1e-4, 1e7)  # sizes of floats that people read with ease
MOST_CONSTANTS = 40  # of a type, that are tried
MOST_DIGITS = 16

Accepts = Callable[[Value], bool]


def constants_of(roots: Iterable[Term]) -> dict[Type, list[Any]]:
    """The values of the constants below the roots, by type."""
    found: defaultdict[Type, list[Any]] = defaultdict(list)
    for node in walk(roots):
        if node.is_const and len(found[node.type]) < MOST_CONSTANTS:
            found[node.type].append(node.payload)
    return found


def simple_values(type: Type, constants: Iterable[Any]) -> list[Value]:
    """Values that are tried in the place of any other, the simplest first: small ones, and those at constants."""
    match type:
        case BoolType():
            return [False, True]
        case EnumType():
            return list(type.codes)
        case FloatType() | RealType():
            near = [*SMALL, *SHORT, *(v for c in constants if _is_finite(c) for v in (c, c + 1, c - 1))]
        case _:
            near = [*SMALL, *(v for c in constants for v in (c, c + 1, c - 1))]
    values = [v for number in near for v in _as_value(type, number)]
    return sorted(dict.fromkeys(values), key=lambda v: complexity(type, v))


def complexity(type: Type, value: Value) -> tuple[Any, ...]:
    """A key that is less for simpler values of the type."""
    match type:
        case EnumType():
            return (type.codes.index(value),)
        case FloatType():
            assert isinstance(value, float)
            if not math.isfinite(value):
                return (2 if math.isnan(value) else 1, math.copysign(1.0, value) < 0)
            text, size = float_text(value), abs(value)
            is_common = value == 0 or COMMON[0] <= size < COMMON[1]
            return (0, not is_common, not value.is_integer(), len(text.lstrip("-")), size, text.startswith("-"))
        case RealType():
            assert isinstance(value, Fraction)
            return (value.denominator, len(str(abs(value))), abs(value), value < 0)
    assert isinstance(value, int)
    return (abs(value), value < 0)


def reduce_value(type: Type, value: Value, constants: Iterable[Any], accepts: Accepts) -> bool:
    """True if a simpler value is accepted: of those that are known to be simple the first, else one that is found by
    bisection towards 0, or by leaving out digits."""
    least = complexity(type, value)

    def accepts_simpler(candidate: Value) -> bool:
        return complexity(type, candidate) < least and accepts(candidate)

    if any(accepts_simpler(v) for v in simple_values(type, constants)):
        return True
    match type:
        case MachineType() | IntegerType():
            assert isinstance(value, int)
            return _nearer_to_zero(type, value, accepts_simpler)
        case FloatType() | RealType():
            return _rounder(type, value, accepts_simpler)
    return False


def _nearer_to_zero(type: Type, value: int, accepts: Accepts) -> bool:
    """Bisection between 0, which is refused, and the value."""
    if value < 0 and any(accepts(v) for v in _as_value(type, -value)):
        value = -value
    sign, low, high, found = (-1 if value < 0 else 1), 0, abs(value), False
    while high - low > 1:
        middle = (low + high) // 2
        if accepts(sign * middle):
            high, found = middle, True
        else:
            low = middle
    return found


def _rounder(type: Type, value: Value, accepts: Accepts) -> bool:
    """True if a rounder number is accepted: a power of ten up to the size of the value, else the value with one digit,
    or with ever more digits."""
    number = Fraction(10) ** 300 if not _is_finite(value) else Fraction(value)  # type: ignore[arg-type]
    size = math.floor(math.log10(abs(number))) if number else 0
    signs = (1, -1) if number > 0 else (-1, 1)

    def is_accepted(number: Fraction) -> bool:
        return any(accepts(v) for v in _as_value(type, number))

    def is_power_accepted(sign: int, exponent: int) -> bool:
        return is_accepted(sign * _power(exponent))

    below: dict[bool, int] = {}  # the exponent that was refused last, by whether it is negative
    for exponent in _exponents(size):
        for sign in signs:
            if is_power_accepted(sign, exponent):
                _nearer_to_zero_exponent(below.get(exponent < 0, 0), exponent, partial(is_power_accepted, sign))
                return True
        below[exponent < 0] = exponent
    digits = (signs[0] * digit * _power(exponent) for exponent in (size - 1, size) for digit in range(2, 10))
    return any(map(is_accepted, digits)) or any(map(is_accepted, _with_more_digits(number, size)))


def _exponents(size: int) -> list[int]:
    """Powers of ten up to this size, and those near 0: ever fewer of the large and of the tiny ones."""
    exponents = range(min(size, -2), max(size, 3) + 2)
    return sorted((e for e in exponents if abs(e) <= 8 or e % 16 == 0 or abs(e - size) <= 1), key=abs)


def _power(exponent: int) -> Fraction:
    return Fraction(10**exponent) if exponent >= 0 else Fraction(1, 10**-exponent)


def _nearer_to_zero_exponent(refused: int, accepted: int, accepts: Callable[[int], bool]) -> None:
    """Bisection between two exponents."""
    while abs(accepted - refused) > 1:
        middle = (accepted + refused) // 2
        if accepts(middle):
            accepted = middle
        else:
            refused = middle


def _with_more_digits(number: Fraction, size: int) -> Iterator[Fraction]:
    """The number with one digit, and those beside; with two; and so on."""
    for digits in range(1, MOST_DIGITS):
        unit = _power(size - digits + 1)
        near = round(number / unit)
        yield from (unit * n for n in (near, near - 1, near + 1))


def _as_value(type: Type, number: Any) -> Iterator[Value]:
    """The number as a value of the type, if it is one."""
    match type:
        case MachineType():
            if type.low <= number <= type.high:
                yield int(number)
        case FloatType():
            try:
                near = number if isinstance(number, float) else float(Fraction(number))
            except OverflowError:
                return  # beyond the largest float
            yield f32(near) if type.width == 32 else near
        case RealType():
            yield Fraction(number)
        case _:
            yield int(number)


def _is_finite(value: Value) -> bool:
    return not isinstance(value, float) or math.isfinite(value)
