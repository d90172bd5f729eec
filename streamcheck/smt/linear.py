"""Linear arithmetic: rows, and literals about them in the standard form of [Laurent, "The Cooper algorithm"].

A row is a sum  a1·x1 + … + an·xn + c  of leaves with integer factors. A leaf is a variable, or a term kept as it
is (`x * y`, `x % 2`). A literal is one of

    0 < row    0 <= row (over Real only)    0 = row    0 ≠ row    m | row    ¬(m | row)

Literals are normalised: factors without a common divisor, bounds over Int as tight as they can be, so that equal
literals are one term when they become terms again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import gcd, lcm
from typing import assert_never

from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import INT, REAL, Value

Number = int | Fraction


class Kind(Enum):
    POSITIVE = "0 < row"
    NONNEGATIVE = "0 <= row"
    ZERO = "0 = row"
    NONZERO = "0 ≠ row"
    DIVIDES = "m | row"
    NOT_DIVIDES = "¬(m | row)"


INEQUALITIES = (Kind.POSITIVE, Kind.NONNEGATIVE)
DIVISIBILITIES = (Kind.DIVIDES, Kind.NOT_DIVIDES)


@dataclass(frozen=True, slots=True)
class Row:
    """Factors by leaf (none is zero), and the constant."""

    of: Mapping[Term, Number]
    constant: Number

    def plus(self, other: Row, factor: Number = 1) -> Row:
        """self + factor · other."""
        of = dict(self.of)
        for leaf, a in other.of.items():
            total = of.pop(leaf, 0) + factor * a
            if total:
                of[leaf] = total
        return Row(of, self.constant + factor * other.constant)

    def times(self, factor: Number) -> Row:
        if not factor:
            return Row({}, 0)
        return Row({leaf: a * factor for leaf, a in self.of.items()}, self.constant * factor)

    def plus_constant(self, by: Number) -> Row:
        return Row(self.of, self.constant + by)

    def factor(self, leaf: Term) -> Number:
        return self.of.get(leaf, 0)

    def without(self, leaf: Term) -> Row:
        return Row({other: a for other, a in self.of.items() if other is not leaf}, self.constant)

    def replace_leaf(self, leaf: Term, by: Row) -> Row:
        return self.without(leaf).plus(by, self.of[leaf]) if leaf in self.of else self

    def value(self, values: Callable[[Term], Value]) -> Number:
        total: Number = self.constant
        for leaf, a in self.of.items():
            total += a * values(leaf)  # type: ignore[operator, assignment]
        return total

    @property
    def is_integer(self) -> bool:
        return all(leaf.type is INT for leaf in self.of)


def row_of(leaf: Term) -> Row:
    return Row({leaf: 1}, 0)


@dataclass(frozen=True, slots=True)
class Literal:
    kind: Kind
    row: Row
    modulus: int = 0  # of divisibilities

    def holds(self, values: Callable[[Term], Value]) -> bool:
        return _truth(self.kind, self.row.value(values), self.modulus)

    def opposite(self) -> Literal:
        match self.kind:
            case Kind.POSITIVE:  # ¬(0 < r): 0 <= -r
                return literal(Kind.NONNEGATIVE, self.row.times(-1))
            case Kind.NONNEGATIVE:
                return literal(Kind.POSITIVE, self.row.times(-1))
            case Kind.ZERO | Kind.NONZERO | Kind.DIVIDES | Kind.NOT_DIVIDES:
                return replace(self, kind=_OPPOSITE[self.kind])
        assert_never(self.kind)

    def replace_leaf(self, leaf: Term, by: Row) -> Literal:
        return literal(self.kind, self.row.replace_leaf(leaf, by), self.modulus) if leaf in self.row.of else self

    @property
    def constant(self) -> bool | None:
        """The truth of a literal without leaves."""
        return None if self.row.of else _truth(self.kind, self.row.constant, self.modulus)

    def key(self) -> tuple[object, ...]:
        return self.kind, self.modulus, self.row.constant, frozenset(self.row.of.items())


_OPPOSITE = {
    Kind.ZERO: Kind.NONZERO,
    Kind.NONZERO: Kind.ZERO,
    Kind.DIVIDES: Kind.NOT_DIVIDES,
    Kind.NOT_DIVIDES: Kind.DIVIDES,
}


def _truth(kind: Kind, value: Number, modulus: int) -> bool:
    match kind:
        case Kind.POSITIVE:
            return value > 0
        case Kind.NONNEGATIVE:
            return value >= 0
        case Kind.ZERO:
            return value == 0
        case Kind.NONZERO:
            return value != 0
        case Kind.DIVIDES:
            return value % modulus == 0
        case Kind.NOT_DIVIDES:
            return value % modulus != 0


def literal(kind: Kind, row: Row, modulus: int = 0) -> Literal:
    """The normalised literal."""
    if kind in DIVISIBILITIES:
        return _divisibility(kind, row, modulus)
    row = row.times(lcm(*(_denominator(a) for a in (*row.of.values(), row.constant))))
    whole = row.is_integer
    if kind is Kind.NONNEGATIVE and whole:
        kind, row = Kind.POSITIVE, row.plus_constant(1)
    common = gcd(*(int(a) for a in row.of.values())) if row.of else 1
    if whole and kind is Kind.POSITIVE:  # Σ + c > 0: Σ/g >= ⌈(1 - c)/g⌉
        return Literal(kind, Row(_divide(row, common), 1 + (int(row.constant) - 1) // common))
    if whole and int(row.constant) % common:
        return Literal(kind, Row({}, 1))  # Σ = -c with a factor that does not divide c
    if not whole:
        common = gcd(common, int(row.constant))
    row = Row(_divide(row, common), int(row.constant) // common)
    if kind in (Kind.ZERO, Kind.NONZERO) and _leads_with_minus(row):
        row = row.times(-1)
    return Literal(kind, row)


def _divisibility(kind: Kind, row: Row, modulus: int) -> Literal:
    """m | Σ ai·xi + c with every number taken modulo m, and common divisors taken out."""
    of = {leaf: int(a) % modulus for leaf, a in row.of.items() if a % modulus}
    rest = int(row.constant) % modulus
    common = gcd(modulus, *of.values())
    if rest % common:
        return Literal(kind, Row({}, 1), 2)
    return Literal(kind, Row({leaf: a // common for leaf, a in of.items()}, rest // common), modulus // common)


def _denominator(a: Number) -> int:
    return a.denominator


def _divide(row: Row, by: int) -> dict[Term, Number]:
    return {leaf: int(a) // by for leaf, a in row.of.items()}


def _order(row: Row) -> list[tuple[Term, Number]]:
    """Variables by name, then the other leaves as they came: an order that does not change from run to run."""
    return sorted(row.of.items(), key=lambda item: (item[0].op != "var", str(item[0].payload)))


def _leads_with_minus(row: Row) -> bool:
    return bool(row.of) and _order(row)[0][1] < 0


# Back to terms


def to_term(given: Literal) -> Term:
    """The literal as a Bool term: the leaves on the left, the constant on the right."""
    known = given.constant
    if known is not None:
        return TRUE if known else FALSE
    row = given.row
    if given.kind in DIVISIBILITIES:
        remainder = term("mod", sum_term(row, INT), constant(INT, given.modulus))
        return term("eq" if given.kind is Kind.DIVIDES else "ne", remainder, constant(INT, 0))
    kind = INT if row.is_integer else REAL
    if given.kind in (Kind.ZERO, Kind.NONZERO):
        return _compare("eq" if given.kind is Kind.ZERO else "ne", row, -row.constant, kind)
    flipped = _leads_with_minus(row)
    if kind is INT:  # 0 < Σ + c
        bound = 1 - row.constant
        return _compare("le", row.times(-1), -bound, kind) if flipped else _compare("ge", row, bound, kind)
    strict = given.kind is Kind.POSITIVE
    if flipped:
        return _compare("lt" if strict else "le", row.times(-1), row.constant, kind)
    return _compare("gt" if strict else "ge", row, -row.constant, kind)


def _compare(op: str, row: Row, bound: Number, kind: object) -> Term:
    number = INT if kind is INT else REAL
    return term(op, sum_term(Row(row.of, 0), number), _number(bound, number))


def sum_term(row: Row, kind: object) -> Term:
    """The row as a number term."""
    total: Term | None = None
    for leaf, a in _order(row):
        part = _as(leaf, kind)
        size = part if abs(a) == 1 else term("mul", _number(max(a, -a), kind), part)
        if total is None:
            total = size if a > 0 else term("neg", size)
        else:
            total = term("add" if a > 0 else "sub", total, size)
    rest = row.constant
    if total is None:
        return _number(rest, kind)
    return total if not rest else term("add" if rest > 0 else "sub", total, _number(max(rest, -rest), kind))


def _as(leaf: Term, kind: object) -> Term:
    return leaf if kind is INT or leaf.type is REAL else term("cast", leaf, payload=REAL)


def _number(value: Number, kind: object) -> Term:
    return constant(INT, int(value)) if kind is INT else constant(REAL, Fraction(value))


def distinct(literals: Iterable[Literal]) -> list[Literal]:
    """Without repetitions, and without what is always true."""
    return list({given.key(): given for given in literals if given.constant is not True}.values())
