"""The steps of a run as a timing diagram, a column for each step. The rows are triggers and observers, and the
properties and assumptions that are false at some step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from streamcheck.core.types import BOOL, Type
from streamcheck.interpret.chunks import Chunk
from streamcheck.report.steps import RunColumns
from streamcheck.report.values import text_of

WIDTH = 72  # steps in a band
LOW, HIGH = "▁", "▇"
HEIGHTS = "▁▂▃▄▅▆▇█"
FIRED, QUIET = "●", "·"


def wave_lines(columns: RunColumns, chunks: Iterator[Chunk]) -> Iterator[str]:
    """The lines of the diagram, in bands of at most 72 steps."""
    run = list(chunks)
    length = sum(len(chunk.steps) for chunk in run)
    rows = [("step", _ruler(length), "")]
    titles = iter(columns.titles[1 + len(columns.kept) :])
    for i in range(len(columns.triggers)):
        fired = chain.from_iterable(chunk.fired[i] for chunk in run)
        rows.append((next(titles), "".join(FIRED if fires else QUIET for fires in fired), ""))
    for i, observer in enumerate(columns.observers):
        values = list(chain.from_iterable(chunk.observers[i] for chunk in run))
        rows.append((next(titles), *_row_of(observer.term.type, values)))
    truths = list(zip(*(columns.truths(chunk) for chunk in run), strict=True))
    for title, parts in zip(titles if run else (), truths, strict=True):
        if any(0 in part for part in parts):
            rows.append((title, *_row_of(BOOL, list(chain.from_iterable(parts)))))
    margin = max(len(name) for name, _, _ in rows)
    for begin in range(0, length, WIDTH):
        if begin:
            yield ""
        for name, row, note in rows:
            yield f"{name:{margin}}  {row[begin : begin + WIDTH]}{note}".rstrip()


def _ruler(length: int) -> str:
    """The numbers of every tenth step."""
    return "".join(f"{i:<10}" for i in range(0, length, 10))[:length]


def _row_of(type: Type, values: Sequence[Any]) -> tuple[str, str]:
    """The row of an observer, and the range of its numbers."""
    show = text_of(type)
    if type.kind == "bool":
        return "".join(HIGH if value else LOW for value in values), ""
    if not type.is_number:
        return "".join(_segment(show(value), len(list(run))) for value, run in groupby(values)), ""
    numbers = [v for v in values if math.isfinite(v)]
    if not numbers:
        return "?" * len(values), ""
    least, most = min(numbers), max(numbers)
    note = f"  {show(least)}" + (f" to {show(most)}" if most != least else "")
    return "".join(_height(value, least, most) for value in values), note


def _height(value: Any, least: Any, most: Any) -> str:
    if not math.isfinite(value):
        return "?"
    return HEIGHTS[int((len(HEIGHTS) - 1) * (value - least) / (most - least))] if most != least else HEIGHTS[0]


def _segment(text: str, length: int) -> str:
    """A value for so many steps: a bar, then as much of its text as fits."""
    return ("|" + text)[:length].ljust(length)
