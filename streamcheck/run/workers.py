"""A worker: one process that runs one or more engines in turns.

The engines of a worker share facts at once; those of other workers arrive on the channel. An engine's turn lasts
until it says where it is. When every engine waits, the worker sleeps on its channel.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Sequence

from streamcheck.run.child import Channel
from streamcheck.run.events import event_from_plain, event_to_plain
from streamcheck.system.protocol import Engine, Event, Fact, Inbox, NoRun, Problem, Progress, TrueUpTo, Waiting
from streamcheck.system.verdict import Falsified, Proved


def work(engines: Sequence[Engine], problem: Problem, channel: Channel, known: Sequence[Fact]) -> None:
    turns = Turns(engines, problem, known)

    def tell(engine: str, event: Event) -> None:
        channel.send({"engine": engine, **event_to_plain(event)})

    while turns.running:
        for record in channel.available():
            turns.deliver(event_from_plain(record, problem.system))
        if turns.round(tell):
            select.select([channel.read], [], [])
    channel.send({"ended": True})


class Turns:
    """Engines side by side in one process: what workers run, and tests and `--deterministic` replays."""

    def __init__(self, engines: Sequence[Engine], problem: Problem, known: Sequence[Fact] = ()) -> None:
        self.boxes: dict[str, list[Fact]] = {e.name: list(known) for e in engines}
        self.running: dict[str, Iterator[Event]] = {e.name: e.run(problem, self._inbox(e.name)) for e in engines}

    def _inbox(self, name: str) -> Inbox:
        def inbox() -> list[Fact]:
            facts, self.boxes[name] = self.boxes[name], []
            return facts

        return inbox

    def deliver(self, event: Event, source: str = "") -> None:
        if isinstance(event, TrueUpTo | NoRun | Proved | Falsified):
            for name, box in self.boxes.items():
                if name != source:
                    box.append(event)

    def round(self, tell: Callable[[str, Event], None]) -> bool:
        """A turn for each engine; whether all that still run are waiting."""
        waiting = 0
        for name, engine in list(self.running.items()):
            for event in engine:
                if isinstance(event, Waiting):
                    waiting += not self.boxes[name]
                    break
                tell(name, event)
                self.deliver(event, name)
                if isinstance(event, Progress):
                    break
            else:
                del self.running[name]
        return bool(self.running) and waiting == len(self.running)
