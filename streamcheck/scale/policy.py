"""The next piece of work, and its budget. Pure: no clock, no process, no chance.

A candidate is work on some claims: the engines of a lane, or a whole spec. It gets budgets one after another, each
twice (`Budgets.growth`) the one before. The next budget goes to the candidate with the best odds for each second: the
number of its claims, times the chance that one falls in that budget, by the length of the budget.

The chance comes from what is known of proof times: they have heavy tails, so of those that have had `s` seconds,

    P(falls before s + b | not before s) = 1 - ((1 + s/scale) / (1 + (s + b)/scale)) ** shape        (Lomax)

and from how candidates of the same kind fared in this run: each has tries and successes by the number of its budgets,
which outweigh the formula as they come in. So easy claims fall first, and a kind of work that decides nothing steps
back. Of candidates with like odds (within a factor of `LIKE`) the one goes first whose share has had the least: a spec
with many claims does not keep one with few waiting.

Candidates of one kind, number of budgets and size are a class, with the same odds: finding the best one costs as much
as there are classes, whatever the number of candidates.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

SHAPE, SCALE = 1.7, 0.56  # of 60 Lustre problems: `tools/farm.py --fit`; seconds
WEIGHT = 8.0  # of the formula, in tries
LIKE = 1.5
NO_TRIES = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Budgets:
    """The seconds that a candidate gets, by the number of those before."""

    first: float = 0.5
    growth: float = 2.0
    most: float = 60.0

    def __getitem__(self, turn: int) -> float:
        return min(self.most, self.first * self.growth ** min(turn, 60))


@dataclass(slots=True, eq=False)
class Candidate:
    """Work that may be done. `after` are the seconds that others should have first; `share` is whose it is."""

    key: str
    share: str
    kind: str = ""
    claims: int = 1
    after: float = 0.0
    spent: float = 0.0
    turns: int = 0
    is_out: bool = False  # it has a budget now
    _ticket: int = -1  # of its place in a class


OfClass: TypeAlias = tuple[str, int, int, int]


@dataclass(slots=True)
class Policy:
    """Candidates, and what is known of their kinds."""

    budgets: Budgets = field(default_factory=Budgets)
    _candidates: dict[str, Candidate] = field(default_factory=dict)
    _waiting: dict[OfClass, list[tuple[float, float, int, str]]] = field(default_factory=dict)  # heaps
    _served: dict[str, float] = field(default_factory=dict)  # seconds, by share
    _tries: dict[tuple[str, int], tuple[float, float]] = field(default_factory=dict)  # and successes
    _ranks: dict[OfClass, tuple[tuple[float, float], int]] = field(default_factory=dict)  # with the tries they are of
    _tickets: int = 0

    def __len__(self) -> int:
        return len(self._candidates)

    def __contains__(self, key: str) -> bool:
        return key in self._candidates

    def __getitem__(self, key: str) -> Candidate:
        return self._candidates[key]

    def add(self, candidate: Candidate) -> None:
        """Let it wait, in the place of one of the same key."""
        self._candidates[candidate.key] = candidate
        self._served.setdefault(candidate.share, 0.0)
        self._wait(candidate)

    def remove(self, key: str) -> None:
        self._candidates.pop(key, None)

    def next(self, left: float = math.inf) -> tuple[Candidate, float] | None:
        """The candidate whose turn it is, with its budget, of which `left` is the most. None if none waits."""
        if left <= 0:
            return None
        best = max(self._classes(), key=self._rank, default=None)
        if best is None:
            return None
        candidate = self._candidates[heapq.heappop(self._waiting[best])[3]]
        candidate.is_out, candidate._ticket = True, -1
        return candidate, min(left, self.budgets[candidate.turns])

    def came_back(self, key: str, spent: float, decided: int) -> None:
        """Its budget is used: it has decided so many claims. It waits for the next one once it is told to."""
        candidate = self._candidates.get(key)
        if candidate is None:
            return
        tries, hits = self._tries.get((candidate.kind, candidate.turns), NO_TRIES)
        self._tries[candidate.kind, candidate.turns] = tries + 1, hits + (decided > 0)
        self._served[candidate.share] = self._served.get(candidate.share, 0.0) + spent
        candidate.spent += spent
        candidate.turns += 1
        candidate.claims = max(1, candidate.claims - decided)
        candidate.is_out = False

    def wait(self, key: str, claims: int | None = None) -> None:
        """Let it wait for its next budget, or for the same again if nothing came back. So many claims are left."""
        candidate = self._candidates.get(key)
        if candidate is not None:
            candidate.claims = candidate.claims if claims is None else max(1, claims)
            self._wait(candidate)

    def odds(self, candidate: Candidate) -> float:
        """The chance that it decides a claim with its next budget."""
        return self._odds(_class_of(candidate))

    def _wait(self, candidate: Candidate) -> None:
        self._tickets += 1
        candidate.is_out, candidate._ticket = False, self._tickets
        place = self._served.get(candidate.share, 0.0), candidate.after, self._tickets, candidate.key
        heapq.heappush(self._waiting.setdefault(_class_of(candidate), []), place)

    def _classes(self) -> Iterator[OfClass]:
        """The classes in which a candidate waits, the one with the least served share at the front of each."""
        for own in list(self._waiting):
            heap = self._waiting[own]
            while heap:
                served, after, ticket, key = heap[0]
                candidate = self._candidates.get(key)
                if candidate is None or candidate._ticket != ticket:
                    heapq.heappop(heap)  # it is gone, or waits elsewhere
                elif served < (now := self._served[candidate.share]):
                    heapq.heapreplace(heap, (now, after, ticket, key))  # its share has been served since
                else:
                    yield own
                    break
            if not heap:
                del self._waiting[own]

    def _rank(self, own: OfClass) -> tuple[int, float, float, int]:
        """Better odds first, then the share that has had the least, then what should begin first, then who waits."""
        kind, turns, size, _ = own
        tries = self._tries.get((kind, turns), NO_TRIES)
        of, rank = self._ranks.get(own, (None, 0))
        if of is not tries:
            each_second = 2.0**size * self._odds(own) / self.budgets[turns]
            rank = round(math.log(each_second, LIKE))
            self._ranks[own] = tries, rank
        served, after, ticket, _ = self._waiting[own][0]
        return rank, -served, -after, -ticket

    def _odds(self, own: OfClass) -> float:
        kind, turns, _, late = own
        tries, hits = self._tries.get((kind, turns), NO_TRIES)
        chance: float = (hits + WEIGHT * self._formula(turns, late / 2)) / (tries + WEIGHT)
        return chance

    def _formula(self, turns: int, after: float) -> float:
        begin = after + sum(self.budgets[i] for i in range(min(turns, 40)))
        end = begin + self.budgets[turns]
        chance: float = 1 - ((1 + begin / SCALE) / (1 + end / SCALE)) ** SHAPE
        return chance


def _class_of(candidate: Candidate) -> OfClass:
    return candidate.kind, candidate.turns, candidate.claims.bit_length() - 1, round(2 * candidate.after)


@dataclass(slots=True)
class RoundRobin(Policy):
    """The same budget for each in turn: what the policy is measured against."""

    def _rank(self, own: OfClass) -> tuple[int, float, float, int]:
        return 0, -own[1], 0.0, -self._waiting[own][0][2]
