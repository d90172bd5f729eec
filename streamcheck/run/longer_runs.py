"""Violations that a shorter one may replace.

A violation is shown once no shorter one is left, or the search for one has had as long as it took to find this one, and
a second more.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from streamcheck.run.decision import Decision

SHORTEN = 1.0  # seconds that the search for a shorter violation has at least


@dataclass(slots=True, eq=False)
class LongerRuns:
    """`true_up_to` are the steps up to which properties are known to hold. Nobody looks for shorter runs of those of
    `any_length`. `for_ever`: the search has no end."""

    true_up_to: Mapping[str, int]
    any_length: AbstractSet[str] = frozenset()
    for_ever: bool = field(kw_only=True)
    decisions: dict[str, Decision] = field(default_factory=dict)
    _next: float = math.inf  # no time is over before

    def add(self, decision: Decision) -> None:
        """Keep it, unless one that is not longer is known."""
        known = self.decisions.get(decision.name)
        if known is None or decision.k < known.k:
            self.decisions[decision.name] = decision
            self._next = min(self._next, self._end(decision))

    def due(self, now: float) -> Iterator[Decision]:
        """Those whose time is over; they are kept no more."""
        if now >= self._next:
            yield from self._due_among(list(self.decisions.values()), now)
            self._next = min(map(self._end, self.decisions.values()), default=math.inf)

    def due_of(self, prop: str, now: float) -> Iterator[Decision]:
        """The one of this property, if its time is over or it is the shortest."""
        if prop in self.decisions:
            yield from self._due_among([self.decisions[prop]], now)

    def _due_among(self, decisions: Iterable[Decision], now: float) -> Iterator[Decision]:
        for decision in decisions:
            if self.decisions.get(decision.name) is not decision:
                continue  # it went while another was shown
            up_to = self.true_up_to.get(decision.name, -1)
            decision.shortest = up_to >= decision.k - 1 or decision.name in self.any_length
            if decision.shortest or now >= self._end(decision):
                del self.decisions[decision.name]
                yield decision

    def _end(self, decision: Decision) -> float:
        return math.inf if self.for_ever else 2 * decision.seconds + SHORTEN
