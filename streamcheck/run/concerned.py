"""Which clusters of properties a fact is of use to: so the cost of a fact does not grow with the number of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from streamcheck.core.term import Term, variables
from streamcheck.engines.protocol import Fact, Invariants, Settled, TrueUpTo
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Falsified, Proved

NONE: frozenset[int] = frozenset()


class Concerned:
    """The clusters of a system, by their properties and their variables."""

    def __init__(self, clusters: Sequence[TransitionSystem]) -> None:
        self._of_property = {p.name: i for i, cluster in enumerate(clusters) for p in cluster.properties}
        self._with_variable: dict[Term, set[int]] = {}
        for i, cluster in enumerate(clusters):
            for var in (*(s.var for s in cluster.state), *cluster.inputs):
                self._with_variable.setdefault(var, set()).add(i)
        self._every = range(len(clusters))

    def clusters(self, fact: Fact) -> list[int]:
        """The numbers of the clusters that have the fact's property, or all variables of one of its invariants."""
        match fact:
            case TrueUpTo(prop) | Settled(prop) | Falsified(prop):
                return self._with(prop)
            case Proved(prop, certificate):
                return sorted({*self._with(prop), *self._with_some(certificate.invariants)})
            case Invariants(certificate):
                return self._with_some(certificate.invariants)
            case _:
                assert_never(fact)

    def _with(self, prop: str) -> list[int]:
        return [self._of_property[prop]] if prop in self._of_property else []

    def _with_some(self, invariants: Iterable[Term]) -> list[int]:
        return sorted({i for invariant in invariants for i in self._with_all(variables([invariant]))})

    def _with_all(self, those: Sequence[Term]) -> Iterable[int]:
        places = sorted((self._with_variable.get(v, NONE) for v in those), key=len)
        if not places:
            return self._every
        found = places[0]
        for other in places[1:]:
            found = found & other  # in time of the smaller one
        return found
