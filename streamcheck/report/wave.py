"""The steps of a run as a timing diagram: a row for each trigger and observer, a column for each step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from streamcheck.core.types import Type
from streamcheck.interpret.step import Step
from streamcheck.problem.specification import Specification
from streamcheck.report.values import text_of

WIDTH = 72  # steps in a band
LOW, HIGH = "▁", "▇"
HEIGHTS = "▁▂▃▄▅▆▇█"
FIRED, QUIET = "●", "·"


def wave_lines(specification: Specification, steps: Iterator[Step]) -> Iterator[str]:
    """The lines of the diagram, in bands of at most 72 steps."""
    run = list(steps)
    names = ["step", *(t.name for t in specification.triggers), *(o.name for o in specification.observers)]
    rows = [_ruler(len(run))]
    rows += ["".join(FIRED if t.name in s.triggers else QUIET for s in run) for t in specification.triggers]
    notes = [""] * len(rows)
    for observer in specification.observers:
        values = [s.observers[observer.name] for s in run]
        row, note = _row_of(observer.term.type, values)
        rows.append(row)
        notes.append(note)
    margin = max(map(len, names))
    for begin in range(0, len(run), WIDTH):
        if begin:
            yield ""
        for name, row, note in zip(names, rows, notes, strict=True):
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
