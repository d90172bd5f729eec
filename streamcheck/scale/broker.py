"""The policy over a pool: who runs next, for how long, and what begins again.

A unit that was handed out has a lease, which begins when there is a place for it. If its answer is late (its worker is
frozen, or cut off), or damaged, or its worker has gone, the unit waits again; an answer to an earlier attempt counts no
more, so none counts twice. A unit that lost `MOST_LOST` workers has failed: it is probably the reason.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, assert_never

from streamcheck.scale.host import wall_seconds
from streamcheck.scale.policy import Candidate, Policy
from streamcheck.scale.pools import Answered, Gone, LostUnit, Note, PlaceCount, Pool
from streamcheck.scale.units import Damaged, answer_of, seal

MOST_LOST = 4
SLACK = 15.0  # seconds that a message takes on its way, there and back
AHEAD = 2  # units beyond the places that are handed out at least: so that a place is never without one
VERDICTS = ("proved", "falsified", "falsified along")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A unit that waits for a budget."""

    key: str
    share: str
    kind: str
    claims: int
    after: float
    label: str  # what it is called where it runs
    problem: bytes
    row: Mapping[str, Any]  # the unit's message, without its budget


@dataclass(slots=True)
class Lease:
    key: str
    budget: float


@dataclass(eq=False, slots=True)
class Broker:
    pool: Pool
    policy: Policy = field(default_factory=Policy)
    clock: Callable[[], float] = time.monotonic
    lease: Callable[[float], float] = lambda budget: wall_seconds(budget) + SLACK
    note: Callable[[str], None] = lambda _: None
    places: int = 0
    gone: str = ""  # why nothing runs any more
    handed_out: int = 0  # units
    lost: int = 0
    bytes_out: int = 0
    bytes_back: int = 0
    _wanted: dict[str, Wanted] = field(default_factory=dict)
    _leases: dict[str, Lease] = field(default_factory=dict)  # by attempt
    _ends: list[tuple[float, str]] = field(default_factory=list)  # of leases, a heap
    _behind: deque[str] = field(default_factory=deque)  # attempts for which there was no place yet, in order
    _begun: set[str] = field(default_factory=set)  # the others, whose leases go on
    _attempt: dict[str, str] = field(default_factory=dict)  # the one that counts, by unit
    _losses: dict[str, int] = field(default_factory=dict)

    @property
    def read(self) -> int:
        """The descriptor that can be read if there are answers."""
        return self.pool.read

    def want(self, wanted: Wanted) -> None:
        """Let the unit wait for its next budget."""
        self._wanted[wanted.key] = wanted
        if wanted.key in self.policy:
            self.policy.wait(wanted.key, wanted.claims)
        else:
            self.policy.add(Candidate(wanted.key, wanted.share, wanted.kind, wanted.claims, wanted.after))
        self._hand_out()

    def drop(self, key: str) -> None:
        """Nobody needs the unit any more."""
        self._wanted.pop(key, None)
        self._losses.pop(key, None)
        self.policy.remove(key)
        attempt = self._attempt.pop(key, None)
        if attempt is not None:
            self._end_lease(attempt)
            self.pool.cancel(attempt)

    def pump(self) -> list[tuple[str, dict[str, Any]]]:
        """The answers that have come, by unit. Units without one wait again."""
        answers = []
        for message in self.pool.messages():
            match message:
                case Answered(attempt, data):
                    answers += self._take(attempt, data)
                case LostUnit(attempt, why, blame):
                    answers += self._lose(attempt, why, blame=blame)
                case PlaceCount(number):
                    self.places = number
                case Note(text):
                    self.note(text)
                case Gone(why):
                    self.gone = why
                case _:
                    assert_never(message)
        if self.gone:
            answers += [(key, _failure(key, self.gone)) for key in list(self._wanted)]
            self._wanted.clear()
        self._begin_leases()
        now = self.clock()
        while self._ends and self._ends[0][0] < now:
            _, attempt = heapq.heappop(self._ends)
            if attempt in self._leases:
                self.pool.cancel(attempt, overdue=True)
                answers += self._lose(attempt, "no answer came in time", blame=True)
        self._hand_out()
        return answers

    def close(self) -> None:
        self.pool.close()

    def _take(self, attempt: str, data: bytes) -> list[tuple[str, dict[str, Any]]]:
        self.bytes_back += len(data)
        lease = self._leases.get(attempt)
        if lease is None:
            return []  # it was dropped, or was late
        try:
            answer = answer_of(data)
        except Damaged as why:
            return self._lose(attempt, str(why), blame=True)
        if answer["state"] == "refused":
            self.note(f"a worker gets no tasks: {answer['why']}")
            return self._lose(attempt, answer["why"], blame=True)
        if answer["key"] != lease.key:
            return self._lose(attempt, "a worker answered something else", blame=True)
        self._end_lease(attempt)
        del self._attempt[lease.key]
        decided = sum(any(word in row for word in VERDICTS) for row in answer["rows"])
        self.policy.came_back(lease.key, answer["spent"], decided)
        return [(lease.key, answer)]

    def _lose(self, attempt: str, why: str, *, blame: bool) -> list[tuple[str, dict[str, Any]]]:
        lease = self._end_lease(attempt)
        if lease is None:
            return []
        key = lease.key
        del self._attempt[key]
        self.lost += 1
        self._losses[key] = self._losses.get(key, 0) + blame
        if self._losses[key] >= MOST_LOST:
            self.policy.remove(key)
            self._wanted.pop(key, None)
            return [(key, _failure(key, f"its worker was lost {MOST_LOST} times, at last: {why}"))]
        self.policy.wait(key)
        return []

    def _end_lease(self, attempt: str) -> Lease | None:
        """The attempt counts no more, and its place is free."""
        self._begun.discard(attempt)
        return self._leases.pop(attempt, None)

    def _begin_leases(self) -> None:
        """Let the leases of the oldest attempts begin, as many as there are places: the others wait behind them."""
        while self._behind and len(self._begun) < self.places:
            attempt = self._behind.popleft()
            if attempt in self._leases:
                self._begun.add(attempt)
                heapq.heappush(self._ends, (self.clock() + self.lease(self._leases[attempt].budget), attempt))

    def _hand_out(self) -> None:
        most = 0 if self.gone or self.places < 0 else self.places + max(AHEAD, self.places // 2)
        while len(self._leases) < most:
            chosen = self.policy.next()
            if chosen is None:
                return
            candidate, budget = chosen
            wanted = self._wanted[candidate.key]
            self.handed_out += 1
            attempt = f"{wanted.label}-{self.handed_out}"
            unit = seal({**wanted.row, "budget": budget})
            self._leases[attempt] = Lease(wanted.key, budget)
            self._behind.append(attempt)
            self._attempt[wanted.key] = attempt
            self.bytes_out += len(unit)
            self.pool.submit(attempt, attempt, wanted.problem, unit, round(10 * candidate.after) + candidate.turns)


def _failure(key: str, why: str) -> dict[str, Any]:
    return {"key": key, "rows": [], "state": "failed", "why": why, "spent": 0.0, "heard": 0}
