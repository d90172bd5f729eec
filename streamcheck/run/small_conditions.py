"""Conditions without those that say nothing new: what the others imply goes, as far as a solver sees it soon."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.simplify import conjunction, negation, simplify
from streamcheck.core.term import TRUE, Term, walk
from streamcheck.core.types import ArrayType, StructType
from streamcheck.smt.solver import Solver

PATIENCE = 200_000  # of the solver's work for a condition: some hundredths of a second
MOST = 200  # conditions of a place that are looked at


def small_conditions(at: Mapping[str, Term]) -> dict[str, Term]:
    """Conditions of places, each without what is implied; none of places where nothing is left."""
    small = {place: conjunction(*without_implied(conjuncts(t))) for place, t in at.items()}
    return {place: t for place, t in small.items() if t is not TRUE}


def without_implied(conditions: Iterable[Term]) -> list[Term]:
    """The conditions without those that the others imply: the largest go first, and of equal ones the last. Those of
    whole arrays and structs stay."""
    given = list(dict.fromkeys(conditions))
    conditions = [t for t in given if not any(isinstance(node.type, ArrayType | StructType) for node in walk([t]))]
    wide = [t for t in given if t not in conditions]
    simple = simplify(conditions)
    left = list(dict.fromkeys(part for t in conditions for part in conjuncts(simple[t])))
    if len(left) > MOST:
        return [*left, *wide]
    solver = Solver(PATIENCE)
    place = {t: i for i, t in enumerate(left)}
    for part in sorted(left, key=lambda t: (size(t), place[t]), reverse=True):
        others = [t for t in left if t is not part]
        # others ∧ ¬part
        if solver.check(*others, negation(part)) is False:
            left = others
    return [*left, *wide]


def size(t: Term) -> int:
    """The number of nodes."""
    return sum(1 for _ in walk([t]))
