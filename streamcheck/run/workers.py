"""A worker: one process that runs one or more engines in turns.

The engines of a worker share facts at once; those of other workers arrive on the channel. An engine's turn ends with
its next `Progress`. If every engine waits, the worker sleeps on its channel; it says after how many facts, for another
may be on its way.
"""

from __future__ import annotations

import logging
import math
import select
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from streamcheck.core.types import plural
from streamcheck.engines.protocol import (
    Engine,
    Event,
    Fact,
    Finished,
    Guesses,
    Inbox,
    Invariants,
    Progress,
    Settled,
    Task,
    TrueUpTo,
    Waiting,
)
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Falsified, Proved, Unknown
from streamcheck.run.child import Channel
from streamcheck.run.concerned import Concerned
from streamcheck.run.events import event_from_plain, event_to_plain
from streamcheck.run.registry import ENGINES, EngineEntry
from streamcheck.run.strategy import work_counter
from streamcheck.transform.alike import Copy, alike
from streamcheck.transform.reduce import clusters, each_alone, narrow_parts

LOG = logging.getLogger(__name__)
AHEAD = 1_000_000  # how much more than others an engine may have worked (a tenth of a second or so)
AHEAD_OF_ITS_LIKE = 100_000  # the same for the engine at one cluster of properties and at another
PAUSE = 0.02  # seconds of processor time between two reports of how far an engine is
SILENCE = 0.2  # seconds of processor time after which a turn that found nothing new is reported too
VACUITY_PRICE = 16  # of work on vacuity tests alone
FLOATS_PRICE = 4  # of z3's work on floats, of which bitwuzla decides more
VACUITY_SHARE = 4  # they have this fraction of the patience
FAR = 2  # steps; beyond, an engine may have another price
AFTER_PARTS = 20_000_000  # the work that an engine may do on all narrow parts before it looks at the whole
A_TURN = 20_000  # the work of a turn itself, added to the solver's
FIRST_WORK = 10 * A_TURN  # within which most engines decide what they can decide at once (heuristic)
MOST_EARLY = 32  # clusters that are still at their first work: each has solvers, of half a megabyte (heuristic)


def work(engines: Callable[[], Sequence[Engine]], problem: Task, channel: Channel, known: Sequence[Fact]) -> None:
    received = 0  # facts

    def listen() -> None:
        nonlocal received
        for record in channel.available():
            received += 1
            if "leave" in record:
                turns.leave(record["leave"])
            else:
                turns.deliver(event_from_plain(record, problem.system.variable_types))

    turns = Turns(engines, problem, known, head_starts=True, listen=listen)
    reported: dict[str, tuple[int, float]] = {}  # depths, and when
    sent = time.process_time()

    def send(engine: str, event: Event) -> None:
        nonlocal sent
        now = time.process_time()
        if isinstance(event, Progress):
            depth, before = reported.get(engine, (-1, -math.inf))
            if now - sent < SILENCE if event.depth == depth else now - before < PAUSE:
                return
            reported[engine] = event.depth, now
        sent = now
        channel.send({"engine": engine, **event_to_plain(event)})

    while turns.running:
        listen()
        if turns.round(send):
            channel.send({"idle": received})
            select.select([channel.read], [], [])
    channel.send({"ended": True})


@dataclass(slots=True, eq=False)
class Lot:
    """A cluster of properties, and the engines at work on it."""

    system: TransitionSystem
    has_begun: bool = False
    facts: list[Fact] = field(default_factory=list)  # what is known before it begins
    settled: set[str] = field(default_factory=set)  # nobody works on these any more
    running: list[Instance] = field(default_factory=list)

    @property
    def is_early(self) -> bool:
        """True if some engine has hardly worked on it, and could, and it has more than vacuity tests left."""
        return any(one.spent < FIRST_WORK for one in self.running if not one.only_tests and not one.has_nothing_to_do)

    def settle(self, prop: str) -> None:
        self.settled.add(prop)
        for one in self.running:
            one.open.discard(prop)

    def instances(
        self, engines: Callable[[], Sequence[Engine]], *, narrow: bool
    ) -> Iterator[tuple[TransitionSystem, Engine, int]]:
        """The engines for the cluster, each with the work that it begins with; for each property with floats one of
        those that look at it alone, and for narrow parts, if they are asked for, one of those that look at such."""
        singles = each_alone(self.system) if self.system.has_floats else []
        parts = alike(narrow_parts(self.system) if narrow else ())
        for part in (self.system, *singles):
            for engine in engines():
                if not singles or ENGINES[engine.name].alone == (part is not self.system):
                    later = bool(parts) and ENGINES[engine.name].narrow
                    yield part, engine, AFTER_PARTS // len(parts) if later else 0
        for part, copies in parts:
            yield from ((part, ForCopies(engine, copies), 0) for engine in engines() if ENGINES[engine.name].narrow)


