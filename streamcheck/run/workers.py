"""A worker: one process that runs one or more engines in turns.

The engines of a worker share facts at once; those of other workers arrive on the channel. An engine's turn lasts
until it says where it is. When every engine waits, the worker sleeps on its channel.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from streamcheck.run.child import Channel
from streamcheck.run.events import event_from_plain, event_to_plain
from streamcheck.system.protocol import (
    Engine,
    Event,
    Fact,
    Inbox,
    Invariants,
    Problem,
    Progress,
    Settled,
    TrueUpTo,
    Waiting,
)
from streamcheck.system.verdict import Falsified, Proved
from streamcheck.transform.reduce import clusters


def work(engines: Callable[[], Sequence[Engine]], problem: Problem, channel: Channel, known: Sequence[Fact]) -> None:
    turns = Turns(engines, problem, known)

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
    tests too."""

    def __init__(self, engines: Callable[[], Sequence[Engine]], problem: Problem, known: Sequence[Fact] = ()) -> None:
        self.boxes: list[list[Fact]] = []
        self.running: dict[int, tuple[str, Iterator[Event]]] = {}
        for part in clusters(problem.system):
            for engine in engines():
                number = len(self.boxes)
                self.boxes.append(list(known))
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
        """A turn for each engine; whether all that still run are waiting."""
        waiting = 0
        for number, (name, engine) in list(self.running.items()):
            for event in engine:
                if isinstance(event, Waiting):
                    waiting += not self.boxes[number]
                    break
                tell(name, event)
                self.deliver(event, number)
                if isinstance(event, Progress):
                    break
            else:
                del self.running[number]
        return bool(self.running) and waiting == len(self.running)
