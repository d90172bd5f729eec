"""Rows of values over time as SVG: Booleans as levels, triggers as dots, numbers and all others as segments.

A segment shows its value if there is room, and always as a tooltip. A long run is cut to its last steps.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from streamcheck.core.types import Type
from streamcheck.interpret.step import Step
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification
from streamcheck.report.trace import AS_USUAL, rows_of
from streamcheck.report.values import as_text, text_of

MOST_STEPS = 200  # that are drawn
ROW, BAR, LETTER, PADDING, MARGIN = 26, 16, 7.2, 10, 8
NARROWEST, WIDEST, WHOLE = 6, 90, 900  # of a step, and of the picture if its steps can be narrow
TRUE_FILL, FALSE_FILL, VALUE_FILL, FREE_FILL = "#8fc98b", "#f2a59b", "#dbe7f5", "#f3f3f3"


@dataclass(frozen=True, slots=True)
class TimeRow:
    """The values of one name as texts, a step each. `free` are steps at which any value will do. Of a `claim`, false is
    a violation."""

    name: str
    kind: Literal["levels", "events", "values"]
    texts: Sequence[str]
    free: frozenset[int] = field(default=frozenset())
    claim: bool = False


def timeline(title: str, rows: Sequence[TimeRow], numbers: Sequence[int]) -> str:
    """The rows below a ruler with the numbers of the steps."""
    length = max((len(row.texts) for row in rows), default=0)
    begin = max(0, length - MOST_STEPS)
    left = MARGIN + max((len(row.name) for row in rows), default=0) * LETTER + PADDING
    wide = _width_of_step(rows, length - begin)
    width, height = left + (length - begin) * wide + MARGIN, (len(rows) + 1) * ROW + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{html.escape(title)}" font-family="sans-serif" font-size="12">',
        *_ruler(numbers[begin:length], left, wide),
    ]
    for number, row in enumerate(rows, 1):
        top = number * ROW
        name = html.escape(row.name)
        lines.append(f'<text x="{MARGIN}" y="{top + BAR - 3}" fill="currentColor">{name}</text>')
        lines += _row(row, begin, left, top, wide)
    return "\n".join([*lines, "</svg>"])


def run_timeline(specification: Specification, claim: Claim, run: Replay) -> str:
    """A counterexample or a witness, with the rows of its table."""
    chosen = {*specification.choices(), *(c.var for c in specification.cells if c.free)}
    rows = []
    for name, node in rows_of(specification, claim, run, AS_USUAL):
        texts = [as_text(node.type, values[node]) for values in run.steps]
        free = (i for i, names in enumerate(run.matters) if node in chosen and node.payload not in names)
        rows.append(TimeRow(name, kind_of(node.type), texts, frozenset(free), claim=node is claim.term))
    return timeline(f"{specification.name}: {claim.name}", rows, run.numbers)


def run_of_steps(specification: Specification, steps: Sequence[Step]) -> str:
    """Triggers, observers, and the claims that are false at some step."""
    rows = []
    for trigger in specification.triggers:
        calls = [_call(step.triggers.get(trigger.name)) for step in steps]
        rows.append(TimeRow(trigger.name, "events", calls))
    for observer in specification.observers:
        show = text_of(observer.term.type)
        rows.append(
            TimeRow(observer.name, kind_of(observer.term.type), [show(s.observers[observer.name]) for s in steps])
        )
    for names in ([s.broken for s in steps], [s.unmet for s in steps]):
        for name in dict.fromkeys(name for step in names for name in step):
            rows.append(TimeRow(name, "levels", [str(name not in step).lower() for step in names], claim=True))
    return timeline(specification.name, rows, [s.step for s in steps])


def _call(args: tuple[object, ...] | None) -> str:
    return "" if args is None else f"({', '.join(map(str, args))})"


def kind_of(type: Type) -> Literal["levels", "values"]:
    return "levels" if type.kind == "bool" else "values"


def _width_of_step(rows: Sequence[TimeRow], steps: int) -> float:
    """Room for the longest value, if the picture is not too wide then."""
    texts = [text for row in rows if row.kind == "values" for text in row.texts]
    longest = max(map(len, texts), default=2) * LETTER + PADDING
    return max(NARROWEST, min(WIDEST, longest, WHOLE / max(1, steps)))


def _ruler(numbers: Sequence[int], left: float, wide: float) -> Iterator[str]:
    every = max(1, round(30 / wide))
    for place, step in enumerate(numbers):
        if step % every == 0 or (place and step != numbers[place - 1] + 1):
            x = left + place * wide
            yield f'<text x="{x + wide / 2:.1f}" y="{ROW - PADDING}" fill="#888" text-anchor="middle">{step}</text>'


def _row(row: TimeRow, begin: int, left: float, top: float, wide: float) -> Iterator[str]:
    """The segments of equal values, or the dots."""
    texts = [(text, i in row.free) for i, text in enumerate(row.texts)][begin:]
    step = 0
    for (text, free), group in groupby(texts):
        count = sum(1 for _ in group)
        x, width = left + step * wide, count * wide
        step += count
        shown = html.escape(f"({text})" if free else text)
        if row.kind == "events":
            if text:
                yield from (_dot(x + (i + 0.5) * wide, top, shown) for i in range(count))
        elif row.kind == "levels":
            yield _level(text == "true", x, top, width, shown, free=free, wrong=row.claim and text == "false")
        else:
            yield _segment(shown, x, top, width, free=free)


def _dot(x: float, top: float, text: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{top + BAR / 2:.1f}" r="4" fill="#d9822b"><title>{text}</title></circle>'


def _level(value: bool, x: float, top: float, width: float, text: str, *, free: bool, wrong: bool) -> str:
    high = 2 if value else BAR - 3
    fill = FREE_FILL if free else FALSE_FILL if wrong else TRUE_FILL if value else "none"
    line = f"M{x:.1f} {top + high:.1f}h{width:.1f}"
    area = f'<rect x="{x:.1f}" y="{top + 2}" width="{width:.1f}" height="{BAR - 5}" fill="{fill}"/>'
    return f'<g><title>{text}</title>{area}<path d="{line}" stroke="#666" stroke-width="1.5" fill="none"/></g>'


def _segment(text: str, x: float, top: float, width: float, *, free: bool) -> str:
    room = int((width - 4) / LETTER)
    label = ""
    if room >= len(html.unescape(text)):
        fill = "#999" if free else "#222"
        middle = x + width / 2
        label = f'<text x="{middle:.1f}" y="{top + BAR - 3.5}" text-anchor="middle" fill="{fill}">{text}</text>'
    fill = FREE_FILL if free else VALUE_FILL
    return (
        f'<g><title>{text}</title><rect x="{x + 0.5:.1f}" y="{top}" width="{max(1, width - 1):.1f}" height="{BAR}" '
        f'rx="3" fill="{fill}" stroke="#9ab"/>{label}</g>'
    )
