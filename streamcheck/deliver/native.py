"""Runs by compiled code, whose answers the interpreter checks on a sample.

The first steps are interpreted too, and after every few thousand some more, from the state of the compiled code. Calls,
observers, properties, assumptions, the state after them and the inputs as read must be the same. A difference is an
error of this package or of the C compiler, and ends the run before these steps are shown.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any, Protocol

from streamcheck.core.errors import SpecError
from streamcheck.core.types import scalar_parts
from streamcheck.deliver.machine import MORE, MOST, NativeMonitor, RowReader
from streamcheck.interpret.chunks import Chunk, interpret_from
from streamcheck.interpret.data import CsvForm, not_text
from streamcheck.interpret.log_text import LogText
from streamcheck.interpret.python_code import Plan, RunState, initial_state, stepper

CHECKED_FIRST, CHECKED_LATER = 1000, 32  # steps
NODES = 2_000_000  # that the first check evaluates at most: a step of a large spec takes long


class CompiledCodeDiffers(Exception):
    """Compiled code and the interpreter disagree: an internal error."""


@dataclass(frozen=True, slots=True)
class StepBatch:
    """Steps whose inputs are written: the texts that are kept, and the error that came after them. `rows` are the
    inputs once more, read by the rules of their format, if they were asked for."""

    count: int
    kept: Sequence[Sequence[str]]
    rows: Sequence[Sequence[Any]] = ()
    failed: Exception | None = None


class BatchSource(Protocol):
    def batch(self, machine: NativeMonitor, most: int, *, again: bool) -> StepBatch:
        """The next steps, at least one unless they have ended. `again`: with the rows."""


def run_natively(planned: Plan, source: BatchSource, steps: int | None) -> Iterator[Chunk]:
    """The run, so many steps long or as long as its input. SpecError at once if the spec has no C."""
    return _run(planned, NativeMonitor(planned), source, steps)


def _run(planned: Plan, machine: NativeMonitor, source: BatchSource, steps: int | None) -> Iterator[Chunk]:
    check = _Check(planned, machine)
    left = steps
    for size, is_checked in _pieces(planned):
        while size and left != 0:
            most = size if left is None else min(size, left)
            batch = source.batch(machine, most, again=is_checked)
            if batch.count:
                before = machine.state() if is_checked and machine.step else initial_state(planned)
                chunk = machine.run(batch.count, batch.kept)
                if is_checked:
                    check.compare(chunk, batch, before)
                yield chunk
            if batch.failed is not None:
                raise batch.failed
            size -= batch.count
            left = left if left is None else left - batch.count
            if not batch.count:
                return
        if left == 0:
            return


def _pieces(planned: Plan) -> Iterator[tuple[int, bool]]:
    """How many steps are run next, and if they are checked."""
    first = max(1, min(CHECKED_FIRST, NODES // max(1, planned.specification.size)))
    later = max(1, min(CHECKED_LATER, first))
    rng = random.Random(planned.specification.name)
    rests = chain.from_iterable(((rng.randrange(MOST // 2, MOST), False), (later, True)) for _ in repeat(None))
    return chain([(first, True)], rests)


class _Check:
    def __init__(self, planned: Plan, machine: NativeMonitor) -> None:
        self._planned = planned
        self._machine = machine
        self._step = stepper(planned)

    def compare(self, chunk: Chunk, batch: StepBatch, before: RunState) -> None:
        """CompiledCodeDiffers if the interpreter does not have the same."""
        planned, machine, first = self._planned, self._machine, chunk.steps[0]
        width = len(planned.inputs)
        rows = [tuple(row[:width]) for row in batch.rows]
        wanted, after = interpret_from(planned, self._step, rows, before)
        parts = [list(column) for column in zip(*([*scalar_parts(row)] for row in rows), strict=True)]
        texts = [list(column) for column in zip(*(row[width:] for row in batch.rows), strict=True)]
        exact = [i for i, is_exact in enumerate(machine.code.exact) if is_exact]
        reached = machine.state()
        names = [planned.cells[i].name for i in exact]
        for what, ours, theirs in (
            ("the number of rows", [chunk.steps[-1]], [first + len(rows) - 1]),
            ("an input as read", machine.read_inputs(len(rows)), parts),
            ("a text that is kept", [*map(list, chunk.kept)], texts),
            *_answers(planned, chunk, wanted),
            *((f"state {name}", reached[i], after[i]) for i, name in zip(exact, names, strict=True)),
        ):
            if repr(ours) != repr(theirs):
                raise CompiledCodeDiffers(
                    f"in the steps {first} to {chunk.steps[-1]} of a run with --native, {what} is not what the "
                    f"interpreter computes. Lines that have been printed may be wrong.\n"
                    f"  {_first_difference(ours, theirs)}"
                )


def _first_difference(ours: Any, theirs: Any) -> str:
    pairs = enumerate(zip(ours, theirs, strict=False) if isinstance(ours, Sequence) else [(ours, theirs)])
    place, (one, other) = next(((i, pair) for i, pair in pairs if repr(pair[0]) != repr(pair[1])), (0, (ours, theirs)))
    return f"compiled: {repr(one)[:400]}; interpreted: {repr(other)[:400]} (value {place} of these)"


def _answers(planned: Plan, chunk: Chunk, wanted: Chunk) -> Iterator[tuple[str, Any, Any]]:
    triggers, observers = planned.specification.triggers, planned.specification.observers
    for trigger, fired, fires, ours, theirs in zip(
        triggers, chunk.fired, wanted.fired, chunk.args, wanted.args, strict=True
    ):
        yield f"trigger {trigger.name}", list(fired), list(fires)
        for argument, other in zip(ours, theirs, strict=True):
            shown = [value if fires else None for value, fires in zip(argument, fired, strict=True)]
            yield f"an argument of trigger {trigger.name}", shown, list(other)
    for o, ours, theirs in zip(observers, chunk.observers, wanted.observers, strict=True):
        yield f"observer {o.name}", list(ours), list(theirs)
    for (name, _), true, holds in zip(planned.properties, chunk.properties, wanted.properties, strict=True):
        yield f"property {name}", true, holds
    for (name, _), true, holds in zip(planned.assumptions, chunk.assumptions, wanted.assumptions, strict=True):
        yield f"assumption {name}", true, holds


class RowBatches:
    """Batches of rows that are read already: JSON lines, Parquet, samples."""

    def __init__(self, rows: Iterator[tuple[Any, ...]], *, live: bool) -> None:
        self._rows = rows
        self._most = 1 if live else MOST

    def batch(self, machine: NativeMonitor, most: int, *, again: bool) -> StepBatch:
        some: list[tuple[Any, ...]] = []
        failed = None
        try:
            some.extend(islice(self._rows, min(most, self._most)))
        except Exception as error:
            failed = error
        width = len(machine.planned.inputs)
        for i, row in enumerate(some):
            machine.write(i, row[:width])
        return StepBatch(len(some), list(zip(*(row[width:] for row in some), strict=True)), some, failed)


class CsvBatches:
    """Batches of the rows of a CSV file. The C reads those that are plain, and `form` the others."""

    def __init__(self, text: LogText, form: CsvForm, *, live: bool) -> None:
        self._text = text
        self._form = form
        self._live = live
        self._reader: RowReader | None = None

    def batch(self, machine: NativeMonitor, most: int, *, again: bool) -> StepBatch:
        text, before, failed = self._text, self._text.lines, None
        kept: list[list[str]] = [[] for _ in self._form.kept]
        if again:
            text.record()
        count = 0
        try:
            for rows_read in self._read(machine, most, kept):
                count = rows_read
        except (UnicodeDecodeError, csv.Error) as why:
            failed = not_text(self._form.origin, why)
        except SpecError as why:
            failed = why
        rows: Sequence[Any] = ()
        if again:
            lines = csv.reader(io.StringIO(text.take_record(), newline=""))
            rows = list(islice(self._form.rows(lines, before), count))
        return StepBatch(count, kept, rows, failed)

    def _read(self, machine: NativeMonitor, most: int, kept: list[list[str]]) -> Iterator[int]:
        """How many rows have been read, again and again."""
        reader = self._reader = self._reader or machine.reader(self._form)
        text, row, width = self._text, 0, len(machine.planned.inputs)
        while row < most:
            stopped, row, texts = reader.read(text, row, most)
            for column, more in zip(kept, texts, strict=True):
                column += more
            yield row
            if row == most or (stopped == MORE and self._live and row):
                return
            if stopped == MORE and text.refill():
                continue
            values = next(self._form.rows(csv.reader(text), text.lines), None)
            if values is None:
                return
            machine.write(row, values[:width])
            for column, kept_text in zip(kept, values[width:], strict=True):
                column.append(kept_text)
            row += 1
            yield row
