"""Smallest sets that hit each of some sets: what cores leave for cuts, and cuts for cores.

The map of [LPMM16]: a Bool variable for each element, and a clause for each set that is known. A cut hits every core
and a core hits every cut, so that the smallest set which hits all cores known so far is the next question, and an
answer with a smaller cut is impossible."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, variable
from streamcheck.core.types import BOOL
from streamcheck.smt.solver import Solver


class HittingSets:
    """Sets of numbers below `count`, the smallest first."""

    def __init__(self, count: int) -> None:
        self.solver = Solver()
        self.chosen = [variable(f"element {i}", BOOL) for i in range(count)]
        self.size = 0  # no set that is left is smaller

    def must_hit(self, numbers: Iterable[int]) -> None:
        """Only sets with one of these."""
        self.solver.add(disjunction(*(self.chosen[i] for i in numbers)))

    def exclude(self, numbers: Collection[int]) -> None:
        """No set that has all of these."""
        self.solver.add(negation(conjunction(*(self.chosen[i] for i in numbers))))

    def smallest(self) -> frozenset[int] | None:
        """A set of the smallest size that is left. None if none is left."""
        if self.solver.check() is not True:
            return None
        while self.solver.check(self._at_most(self.size)) is not True:
            self.size += 1
        values = self.solver.model()
        return frozenset(i for i, var in enumerate(self.chosen) if values[var] is True)

    def _at_most(self, size: int) -> Term:
        """At most so many are chosen: `more[j]` is true if more than j of those so far are."""
        more: list[Term] = [FALSE] * (size + 1)
        for var in self.chosen:
            before = [TRUE, *more]
            more = [disjunction(more[j], conjunction(var, before[j])) for j in range(size + 1)]
        return negation(more[size])
