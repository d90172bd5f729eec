"""Cubes: conjunctions of literals over the state, as tuples of Bool terms. The lemma of a cube is its negation.

A bound is a literal  Σ >= c,  Σ <= c  (Int),  also  >, <  (Real, floats). Of two bounds on one sum in one direction,
one implies the other, so many questions can be answered without the solver.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from streamcheck.core.simplify import disjunction, negation
from streamcheck.core.term import Term, term

Cube: TypeAlias = tuple[Term, ...]
ARITHMETIC = ("integer", "real")


def lemma(cube: Cube) -> Term:
    """¬cube"""
    return disjunction(*(negation(literal) for literal in cube))


def is_bound(literal: Term) -> bool:
    if literal.op not in ("ge", "le", "gt", "lt") or not literal.args[1].is_const:
        return False
    bound = literal.args[1].payload
    return _is_number(literal) or (literal.args[0].type.kind == "float" and bound == bound)  # which NaN is not


def _is_number(literal: Term) -> bool:
    return literal.args[0].type.kind in ARITHMETIC


def is_equality(literal: Term) -> bool:
    return literal.op in ("eq", "same") and _is_number(literal)


class Facts:
    """The literals of a cube, indexed to look up if another literal follows from one of them."""

    def __init__(self, cube: Iterable[Term]) -> None:
        self.literals = frozenset(cube)
        self.lows: dict[Term, tuple[object, bool]] = {}  # sum: its greatest lower bound; is it strict?
        self.highs: dict[Term, tuple[object, bool]] = {}
        for literal in split(self.literals):
            if is_bound(literal) and not self.imply_bound(literal):
                side = self.lows if literal.op in ("ge", "gt") else self.highs
                side[literal.args[0]] = literal.args[1].payload, literal.op in ("gt", "lt")

    def imply(self, literal: Term) -> bool:
        """True if the literal follows from one of the literals."""
        return literal in self.literals or (is_bound(literal) and self.imply_bound(literal))

    def imply_bound(self, literal: Term) -> bool:
        """True if the bound follows from one of the bounds on the same sum."""
        lower = literal.op in ("ge", "gt")
        known = (self.lows if lower else self.highs).get(literal.args[0])
        if known is None:
            return False
        bound, strict = known
        wanted = literal.args[1].payload
        closer = bound > wanted if lower else bound < wanted
        return closer or (bound == wanted and (strict or literal.op in ("ge", "le")))

    def source(self, bound: Term) -> Term:
        """A literal that implies the bound; there is one."""
        near = (c for c in self.literals if c.args and c.args[0] is bound.args[0])
        return next(c for c in near if Facts((c,)).imply(bound))

    def imply_all(self, cube: Cube) -> bool:
        """True if the other cube syntactically subsumes this one."""
        return all(map(self.imply, cube))


def strongest(cube: Iterable[Term]) -> Cube:
    """The cube without bounds that another literal implies."""
    kept = tuple(dict.fromkeys(cube))
    for literal in kept:
        if is_bound(literal):
            others = tuple(c for c in kept if c is not literal)
            if Facts(c for c in others if c.args and c.args[0] is literal.args[0]).imply(literal):
                kept = others
    return kept


def split(cube: Iterable[Term]) -> Cube:
    """Equalities of numbers as two inequalities [Laurent, "A naive patch to solve the last case"]."""
    parts: dict[Term, None] = {}
    for literal in cube:
        if is_equality(literal):
            parts[term("le", *literal.args)] = None
            parts[term("ge", *literal.args)] = None
        else:
            parts[literal] = None
    return tuple(parts)


def rejoin(cube: Cube) -> Cube:
    """The inverse of `split`."""
    present = set(cube)
    kept: list[Term] = []
    for literal in cube:
        if literal.op in ("le", "ge") and _is_number(literal):
            other = term("ge" if literal.op == "le" else "le", *literal.args)
            if other in present:
                if literal.op == "le":
                    kept.append(term("eq", *literal.args))
                continue
        kept.append(literal)
    return tuple(kept)
