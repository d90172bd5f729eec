"""SMT-LIB's division of integers: a = b * quotient + remainder with 0 <= remainder < |b|, for b other than 0.

Our operators round down instead, so the result depends on the sign of the divisor. Constants fold.
"""

from __future__ import annotations

from streamcheck.core.simplify import apply, choice
from streamcheck.core.term import Term, constant
from streamcheck.core.types import INT

ZERO = constant(INT, 0)


def quotient(a: Term, b: Term) -> Term:
    if b.is_const and b.payload == 1:
        return a
    if b.is_const and b.payload > 0:
        return apply("floordiv", a, b)
    negative = apply("neg", apply("floordiv", a, apply("neg", b)))
    return negative if b.is_const else choice(apply("gt", b, ZERO), apply("floordiv", a, b), negative)


def remainder(a: Term, b: Term) -> Term:
    if b.is_const and b.payload == 1:
        return ZERO
    return apply("mod", a, apply("abs", b))
