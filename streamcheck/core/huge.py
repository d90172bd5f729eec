"""Numbers beyond reason: a stream like `x*x` over Int doubles its digits at every step."""

from __future__ import annotations

from fractions import Fraction

from streamcheck.core.types import Type, Value, part_names, scalar_parts

HUGE = 4096  # bits of a number


def is_unbounded(type: Type) -> bool:
    """True if values of the type may have numbers of any size."""
    return any(part.kind in ("integer", "real") for _, part in part_names("", type))


def is_huge(value: Value) -> bool:
    """True of numbers that cost more with each step, and of values with such parts."""
    numbers = (part for part in scalar_parts(value) if isinstance(part, int | Fraction))
    return any(max(n.numerator.bit_length(), n.denominator.bit_length()) > HUGE for n in numbers)