@dataclass(slots=True, eq=False)
class Instance:
    """An engine at work on one cluster of properties."""

    row: EngineEntry
    log: logging.Logger
    events: Iterator[Event]
    properties: tuple[str, ...]
    box: list[Fact]
    open: set[str]  # its properties on which somebody works
    tests: set[str]  # its vacuity tests
    weight: int  # of its properties
    spent: int  # the solver's work, priced
    lot: Lot
    waiting: bool = False
    depth: int = -1

    @property
    def price(self) -> int:
        """The weight of its work now."""
        far = self.row.far_price if self.depth > FAR else None
        return self.weight * (far or self.row.price) * (VACUITY_PRICE if self.only_tests else 1)

    @property
    def only_tests(self) -> bool:
        """True if vacuity tests are all that is left."""
        return bool(self.open) and self.open <= self.tests

    @property
    def has_nothing_to_do(self) -> bool:
        return self.waiting and not self.box

    def record(self, event: Event) -> None:
        """Log the event, unless it has nothing new."""
        if self.log.isEnabledFor(logging.INFO):
            old = isinstance(event, Progress) and event.depth == self.depth
            if message := "" if old else _message(event):
                self.log.info("%s: %s", self.row.name, message)
        if isinstance(event, Progress):
            self.depth = event.depth


