"""Quantifier elimination for linear arithmetic, exact and approximate.

[Laurent, "The Cooper algorithm"], after [Cooper72]: in a formula φ whose literals have x with factors -1 and 1 only,

    ∃x. φ[x]  ⟺  ⋁_{j=1..m} φ_-∞[j]  ∨  ⋁_{j=1..m} ⋁_{b ∈ B} φ[b + j]

with m the least common multiple of the moduli of x, and B the boundary points below which a literal changes. Over
Real the same shape with virtual points (Loos and Weispfenning 1993): ∃x. φ ⟺ φ[-∞] ∨ ⋁_{b ∈ B} φ[b] or φ[b + ε].

[Laurent, "With approximate QE"]: of a cube that a model satisfies, only the disjunct that the model satisfies is kept,
so the result is a cube that contains the model and implies the exact one.

Vocabulary: `Point` = -∞, b + j, b, b + ε; `unit_of` = "unit coefficients by the least common multiple"; `_boundaries` =
B; `_at` = the substitution of a point for x in a literal; `eliminate` = exact; `project` = approximate.

A formula is a literal, a Bool term (a literal of its own), or ("and" | "or", parts). Negations are pushed into
literals when a formula is made (`formula`); integer division, remainders and choices become fresh variables with
their definitions, which are eliminated with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TypeAlias, assert_never

from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.core.types import INT, Value
from streamcheck.smt.linear import (
    DIVISIBILITIES,
    INEQUALITIES,
    Kind,
    Literal,
    Number,
    Row,
    distinct,
    literal,
    row_of,
    to_term,
)

Valuation: TypeAlias = Callable[[Term], Value]
MOST_MODULUS = 1 << 40  # larger least common multiples are not worth their precision: the value is fixed (heuristic)


@dataclass(frozen=True, slots=True)
class Point:
    """A test point, put for x: `base` (None: -∞) plus `offset`, plus an infinitesimal if `above`."""

    base: Row | None
    offset: int = 0
    above: bool = False


# Formulas


@dataclass(frozen=True, slots=True, eq=False)
class Junction:
    """A conjunction or a disjunction."""

    op: str
    parts: tuple[Formula, ...]


Formula: TypeAlias = "Literal | Term | Junction"


def junction(op: str, parts: Iterable[Formula]) -> Formula:
    """Flat, without repetitions; constants decide."""
    neutral, absorbing = (TRUE, FALSE) if op == "and" else (FALSE, TRUE)
    kept: dict[object, Formula] = {}
    stack = list(parts)[::-1]
    while stack:
        part = stack.pop()
        if isinstance(part, Junction) and part.op == op:
            stack.extend(reversed(part.parts))
            continue
        if isinstance(part, Literal) and part.constant is not None:
            part = TRUE if part.constant else FALSE
        if part is absorbing:
            return absorbing
        if part is not neutral:
            kept[part.key() if isinstance(part, Literal) else part] = part
    if not kept:
        return neutral
    return next(iter(kept.values())) if len(kept) == 1 else Junction(op, tuple(kept.values()))


def literals(given: Formula) -> Iterator[Literal]:
    stack = [given]
    while stack:
        part = stack.pop()
        match part:
            case Literal():
                yield part
            case Junction():
                stack.extend(part.parts)
            case Term():
                pass
            case _:
                assert_never(part)


def map_literals(given: Formula, change: Callable[[Literal], Formula]) -> Formula:
    match given:
        case Literal():
            return change(given)
        case Junction(op, parts):
            return junction(op, [map_literals(p, change) for p in parts])
        case Term():
            return given
    assert_never(given)


def formula_term(given: Formula) -> Term:
    match given:
        case Literal():
            return to_term(given)
        case Junction("and", parts):
            return conjunction(*map(formula_term, parts))
        case Junction(_, parts):
            return disjunction(*map(formula_term, parts))
        case Term():
            return given
    assert_never(given)


# Points


def unit_of(x: Term, given: Iterable[Literal]) -> int:
    """The least common multiple of the factors of x: φ[x] is taken as φ'[L·x] with L | x' beside it."""
    return lcm(*(abs(int(g.row.factor(x))) for g in given if x in g.row.of))


def scale(given: Literal, x: Term, unit: int) -> Literal:
    """The literal with unit·x taken for a variable of its own, which keeps the name x. It is not normalised: the
    factor of x must stay -1 or 1."""
    if x not in given.row.of:
        return given
    times = abs(unit // int(given.row.factor(x)))
    row = given.row.without(x).times(times)
    sign = 1 if given.row.factor(x) > 0 else -1
    return Literal(given.kind, Row({**row.of, x: sign}, row.constant), given.modulus * times)


def _boundaries(given: Literal, x: Term) -> Iterator[Row]:
    """The points after which a scaled literal over Int may begin to hold, as in the table of [Laurent]."""
    sign = given.row.factor(x)
    rest = given.row.without(x)
    match given.kind:
        case Kind.ZERO:  # 0 = ±x + t:  x = ∓t
            yield rest.times(-sign).plus_constant(-1)
        case Kind.NONZERO:
            yield rest.times(-sign)
        case Kind.POSITIVE if sign > 0:  # 0 < x + t
            yield rest.times(-1)


def _at(given: Literal, x: Term, point: Point) -> Formula:
    """The literal with the point put for x (over Int: x of a scaled literal)."""
    if x not in given.row.of:
        return given
    sign = given.row.of[x]
    if given.kind in DIVISIBILITIES:
        base = point.base or Row({}, 0)
        return literal(given.kind, given.row.replace_leaf(x, base.plus_constant(point.offset)), given.modulus)
    if point.base is None:  # φ_-∞: the leading sign decides
        return TRUE if given.kind is Kind.NONZERO or (given.kind in INEQUALITIES and sign < 0) else FALSE
    put = given.row.replace_leaf(x, point.base.plus_constant(point.offset))
    if not point.above:
        return literal(given.kind, put)
    match given.kind:  # x = b + ε
        case Kind.ZERO:
            return FALSE
        case Kind.NONZERO:
            return TRUE
        case _:  # an inequality
            return literal(Kind.NONNEGATIVE if sign > 0 else Kind.POSITIVE, put)


# Exact elimination


class TooLarge(Exception):
    """The equivalent formula exceeds the size limit."""


LARGEST = 20_000


def with_unit(x: Term, about: list[Literal]) -> tuple[list[Literal], int, int]:
    """The literals about unit·x, the unit, and the period of the remainders."""
    unit = unit_of(x, about)
    scaled = [scale(g, x, unit) for g in about]
    if unit > 1:
        scaled.append(Literal(Kind.DIVIDES, row_of(x), unit))
    return scaled, unit, lcm(1, *(g.modulus for g in scaled if g.kind in DIVISIBILITIES))


def eliminate(x: Term, given: Formula) -> Formula:
    """∃x. φ[x] without x. TooLarge if that takes too many literals."""
    about = [g for g in literals(given) if x in g.row.of]
    if x.type is not INT:
        return _at_any([Point(None), *_real_points(about, x)], x, given)
    unit = unit_of(x, about)
    scaled = map_literals(given, lambda g: scale(g, x, unit))
    scaled = junction("and", [scaled, Literal(Kind.DIVIDES, row_of(x), unit)]) if unit > 1 else scaled
    about = [g for g in literals(scaled) if x in g.row.of]
    period = lcm(1, *(g.modulus for g in about if g.kind in DIVISIBILITIES))
    bases: dict[object, Row | None] = {None: None}
    for g in about:
        for b in _boundaries(g, x):
            bases[(b.constant, frozenset(b.of.items()))] = b
    if period * len(bases) > LARGEST:
        raise TooLarge
    return _at_any([Point(b, j) for b in bases.values() for j in range(1, period + 1)], x, scaled)


def _at_any(points: Sequence[Point], x: Term, given: Formula) -> Formula:
    """φ at one of the points."""
    if len(points) * sum(1 for _ in literals(given)) > LARGEST:
        raise TooLarge
    return junction("or", [map_literals(given, lambda g, p=point: _at(g, x, p)) for point in points])  # type: ignore[misc]


def _real_points(about: Iterable[Literal], x: Term) -> Iterator[Point]:
    for g in about:
        factor = g.row.of[x]
        bound = g.row.without(x).times(_ratio(-1, factor))
        match g.kind:
            case Kind.ZERO:
                yield Point(bound)
            case Kind.NONZERO:
                yield Point(bound, above=True)
            case Kind.NONNEGATIVE if factor > 0:
                yield Point(bound)
            case Kind.POSITIVE if factor > 0:
                yield Point(bound, above=True)


def _ratio(a: int, b: Number) -> Number:
    from fractions import Fraction

    return Fraction(a) / b


# Approximate elimination


def project(x: Term, cube: list[Literal], values: Valuation) -> list[Literal]:
    """A cube without x that implies ∃x. cube and holds in the model; `values` gives the model's value of each leaf."""
    about = [g for g in cube if x in g.row.of]
    rest = [g for g in cube if x not in g.row.of]
    if not about:
        return cube
    if x.type is INT and not all(g.row.is_integer for g in about):
        return distinct([*rest, *(_fix(g, x, values) for g in about)])
    if x.type is not INT:
        point = real_point(about, x, values)
        kept: list[Literal] = [*rest]
    else:
        about, unit, period = with_unit(x, about)
        if period > MOST_MODULUS:
            return distinct([*rest, *(_fix(g, x, values) for g in cube if x in g.row.of)])
        point = integer_point(about, x, unit, period, values)
        kept = [*rest]
    for g in about:
        put = _at(g, x, point)
        if isinstance(put, Literal):
            kept.append(put)
        else:
            assert put is TRUE, "the model satisfies the disjunct it picks"
    return distinct(kept)


