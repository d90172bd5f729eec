"""Quantifier elimination that keeps a value: terms for variables with which a condition stays true in a model.

The literals that the condition needs in the model are taken (`smt.implicant`). Each of the variables then has the test
point of them that the elimination of `smt.cooper` would take, as a term: over Int a bound and an offset, below all
upper bounds if there is no lower one; over Real a bound or the middle between two. A linear condition has finitely many
test points, so finitely many terms do for all of its models [Cooper72]; [KFGGBGW18] calls them Skolem terms.

Limitations: a variable of another type keeps the model's value; so does a factor of what is not linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce

from streamcheck.core.evaluate import Evaluation, evaluate
from streamcheck.core.simplify import instantiate, simple_term
from streamcheck.core.term import Term, constant
from streamcheck.core.types import INT, REAL, Value
from streamcheck.smt.cooper import (
    MOST_MODULUS,
    Valuation,
    integer_point,
    project,
    real_point,
    with_unit,
)
from streamcheck.smt.implicant import Implicant
from streamcheck.smt.linear import INEQUALITIES, Kind, Literal, Row, sum_term

ARITHMETIC = ("integer", "real")


def witness(root: Term, values: Mapping[Term, Value], chosen: Sequence[Term]) -> dict[Term, Term] | None:
    """Terms for the chosen variables, over the others, with which the root holds in the model, as it does without. None
    if it does not with the terms found."""
    fixed = {v: constant(v.type, values[v]) for v in chosen if v.type.kind not in ARITHMETIC}
    numbers = [v for v in chosen if v not in fixed]
    evaluation = Evaluation(values)
    implicant = Implicant(evaluation, numbers)
    implicant.require(instantiate([root], fixed)[root])
    left = implicant.linear_literals()
    points: dict[Term, Term] = {}
    for x in reversed(numbers):
        points[x] = _point(x, [g for g in left if x in g.row.of], evaluation.of)
        left = project(x, left, evaluation.of)
    found = dict(fixed)
    for x in numbers:  # the point of each is a term over those before it
        found[x] = instantiate([points[x]], found)[points[x]]
    return found if _holds(root, found, values) else None


def _holds(root: Term, terms: Mapping[Term, Term], values: Mapping[Term, Value]) -> bool:
    at = evaluate(terms.values(), values)
    return bool(evaluate([root], {**values, **{v: at[t] for v, t in terms.items()}})[root])


def _point(x: Term, about: list[Literal], values: Valuation) -> Term:
    if not about or (x.type is INT and not all(g.row.is_integer for g in about)):
        return constant(x.type, values(x))
    return _integer_term(x, about, values) if x.type is INT else _real_term(x, about, values)


def _integer_term(x: Term, about: list[Literal], values: Valuation) -> Term:
    """The value at the test point of the scaled literals, divided by the scale."""
    about, unit, period = with_unit(x, about)
    if period > MOST_MODULUS:
        return constant(INT, values(x))
    point = integer_point(about, x, unit, period, values)
    if point.base is not None:
        total = sum_term(point.base.plus_constant(point.offset), INT)
    elif uppers := _uppers(x, about, unit * values(x), values):
        least = reduce(lambda a, b: simple_term("min", a, b), uppers)
        too_much = simple_term("sub", least, constant(INT, point.offset))
        total = least if period == 1 else simple_term("sub", least, simple_term("mod", too_much, constant(INT, period)))
    else:
        total = constant(INT, point.offset)
    return total if unit == 1 else simple_term("floordiv", total, constant(INT, unit))


def _real_term(x: Term, about: list[Literal], values: Valuation) -> Term:
    point = real_point(about, x, values)
    uppers = _uppers(x, about, values(x), values)
    one = constant(REAL, Fraction(1))
    if point.base is not None and not point.above:
        return sum_term(point.base, REAL)
    if not uppers:
        return constant(REAL, values(x)) if point.base is None else sum_term(point.base.plus_constant(1), REAL)
    least = reduce(lambda a, b: simple_term("min", a, b), uppers)
    if point.base is None:
        return simple_term("sub", least, one)
    both = simple_term("add", sum_term(point.base, REAL), least)
    return simple_term("div", both, constant(REAL, Fraction(2)))


def _uppers(x: Term, about: Iterable[Literal], at: Value, values: Valuation) -> list[Term]:
    """The upper bounds of x: over Int the greatest values, over Real those that it stays below or reaches."""
    found: dict[Term, None] = {}
    for g in about:
        factor, whole = g.row.of[x], x.type is INT
        bound: Row = g.row.without(x).times(Fraction(-1) / factor)
        is_above = g.kind is Kind.NONZERO and bound.value(values) > at  # type: ignore[operator]
        if is_above or (g.kind in INEQUALITIES and factor < 0):
            found[sum_term(bound.plus_constant(-1) if whole else bound, x.type)] = None
    return list(found)