class Turns:
    """Engines side by side in one process, one of each kind for every cluster of properties (or every property, if
    their rows say so): what workers run, and tests too.

    Turns go to those whose solvers have worked least so far, so that a heavy engine does not keep light ones waiting,
    nor an engine at a hard cluster the same engine at an easy one;
    with `head_starts`, heavy engines begin with work counted as done. Work is counted by the solver, not by a clock:
    the same problem makes the same turns.

    A cluster has solvers of its own, so of many clusters only some are at work at first. The next one begins when one
    is done, or has had its fair share.
    """

    def __init__(
        self,
        engines: Callable[[], Sequence[Engine]],
        problem: Task,
        known: Sequence[Fact] = (),
        *,
        head_starts: bool = False,
        listen: Callable[[], None] = lambda: None,
    ) -> None:
        """`listen` delivers what others have found; engines that look into their inboxes call it."""
        self._work_done = work_counter()
        self._engines, self._task, self._listen = engines, problem, listen
        self._head_starts = head_starts
        self._left: set[str] = set()  # engines that have workers of their own
        self._lots = [Lot(cluster) for cluster in clusters(problem.system)]
        self._concerned = Concerned([lot.system for lot in self._lots])
        self._later = deque(self._lots)
        self.running: dict[Instance, None] = {}  # the engines at work
        for fact in known:
            self.deliver(fact)
        self._admit()

    def _admit(self) -> None:
        """Begin with more clusters, as long as few of those begun are still at their first work."""
        new: list[tuple[Lot, TransitionSystem, Engine, int]] = []
        narrow = self._task.program is None
        early = sum(lot.is_early for lot in {one.lot: None for one in self.running})
        while self._later and early < MOST_EARLY:
            lot, early = self._later.popleft(), early + 1
            lot.has_begun = True
            own = lot.instances(self._engines, narrow=narrow)
            new += [(lot, part, engine, spent) for part, engine, spent in own if engine.name not in self._left]
        for lot, part, engine, spent in sorted(new, key=lambda one: not ENGINES[one[2].name].alone):
            instance = self._instance(lot, engine, replace(self._task, system=part), spent)
            lot.running.append(instance)
            self.running[instance] = None

    def _instance(self, lot: Lot, engine: Engine, task: Task, spent: int) -> Instance:
        row, names, weight = ENGINES[engine.name], tuple(p.name for p in task.system.properties), 1
        if row.family == "z3" and task.system.has_floats:
            weight = FLOATS_PRICE
        tests = {p.name for p in task.system.properties if p.is_vacuity_test}
        if tests.issuperset(names):
            task = replace(task, patience=None if task.patience is None else task.patience // VACUITY_SHARE)
        log = logging.getLogger(type(engine.engine if isinstance(engine, ForCopies) else engine).__module__)
        box = list(lot.facts)
        spent += (row.head_start or 0) if self._head_starts else 0
        events = engine.run(task, _inbox(box, self._listen))
        return Instance(row, log, events, names, box, {*names} - lot.settled, tests, weight, spent, lot)

    def deliver(self, event: Event, source: Instance | None = None) -> None:
        """Put a fact into the boxes of the engines that it is of use to."""
        if not isinstance(event, Fact):
            return
        for number in self._concerned.clusters(event):
            lot = self._lots[number]
            foreign = None if source is None or source.row.family == "z3" else source.row.family
            if isinstance(event, Proved | Settled):
                lot.settle(event.prop)
            if foreign is None and not lot.has_begun:  # bitwuzla's answers enter no proof that it may check
                lot.facts.append(event)
            for instance in lot.running:
                if instance is not source and foreign in (None, instance.row.family):
                    instance.box.append(event)

    def leave(self, engine: str) -> None:
        """Go on without this engine, which has got a worker of its own."""
        self._left.add(engine)
        for one in list(self.running):
            if one.row.name == engine:
                self._remove(one)

    def _remove(self, one: Instance) -> None:
        del self.running[one]
        one.lot.running.remove(one)

    def round(self, send: Callable[[str, Event], None]) -> bool:
        """A turn for each engine that has not worked more than others. True if all that still run are waiting."""
        most = self._most_spent()
        for one in list(self.running):
            if one in self.running and (one.spent <= most.get(one.row.name, 0) or (one.waiting and one.box)):
                began = self._work_done()
                self._turn(one, send)
                one.spent += (self._work_done() - began + A_TURN) * one.price
        self._admit()
        return bool(self.running) and all(one.has_nothing_to_do for one in self.running)

    def _most_spent(self) -> dict[str, int]:
        """By engine, the work up to which one of its instances has a turn."""
        least: dict[str, int] = {}
        for one in self.running:
            if not one.waiting:
                least[one.row.name] = min(one.spent, least.get(one.row.name, one.spent))
        of_all = min(least.values(), default=0)
        return {name: min(of_all + AHEAD, own + AHEAD_OF_ITS_LIKE) for name, own in least.items()}

    def _turn(self, one: Instance, send: Callable[[str, Event], None]) -> None:
        one.waiting = False
        LOG.debug("turn of %s", one.row.name)
        for event in one.events:
            if isinstance(event, Waiting):
                one.waiting = True
                return
            one.record(event)
            send(one.row.name, event)
            self.deliver(event, one)
            if isinstance(event, Progress):
                return
        if one in self.running:  # else it has left while it listened
            self._remove(one)
            same = {name for other in one.lot.running if other.row is one.row for name in other.properties}
            if left := tuple(name for name in one.properties if name not in same):
                finished = Finished(left)
                one.record(finished)
                send(one.row.name, finished)


class ForCopies:
    """An engine that proves, at work on one of several systems that are alike: what it finds, it says of all."""

    def __init__(self, engine: Engine, copies: Sequence[Copy]) -> None:
        self.name = engine.name
        self.engine = engine
        self.copies = copies

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        gone = set[str]()

        def facts() -> list[Fact]:
            new = inbox()
            gone.update(fact.prop for fact in new if isinstance(fact, Proved | Falsified | Settled))
            settled = [p.name for p in problem.system.properties if self._names(p.name) <= gone]
            return [*(f for f in new if isinstance(f, Invariants | TrueUpTo)), *map(Settled, settled)]

        for event in self.engine.run(problem, facts):
            yield event
            match event:
                case Proved(prop, certificate):
                    yield from (Proved(c.properties[prop], c.certificate(certificate)) for c in self.copies)
                case Invariants(certificate):
                    yield from (Invariants(c.certificate(certificate)) for c in self.copies)
                case _:
                    pass

    def _names(self, prop: str) -> set[str]:
        """The property, and those of the copies."""
        return {prop, *(c.properties[prop] for c in self.copies)}


def _message(event: Event) -> str:
    match event:
        case Progress(depth):
            return f"depth {depth}"
        case TrueUpTo() | Settled() | Waiting() | Guesses():
            return ""
        case Invariants(certificate):
            return f"{plural(len(certificate.invariants), 'invariant')} for other engines"
        case Proved(prop, certificate):
            return f"proved with k = {certificate.k}, {plural(len(certificate.invariants), 'invariant')}: {prop}"
        case Falsified(prop, trace):
            return f"falsified at step {trace.length - 1}: {prop}"
        case Unknown(prop, reason):
            return f"gave up ({reason}): {prop}"
        case Finished(props):
            return f"finished: {'; '.join(props)}"
        case _:
            assert_never(event)


def _inbox(box: list[Fact], listen: Callable[[], None]) -> Inbox:
    def inbox() -> list[Fact]:
        listen()
        facts = list(box)
        box.clear()
        return facts

    return inbox
