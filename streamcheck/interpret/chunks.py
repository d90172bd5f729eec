"""Steps of a run by columns: what reports write, whether the interpreter or compiled code computed it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice, repeat
from typing import Any

from streamcheck.core.types import Value
from streamcheck.interpret.python_code import Plan, RunState, Stepper, stepper
from streamcheck.interpret.step import Step

FIRST, MOST = 16, 2048  # steps of the first chunk, so that a table begins soon, and of the others


@dataclass(slots=True)
class Chunk:
    """Some steps. Each column has a value for each of them; arguments have any value where their trigger does not fire.
    Claims are 1 where they are true. `kept` are texts of the data."""

    steps: Sequence[int]
    kept: Sequence[Sequence[str]]
    fired: Sequence[Sequence[Any]]
    args: Sequence[Sequence[Sequence[Any]]]
    observers: Sequence[Sequence[Any]]
    properties: Sequence[bytes]
    assumptions: Sequence[bytes]

    def violations(self) -> Chunk:
        """The steps at which a property or an assumption is false."""
        claims = [*self.properties, *self.assumptions]
        chosen = [not all(row) for row in zip(*claims, strict=True)] if claims else [False] * len(self.steps)

        def some(column: Sequence[Any]) -> list[Any]:
            return list(compress(column, chosen))

        return Chunk(
            some(self.steps),
            [some(c) for c in self.kept],
            [some(c) for c in self.fired],
            [[some(c) for c in columns] for columns in self.args],
            [some(c) for c in self.observers],
            [bytes(some(c)) for c in self.properties],
            [bytes(some(c)) for c in self.assumptions],
        )


def sizes(*, live: bool) -> Iterator[int]:
    """How many steps each chunk has. Those of a live feed are shown one by one."""
    return repeat(1) if live else chain([FIRST], repeat(MOST))


def interpret(planned: Plan, rows: Iterator[tuple[Any, ...]], *, live: bool) -> Iterator[Chunk]:
    """The run of the interpreter. A row has the values of the inputs, then the texts that are kept."""
    texts, inputs = _texts_apart(planned, rows)
    steps = stepper(planned)(inputs)
    for size in sizes(live=live):
        some: list[Step] = []
        failed = None
        try:
            some.extend(islice(steps, size))
        except Exception as error:  # a run that fails shows its rows before the error
            failed = error
        if some:
            yield chunk_of(planned, some, [texts.popleft() for _ in some])
        if failed is not None:
            raise failed
        if len(some) < size:
            return


def _texts_apart(
    planned: Plan, rows: Iterator[tuple[Any, ...]]
) -> tuple[deque[tuple[str, ...]], Iterator[tuple[Value, ...]]]:
    """The texts that are kept of the rows that have been read, and the rows without them."""
    texts: deque[tuple[str, ...]] = deque()
    width = len(planned.inputs)

    def inputs() -> Iterator[tuple[Value, ...]]:
        for row in rows:
            texts.append(row[width:])
            yield row[:width]

    return texts, inputs()


def interpret_steps(planned: Plan, rows: Iterator[tuple[Any, ...]], kept: Sequence[str]) -> Iterator[Step]:
    """The same step by step, each computed when it is asked for. `kept`: the names of the texts."""
    if not kept:
        return stepper(planned)(rows)
    texts, inputs = _texts_apart(planned, rows)
    steps = stepper(planned)(inputs)
    return (step._replace(kept=dict(zip(kept, texts.popleft(), strict=True))) for step in steps)


def steps_of(planned: Plan, chunk: Chunk, kept: Sequence[str]) -> Iterator[Step]:
    """The steps of a chunk, one by one."""
    specification = planned.specification
    properties, assumptions = ([name for name, _ in claims] for claims in (planned.properties, planned.assumptions))
    for i, number in enumerate(chunk.steps):
        calls = {
            trigger.name: tuple(column[i] for column in args)
            for trigger, fired, args in zip(specification.triggers, chunk.fired, chunk.args, strict=True)
            if fired[i]
        }
        observed = {o.name: column[i] for o, column in zip(specification.observers, chunk.observers, strict=True)}
        broken = tuple(name for name, truth in zip(properties, chunk.properties, strict=True) if not truth[i])
        unmet = tuple(name for name, truth in zip(assumptions, chunk.assumptions, strict=True) if not truth[i])
        texts = {name: column[i] for name, column in zip(kept, chunk.kept, strict=True)}
        yield Step(number, calls, observed, broken, unmet, texts)


def interpret_from(
    planned: Plan, step: Stepper, rows: Iterable[tuple[Value, ...]], state: RunState
) -> tuple[Chunk, RunState]:
    """The steps from that state on, as if the first were step 0, and the state after them. `step`: of the plan."""
    steps: list[Step] = []
    running = step(rows, state)
    while True:
        try:
            steps.append(next(running))
        except StopIteration as end:
            return chunk_of(planned, steps, [()] * len(steps)), end.value


def chunk_of(planned: Plan, steps: list[Step], texts: list[tuple[str, ...]]) -> Chunk:
    """These steps by columns. `texts` are those that are kept of the data, for each step."""
    triggers, observers = planned.specification.triggers, planned.specification.observers
    fired = [[t.name in s.triggers for s in steps] for t in triggers]
    args = [
        [[s.triggers[t.name][i] if t.name in s.triggers else None for s in steps] for i in range(len(t.args))]
        for t in triggers
    ]
    return Chunk(
        [s.step for s in steps],
        list(zip(*texts, strict=True)),
        fired,
        args,
        [[s.observers[o.name] for s in steps] for o in observers],
        [bytes([name not in s.broken for s in steps]) for name, _ in planned.properties],
        [bytes([name not in s.unmet for s in steps]) for name, _ in planned.assumptions],
    )
