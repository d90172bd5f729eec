"""Numbers beyond reason: a stream like `x*x` over Int doubles its digits at every step."""

from __future__ import annotations

from fractions import Fraction

from streamcheck.core.term import Term
from streamcheck.core.types import Type, Value, part_names, scalar_parts

HUGE = 4096  # bits of a number
MOST_BITS = 1 << 16  # of a number that an engine computes with at all: longer ones are long in writing, too
PRODUCTS = ("mul", "div", "floordiv", "mod", "quot", "rem")


def is_product(node: Term) -> bool:
    """True of products and quotients of two terms that are not constant."""
    return node.op in PRODUCTS and not any(a.is_const for a in node.args)


def is_unbounded(type: Type) -> bool:
    """True if values of the type may have numbers of any size."""
    return any(part.kind in ("integer", "real") for _, part in part_names("", type))


def is_huge(value: Value, bits: int = HUGE) -> bool:
    """True of numbers that cost more with each step, and of values with such parts."""
    numbers = (part for part in scalar_parts(value) if isinstance(part, int | Fraction))
    return any(max(n.numerator.bit_length(), n.denominator.bit_length()) > bits for n in numbers)
