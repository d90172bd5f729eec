"""Normal forms of converted, compared and divided terms, by identities that hold for all values.

C computes in int what is stored in less, and gives truth values as ints. These constructors undo both if that
changes nothing: conversions of conversions, arithmetic modulo 2^w seen through a truncation, comparisons and divisions
of widened values, and a number that is a condition.
"""

from __future__ import annotations

from functools import cache

from streamcheck.core.simplify import either, negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant
from streamcheck.core.types import BOOL, EnumType, FloatType, MachineType, Type

DEPTH = 30  # how far conversions are pushed into a term (heuristic)


def number(type: Type, value: int) -> Term:
    """A whole number as a constant of any scalar type."""
    if type is BOOL:
        return TRUE if value else FALSE
    return constant(type, float(value) if isinstance(type, FloatType) else value)


# Conversions


def recast(x: Term, to: Type, depth: int = 0) -> Term:
    """A conversion, modulo 2^w if the value does not fit."""
    if x.type is to:
        return x
    return simple_term("cast", x, payload=to) if depth > DEPTH else _recast(x, to, depth + 1)


@cache
def _recast(x: Term, to: Type, depth: int) -> Term:
    if not isinstance(x.type, MachineType) or not isinstance(to, MachineType):
        return simple_term("cast", x, payload=to)
    narrower = to.width <= x.type.width
    if x.op == "cast":
        inner = x.args[0].type
        whole = isinstance(inner, MachineType | EnumType)
        if inner is BOOL or (whole and narrower) or (isinstance(inner, MachineType) and _holds(x.type, inner)):
            return recast(x.args[0], to, depth)
    if narrower and x.op in ("add", "sub", "mul", "bitand", "bitor", "bitxor", "neg", "bitnot"):
        return simple_term(x.op, *(recast(a, to, depth) for a in x.args))
    if x.op == "mux":
        return either(x.args[0], recast(x.args[1], to, depth), recast(x.args[2], to, depth))
    return simple_term("cast", x, payload=to)


def _holds(wide: MachineType, narrow: MachineType) -> bool:
    return wide.low <= narrow.low and narrow.high <= wide.high


@cache
def truth(x: Term) -> Term:
    """x != 0."""
    if x.type is BOOL:
        return x
    condition = condition_of(x)
    if condition is not None:
        return condition
    if x.op == "mux":
        return either(x.args[0], truth(x.args[1]), truth(x.args[2]))
    return simple_term("ne", x, number(x.type, 0))


def condition_of(x: Term) -> Term | None:
    """The condition of a number that is 1 if it holds and else 0."""
    if x.type is BOOL:
        return x
    if x.op == "cast" and x.args[0].type is BOOL:
        return x.args[0]
    if x.op == "mux" and x.type.is_integer and x.args[1].is_const and x.args[2].is_const:
        return x.args[0] if (x.args[1].payload, x.args[2].payload) == (1, 0) else None
    return None


# Widened operands


def comparison(op: str, a: Term, b: Term) -> Term:
    """A comparison, in the narrow type if both sides are widened from it."""
    for one, other in ((a, b), (b, a)):
        condition = condition_of(one)
        if op in ("eq", "ne") and condition is not None and other.is_const and other.payload in (0, 1):
            return condition if bool(other.payload) == (op == "eq") else negation(condition)
    narrow = _widened_from(a) or _widened_from(b)
    if narrow is None or (narrow is BOOL and op not in ("eq", "ne")):
        return simple_term(op, a, b)
    sides = [_narrow_term(x, narrow) for x in (a, b)]
    return (
        simple_term(op, *(side or x for side, x in zip(sides, (a, b), strict=True)))
        if all(sides)
        else simple_term(op, a, b)
    )


def _widened_from(x: Term) -> Type | None:
    """The type of what a term is a conversion of that keeps every value."""
    if x.op != "cast" or not isinstance(x.type, MachineType):
        return None
    inner = x.args[0].type
    keeps = inner is BOOL or isinstance(inner, EnumType) or (isinstance(inner, MachineType) and _holds(x.type, inner))
    return inner if keeps else None


def _narrow_term(x: Term, to: Type) -> Term | None:
    """The term of the narrow type that `x` is a conversion of."""
    if _widened_from(x) is to:
        return x.args[0]
    if not x.is_const:
        return None
    if to is BOOL:
        return number(BOOL, x.payload) if x.payload in (0, 1) else None
    if isinstance(to, EnumType):
        return constant(to, x.payload) if x.payload in to.codes else None
    return constant(to, x.payload) if isinstance(to, MachineType) and to.low <= x.payload <= to.high else None


def division(op: str, a: Term, b: Term) -> Term:
    """quot or rem. Of widened values it is the one of their own type, but for the quotient by -1, which may not fit."""
    narrow = _widened_from(a)
    if isinstance(narrow, MachineType) and not b.is_const:
        x, y = _narrow_term(a, narrow), _narrow_term(b, narrow)
        if x is not None and y is not None:
            inside = recast(simple_term(op, x, y), a.type)
            if not narrow.signed or op == "rem":
                return inside
            return either(simple_term("eq", y, constant(narrow, -1)), simple_term("neg", a), inside)
    return simple_term(op, a, b)
