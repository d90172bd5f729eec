"""A worker: one process that runs one or more engines in turns.

The engines of a worker share facts at once; those of other workers arrive on the channel. An engine's turn lasts
until it says where it is. When every engine waits, the worker sleeps on its channel.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from streamcheck.engines.protocol import (
    Engine,
    Event,
    Fact,
    Inbox,
    Invariants,
    Progress,
    Settled,
    Task,
    TrueUpTo,
    Waiting,
)
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.run.child import Channel
from streamcheck.run.events import event_from_plain, event_to_plain
from streamcheck.run.strategy import work_counter
from streamcheck.transform.reduce import clusters

AHEAD = 1_000_000  # how much more than others an engine may have worked (a tenth of a second or so)
DEARER = {
    "k-induction": 2,
    "completeness": 4,
    "simulation": 20,
}  # a unit of their work beside others: far out, violations are likelier
A_TURN = 20_000  # what a turn counts beside the solver's work


def work(
    engines: Callable[[], Sequence[Engine]],
    problem: Task,
    channel: Channel,
    known: Sequence[Fact],
    later: Mapping[str, int],
) -> None:
    turns = Turns(engines, problem, known, later)

    depths: dict[str, int] = {}

    def tell(engine: str, event: Event) -> None:
        if isinstance(event, Progress):
            if depths.get(engine) == event.depth:
                return
            depths[engine] = event.depth
        channel.send({"engine": engine, **event_to_plain(event)})

    while turns.running:
        for record in channel.available():
            turns.deliver(event_from_plain(record, problem.system))
        if turns.round(tell):
            channel.send({"idle": True})
            select.select([channel.read], [], [])
    channel.send({"ended": True})


class Turns:
    """Engines side by side in one process, one of each kind for every cluster of properties: what workers run, and
    tests too.

    A turn is for those whose solvers have worked least so far, so that a heavy engine does not keep light ones waiting;
    `later` is work that an engine counts as done before it began. Work is counted by the solver, not by a clock: the
    same problem makes the same turns.
    """

    def __init__(
        self,
        engines: Callable[[], Sequence[Engine]],
        problem: Task,
        known: Sequence[Fact] = (),
        later: Mapping[str, int] | None = None,
    ) -> None:
        self._work_done = work_counter()
        self.boxes: list[list[Fact]] = []
        self.spent: dict[int, int] = {}
        self.waiting: set[int] = set()
        self.names: list[str] = []
        self.running: dict[int, tuple[str, Iterator[Event]]] = {}
        for part in clusters(problem.system):
            for engine in engines():
                number = len(self.boxes)
                self.names.append(engine.name)
                self.boxes.append(list(known))
                self.spent[number] = (later or {}).get(engine.name, 0)
                self.running[number] = engine.name, engine.run(replace(problem, system=part), self._inbox(number))

    def _inbox(self, number: int) -> Inbox:
        def inbox() -> list[Fact]:
            facts, self.boxes[number] = self.boxes[number], []
            return facts

        return inbox

    def deliver(self, event: Event, source: int = -1) -> None:
        if isinstance(event, TrueUpTo | Invariants | Proved | Falsified | Settled):
            for number in self.running:
                if number != source:
                    self.boxes[number].append(event)

    def round(self, tell: Callable[[str, Event], None]) -> bool:
        """A turn for each engine that has not worked more than others; whether all that still run are waiting."""
        least = min((self.spent[n] for n in self.running if n not in self.waiting), default=0)
        for number in list(self.running):
            if self.spent[number] <= least + AHEAD or (number in self.waiting and self.boxes[number]):
                began = self._work_done()
                self._turn(number, tell)
                self.spent[number] += (self._work_done() - began + A_TURN) * DEARER.get(self.names[number], 1)
        return bool(self.running) and all(n in self.waiting and not self.boxes[n] for n in self.running)

    def _turn(self, number: int, tell: Callable[[str, Event], None]) -> None:
        name, engine = self.running[number]
        self.waiting.discard(number)
        for event in engine:
            if isinstance(event, Waiting):
                self.waiting.add(number)
                return
            tell(name, event)
            self.deliver(event, number)
            if isinstance(event, Progress):
                return
        del self.running[number]
