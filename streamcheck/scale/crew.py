"""The workers of one proof, on whatever machines: what the director hires instead of processes.

A lane over a problem becomes units, one for each cluster of properties (small ones together). A unit has a budget at a
time, and is wanted again until it has ended, or its claims are settled. Its facts are all that is kept between budgets:
those of others that it can use, and its own. What a unit finds reaches the director in the records that a process would
send, and is judged in the same way.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from streamcheck.engines.protocol import Fact, Settled, Task
from streamcheck.problem.transition import TransitionSystem
from streamcheck.run.events import event_from_plain, event_to_plain
from streamcheck.scale.broker import Wanted
from streamcheck.scale.pools import Bell
from streamcheck.scale.units import FORMAT, options_to_plain, problem_message, usable
from streamcheck.transform.reduce import clusters

if TYPE_CHECKING:
    from streamcheck.engines.options import Options
    from streamcheck.run.logs import LogRow
    from streamcheck.run.prove import Settings
    from streamcheck.run.strategy import Lane

TOGETHER = 16  # properties of small clusters in one unit
GRACE = 20.0  # seconds that vacuity tests have once every property is decided
MOST_KNOWN = 5000  # facts that are held as terms


class Market(Protocol):
    """Where units get budgets: a broker, or the way to one."""

    @property
    def read(self) -> int: ...

    def want(self, wanted: Wanted) -> None: ...

    def drop(self, key: str) -> None: ...

    def pump(self) -> list[tuple[str, dict[str, Any]]]: ...


@dataclass(eq=False, slots=True)
class DistantUnit:
    """A part of a lane: its claims that are open, and the facts that it knows."""

    key: str
    system: TransitionSystem
    claims: dict[str, None]
    facts: list[Any]  # of others, as plain values
    own: list[Any] = field(default_factory=list)  # the facts that it has found
    heard: int = 0  # facts of others that a solver of it knows
    is_out: bool = False
    is_idle: bool = False
    has_ended: bool = False


class DistantCrew:
    """Workers behind a market. `share` is the spec, `memory` the most that a solver may use."""

    def __init__(self, market: Market, share: str, memory: int | None = None) -> None:
        self.market, self.share, self.memory = market, share, memory
        self.session = os.urandom(6).hex()
        self.grace = GRACE
        self._units: dict[str, tuple[Hand, DistantUnit]] = {}
        self._numbers = 0
        self._decoded: dict[bytes, tuple[Any, Fact | None]] = {}  # records that several hands get

    @property
    def read(self) -> int:
        return self.market.read

    def hire(self, lane: Lane, task: Task, options: Mapping[str, Options], known: Sequence[Fact]) -> Hand:
        hand = Hand(self, lane, task, options)
        message = problem_message(task)
        for part in clusters(task.system, TOGETHER):
            self._numbers += 1
            key = f"{self.session}.{self._numbers}"
            names = dict.fromkeys(p.name for p in part.properties)
            unit = DistantUnit(key, part, names, [event_to_plain(f) for f in usable(known, part, names)])
            hand.units.append(unit)
            self._units[key] = hand, unit
        hand.problem = message
        for unit in hand.units:
            self.want(hand, unit)
        return hand

    def pump(self) -> None:
        for key, answer in self.market.pump():
            if key in self._units:
                hand, unit = self._units[key]
                hand.take(unit, answer)

    def want(self, hand: Hand, unit: DistantUnit) -> None:
        unit.is_out, unit.is_idle = True, False
        row = {
            "format": FORMAT,
            "key": unit.key,
            "engines": list(hand.lane.engines),
            "options": options_to_plain(hand.options, hand.lane.engines),
            "claims": list(unit.claims),
            "patience": hand.task.patience,
            "known": [*unit.facts[: unit.heard], *unit.own],
            "new": unit.facts[unit.heard :],
            "facts": len(unit.facts),
            "leave": sorted(hand.left),
            "memory": self.memory,
        }
        engines = "+".join(e for e in hand.lane.engines if e not in hand.left)
        claims, kind = len(unit.claims), f"{engines} {hand.lane.model}"
        what = f"{self.share}: {next(iter(unit.claims))}{f' and {claims - 1} more' if claims > 1 else ''}"
        label = f"{engines} ({hand.lane.model}) {what} {unit.key}".replace("-", "_")
        after = hand.lane.after * hand.lane.price
        self.market.want(Wanted(unit.key, self.share, kind, claims, after, label, hand.problem, row))

    def drop(self, unit: DistantUnit) -> None:
        if self._units.pop(unit.key, None) is not None:
            self.market.drop(unit.key)

    def decode(self, data: bytes, types: Mapping[str, Any]) -> tuple[Any, Fact | None]:
        if data not in self._decoded:
            if len(self._decoded) >= MOST_KNOWN:
                self._decoded.clear()
            row = json.loads(data)
            fact: Any = None if "leave" in row else event_from_plain(row, types)
            self._decoded[data] = row, fact
        return self._decoded[data]


class Hand:
    """A lane at work elsewhere, as the director sees a process: it is its own channel."""

    pid = 0
    write = -1
    unsent = False

    def __init__(self, crew: DistantCrew, lane: Lane, task: Task, options: Mapping[str, Options]) -> None:
        self.crew, self.lane, self.task, self.options = crew, lane, replace(task, system=task.system), options
        self.units: list[DistantUnit] = []
        self.problem = b""
        self.left: set[str] = set()  # engines that have a lane of their own now
        self.logged: list[LogRow] = []
        self._bell = Bell()
        self._rows: list[Any] = []
        self._posted = 0
        self._spent = 0.0
        self._alive = True
        self._is_silent = False  # it has said that it is idle

    @property
    def channel(self) -> Hand:
        return self

    @property
    def read(self) -> int:
        return self._bell.read

    @property
    def alive(self) -> bool:
        return self._alive

    def processor_time(self) -> float:
        """That of the budgets that have come back."""
        return self._spent

    def pause(self) -> bool:
        """Never: the broker has an order of its own."""
        return False

    def resume(self) -> None: ...

    def flush(self) -> None: ...

    def available(self) -> list[Any]:
        self._bell.quiet()
        rows, self._rows = self._rows, []
        return rows

    def post_encoded(self, data: bytes) -> None:
        """A fact, or the name of an engine that leaves."""
        row, fact = self.crew.decode(data, self.task.system.variable_types)
        self._posted += 1
        self._is_silent = False
        if fact is None:
            self.left.add(row["leave"])
        for unit in [u for u in self.units if not u.has_ended]:
            if isinstance(fact, Settled):
                unit.claims.pop(fact.prop, None)
                if not unit.claims:
                    self._end_unit(unit)
                    continue
            if fact is not None and next(usable([fact], unit.system, unit.claims), None) is not None:
                unit.facts.append(row)
                if unit.is_idle and not isinstance(fact, Settled):
                    self.crew.want(self, unit)
        self._tell_rest()

    def take(self, unit: DistantUnit, answer: Mapping[str, Any]) -> None:
        """Take what a unit has found in its budget."""
        unit.is_out = False
        unit.heard = answer["heard"]
        self._spent += answer["spent"]
        rows = [row for row in answer["rows"] if self._is_about_lane(row)]
        self._rows += rows
        unit.own += [_fact_row(row) for row in rows if "true up to" in row or "invariants" in row]
        if answer["state"] == "failed":
            engines = [e for e in self.lane.engines if e not in self.left]
            self._rows += [
                {"engine": e, "unknown": answer["why"], "prop": claim} for e in engines for claim in unit.claims
            ]
        decided = {row["prop"] for row in rows if "proved" in row or "falsified" in row or "falsified along" in row}
        match answer["state"]:
            case "ended" | "failed":
                self._end_unit(unit)
            case "idle" if unit.heard == len(unit.facts):
                unit.is_idle = True
            case _ if decided.issuperset(unit.claims):
                unit.is_idle = True  # until the director has judged that
            case _:
                self.crew.want(self, unit)
        self._tell_rest()
        self._bell.ring()

    def kill(self) -> None:
        if self._alive:
            for unit in self.units:
                self._end_unit(unit)

    def end(self, *, silent: bool = False) -> str:
        if self._alive:
            self.kill()
            self._alive = False
            self._bell.close()
        return ""

    def _is_about_lane(self, row: Mapping[str, Any]) -> bool:
        """True if it is an event of the lane's engines and, if it names a property, about one of its own."""
        return row.get("engine") in self.lane.engines and ("prop" not in row or row["prop"] in self.lane.claims)

    def _end_unit(self, unit: DistantUnit) -> None:
        unit.has_ended = True
        self.crew.drop(unit)

    def _tell_rest(self) -> None:
        """Say that all have ended, or that those that have not wait for facts."""
        if self._is_silent or any(u.is_out for u in self.units if not u.has_ended):
            return
        self._is_silent = True
        ended = all(u.has_ended for u in self.units)
        self._rows.append({"ended": True} if ended else {"idle": self._posted})
        self._bell.ring()


def _fact_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "engine"}


def with_crew(settings: Settings, market: Market, share: str) -> Settings:
    """The settings of a proof whose engines work behind this market."""
    return replace(settings, crew=DistantCrew(market, share, settings.memory))