def _fix(given: Literal, x: Term, values: Valuation) -> Literal:
    return given.replace_leaf(x, Row({}, values(x)))  # type: ignore[arg-type]


def integer_point(about: list[Literal], x: Term, unit: int, period: int, values: Valuation) -> Point:
    """The greatest boundary below the model's value, or -∞, and the j that keeps the remainders."""
    at: int = unit * values(x)  # type: ignore[assignment]
    best, best_value = None, None
    for g in about:
        for b in _boundaries(g, x):
            value = b.value(values)
            if value < at and (best_value is None or value > best_value):
                best, best_value = b, value
    start = 0 if best_value is None else int(best_value)
    return Point(best, (at - start - 1) % period + 1)


def real_point(about: list[Literal], x: Term, values: Valuation) -> Point:
    """The greatest bound below the model's value (or at it), strict ones last; or -∞."""
    at = values(x)
    best, best_rank = Point(None), None
    for point in _real_points(about, x):
        assert point.base is not None
        rank = (point.base.value(values), point.above)
        below = rank[0] < at or (rank[0] == at and not point.above)  # type: ignore[operator]
        if below and (best_rank is None or rank > best_rank):
            best, best_rank = point, rank
    return best


def negate(given: Formula) -> Formula:
    match given:
        case Literal():
            return given.opposite()
        case Junction(op, parts):
            return junction("or" if op == "and" else "and", [negate(p) for p in parts])
        case Term():
            return negation(given)
    assert_never(given)
