"""The causes of a violation as lines, from the last step back.

The first value of each name has a line, with what it was computed from and the line of the spec; its values at earlier
steps stand side by side. As in the table of the run, equal steps are one line, and the middle of a long chain is left
out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from streamcheck.core.types import plural
from streamcheck.problem.result import Cause
from streamcheck.problem.specification import Specification
from streamcheck.report.equations import term_text
from streamcheck.report.trace import FEWEST_EQUAL, HEAD, TAIL, TraceOptions, fits
from streamcheck.report.values import as_text

MOST_CAUSES = 40  # lines with definitions
INDENT = "      "


@dataclass(slots=True)
class Moment:
    """The causes of a step, or of equal ones: values with their definitions, and values of names that have one."""

    first: int
    last: int
    defined: list[tuple[str, str]] = field(default_factory=list)
    again: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return f"step {self.first}" if self.first == self.last else f"step {self.first}…{self.last}"

    @property
    def count(self) -> int:
        return self.last - self.first + 1


def cause_lines(specification: Specification, causes: Iterable[Cause], options: TraceOptions) -> Iterator[str]:
    chosen = (cause for cause in causes if _is_chosen(specification, cause, options))
    moments = list(_moments(specification, chosen))
    shown: list[Moment | int] = [*moments] if options.full else list(_without_middle(_fold(moments)))
    rows: list[tuple[str, str, str]] = []
    for moment in shown:
        if isinstance(moment, int):
            rows.append((f"…  {plural(moment, 'step')} more ({options.words.full})", "", ""))
            continue
        rows += [(moment.title, value, definition) for value, definition in moment.defined]
        rows += [(moment.title, ", ".join(moment.again), "")] * bool(moment.again)
    defined = [row for row in rows if row[2]]
    if len(defined) > MOST_CAUSES and not options.full:
        last = rows.index(defined[MOST_CAUSES])
        rows = [*rows[:last], (f"…  {plural(len(rows) - last, 'line')} more ({options.words.full})", "", "")]
    widths = [max((len(row[i]) for row in rows if row[i + 1]), default=0) for i in range(2)]
    for when, value, definition in rows:
        yield f"{INDENT}{when:{widths[0]}}  {value:{widths[1]}}  {definition}".rstrip()


def _is_chosen(specification: Specification, cause: Cause, options: TraceOptions) -> bool:
    first, last = options.steps or (0, cause.step)
    names = {cause.name, _name_of(specification, cause)}
    return first <= cause.step <= last and (
        not options.rows or any(fits(name, pattern) for name in names for pattern in options.rows)
    )


def _moments(specification: Specification, causes: Iterable[Cause]) -> Iterator[Moment]:
    """The last step first."""
    known: set[str] = set()
    for step, group in groupby(sorted(causes, key=lambda cause: -cause.step), lambda cause: cause.step):
        moment = Moment(step, step)
        for cause in group:
            value = f"{_name_of(specification, cause)} = {as_text(cause.term.type, cause.value)}"
            if cause.name in known:
                moment.again.append(value)
            else:
                moment.defined.append((value, _definition(specification, cause)))
                known.add(cause.name)
        yield moment


def _fold(moments: Iterable[Moment]) -> Iterator[Moment]:
    """Several equal steps become one, if none is missing between them."""
    # Down from the last step, the sum of step and place stays the same until steps are missing.
    places = enumerate(moments)
    for _, group in groupby(places, lambda row: (row[0] + row[1].first, row[1].defined, row[1].again)):
        equal = [moment for _, moment in group]
        if len(equal) >= FEWEST_EQUAL:
            yield Moment(equal[-1].first, equal[0].last, equal[0].defined, equal[0].again)
        else:
            yield from equal


def _without_middle(moments: Iterable[Moment]) -> Iterator[Moment | int]:
    """The last steps and the first ones, and those in which a name comes for the first time; for others their
    number."""
    moments = list(moments)
    hidden = 0
    for i, moment in enumerate(moments):
        is_middle = TAIL <= i < len(moments) - HEAD and not moment.defined
        if is_middle and len(moments) > HEAD + TAIL + 1:
            hidden += moment.count
            continue
        if hidden:
            yield hidden
            hidden = 0
        yield moment


def _name_of(specification: Specification, cause: Cause) -> str:
    """The name; of a stream without one, the delay or its line."""
    return cause.name if cause.term.op != "var" else term_text(specification, cause.term)


def _definition(specification: Specification, cause: Cause) -> str:
    where = "" if cause.where is None else f"  ({cause.where})"
    if cause.definition is None:
        return f"input{where}"
    before = f"at step {cause.step - 1}: " if cause.delayed else ""
    named = {w.term: w.name for w in specification.wires if cause.term.op == "var"}
    text = named.get(cause.definition) or term_text(specification, cause.definition)
    return f"= {before}{text}{where}"
