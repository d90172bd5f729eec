"""The axis-aligned bounding box of a cube: the least and greatest value of each variable that linear arithmetic allows.

[Laurent, "A more general and powerful idea"]. By Fourier-Motzkin elimination over the rationals, so the box may be
larger than the least one around the integer points: it contains the cube, which is all that is needed.
"""

from __future__ import annotations

from collections.abc import Iterable

from streamcheck.core.term import Term
from streamcheck.smt.linear import INEQUALITIES, Kind, Literal, Row, distinct, literal, to_term
from streamcheck.smt.rows import Exact, NotLinear, compare, is_comparison

MOST_ROWS = 60  # Fourier-Motzkin may square their number at each step (heuristic)
MOST_LEAVES = 10


def bounding_box(cube: Iterable[Term]) -> tuple[Term, ...] | None:
    """The cube with its linear inequalities replaced by bounds on single leaves. None if there is nothing to gain,
    or too much to do."""
    rows, others = _rows(cube)
    leaves = list(dict.fromkeys(leaf for r in rows for leaf in r.row.of))
    if not 2 <= len(leaves) <= MOST_LEAVES or all(len(r.row.of) < 2 for r in rows):
        return None
    bounds: list[Literal] = []
    for leaf in leaves:
        left = rows
        for other in leaves:
            if other is not leaf:
                left = _without(other, left)
                if len(left) > MOST_ROWS:
                    return None
        bounds += left
    return tuple(dict.fromkeys([*map(to_term, distinct(bounds)), *others]))


def _rows(cube: Iterable[Term]) -> tuple[list[Literal], list[Term]]:
    """The inequalities (an equality is two), and the literals that are none."""
    rows: list[Literal] = []
    others: list[Term] = []
    for node in cube:
        given = _linear(node)
        if given is None:
            others.append(node)
        elif given.kind is Kind.ZERO:
            rows += [literal(Kind.NONNEGATIVE, given.row), literal(Kind.NONNEGATIVE, given.row.times(-1))]
        elif given.kind in INEQUALITIES:
            rows.append(given)
    return rows, others


def _linear(node: Term) -> Literal | None:
    if not is_comparison(node):
        return None
    try:
        exact = Kept()
        return compare(node.op, *(exact.row(a) for a in node.args))
    except NotLinear:
        return None


class Kept(Exact):
    """Sums; whatever else stands in them is a leaf."""

    def special(self, node: Term, rows: list[Row]) -> Row:
        return Row({node: 1}, 0)


def _without(leaf: Term, rows: list[Literal]) -> list[Literal]:
    lower = [r for r in rows if r.row.factor(leaf) > 0]
    upper = [r for r in rows if r.row.factor(leaf) < 0]
    rest = [r for r in rows if leaf not in r.row.of]
    for low in lower:
        for high in upper:
            rest.append(_combine(leaf, low, high))
    return distinct(rest)


def _combine(leaf: Term, low: Literal, high: Literal) -> Literal:
    f, g = -high.row.of[leaf], low.row.of[leaf]
    row = low.row.times(f).plus(high.row, g)
    if low.row.is_integer and high.row.is_integer:  # 1 <= a and 1 <= b: f + g <= f·a + g·b
        return literal(Kind.POSITIVE, row.plus_constant(1 - f - g))
    strict = Kind.POSITIVE in (low.kind, high.kind)
    return literal(Kind.POSITIVE if strict else Kind.NONNEGATIVE, row)
