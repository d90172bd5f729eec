"""The run of a spec on data, as the command and Python have it: a log or rows, the steps by the interpreter or by
compiled code, and notes on what is false."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TextIO

from streamcheck.core.errors import SpecError
from streamcheck.core.types import plural
from streamcheck.interpret.chunks import Chunk, interpret
from streamcheck.interpret.data import CsvForm, DataColumns, is_json_file, open_log, read_form, read_rows
from streamcheck.interpret.log_text import LogText
from streamcheck.interpret.python_code import Plan

BLOCK = 1 << 20  # bytes of a log that are read at a time
STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Feed:
    """The input of a run: rows, or a CSV file that compiled code reads. `columns` are those of the data."""

    rows: Iterator[tuple[Any, ...]]
    columns: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    live: bool = False  # the data may still grow
    file: tuple[LogText, CsvForm] | None = None


def open_feed(data: str, columns: DataColumns, *, native: bool) -> Feed:
    """The rows of a log, or of standard input, whose header is checked at once. It is open as long as its rows are."""
    if data.endswith(".parquet"):
        from streamcheck.interpret.parquet import read_parquet

        recorded = read_parquet(data, columns)
        return Feed(recorded.rows, recorded.columns, recorded.kept)
    source = _open(data)
    live = not stat.S_ISREG(os.fstat(source.fileno()).st_mode)
    is_json = is_json_file(data)
    if native and not is_json:
        text = LogText(lambda: os.read(source.fileno(), BLOCK))
        if not (data == STANDARD_INPUT and text.begins_with("{")):
            form = read_form(text, origin_of(data), columns)
            return Feed(iter(()), form.header, form.kept, live, (text, form))
        lines: Iterator[str] = text
        is_json = True
    else:
        lines = iter(source.readline, "") if live else source
    if data == STANDARD_INPUT and not is_json:  # a JSON object begins with a brace
        first = next((line for line in lines if line.strip()), "")
        is_json = first.lstrip().startswith("{")
        lines = chain([first], lines)
    recorded = read_rows(lines, origin_of(data), columns, "json" if is_json else "csv")
    return Feed(recorded.rows, recorded.columns, recorded.kept, live)


def origin_of(data: str) -> str:
    """The name of the data in messages."""
    return "standard input" if data == STANDARD_INPUT else data


def _open(data: str) -> TextIO:
    if data == STANDARD_INPUT:
        return os.fdopen(os.dup(0), encoding="utf-8", newline="")
    return open_log(data)


def chunks_of_run(planned: Plan, feed: Feed, steps: int | None, *, native: bool) -> Iterator[Chunk]:
    """The run by columns: so many steps, or as many as there are inputs."""
    if native:
        from streamcheck.deliver.native import CsvBatches, RowBatches, run_natively

        batches = CsvBatches(*feed.file, live=feed.live) if feed.file else RowBatches(feed.rows, live=feed.live)
        return run_natively(planned, batches, steps)
    return interpret(planned, islice(feed.rows, steps), live=feed.live)


def require_steps(done: int, steps: int | None, data: str) -> None:
    """SpecError if the data have ended before so many steps."""
    if steps is not None and done < steps:
        rows = plural(done, "row")
        raise SpecError(f"{data} has {rows}, but --steps is {steps}", write=f"--steps {done}, or more rows")


def keep_needs_data(option: str, write: str) -> SpecError:
    """The error for columns to keep of a run on samples."""
    return SpecError(f"{option}: samples have no columns to keep; these are of data", write=write)


def first_notes(planned: Plan, columns: tuple[str, ...]) -> Iterator[str]:
    """Notes for the beginning of a run: warnings, and inputs that are not read or have no values of their own.
    `columns` are those of the data."""
    specification = planned.specification
    yield from specification.warnings
    there = {c.split(".")[0] for c in columns}
    for name in specification.unused:
        if name in there:
            yield f"{specification.name} does not use {name}, which the file declares: its values are not read"
    for given in specification.inputs:
        if not given.extern and given.var in planned.inputs:
            yield f"{given.name} may have any value; this run uses its type's default if the input has none"
    if not (specification.triggers or specification.observers or planned.properties or planned.assumptions):
        yield f"{specification.name} has no trigger, no observer and no property to show"


class Violations:
    """The steps at which claims are false. Once an assumption has been false, properties no longer count."""

    def __init__(self, planned: Plan) -> None:
        self._assumptions = [f"assumption {name}" for name, _ in planned.assumptions]
        self._properties = [f"property {name}" for name, _ in planned.properties]
        self._assumed = True
        self._times: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._times)

    def add(self, chunk: Chunk) -> list[str]:
        """Count these steps. Returns a note for each claim that is false for the first time."""
        count = len(chunk.steps)
        unmet = list(zip(self._assumptions, chunk.assumptions, strict=True))
        end = min([t.find(0) for _, t in unmet if 0 in t], default=count) if self._assumed else 0
        broken = list(zip(self._properties, [truth[:end] for truth in chunk.properties], strict=True))
        self._assumed = self._assumed and end == count
        first = [(t.find(0), claim) for claim, t in [*unmet, *broken] if 0 in t and claim not in self._times]
        for claim, truth in [*unmet, *broken]:
            if 0 in truth:
                self._times[claim] += truth.count(0)
        notes = []
        for place, claim in sorted(first, key=lambda f: f[0]):
            when = "".join(f", {column[place]}" for column in chunk.kept if column[place])
            notes.append(f"{claim} is false at step {chunk.steps[place]}{when}")
        return notes

    def totals(self) -> list[str]:
        """Notes for the end: how often a claim was false, if more than once."""
        often = [c for c in [*self._assumptions, *self._properties] if self._times[c] > 1]
        return [f"{claim} was false at {self._times[claim]} steps" for claim in often]
