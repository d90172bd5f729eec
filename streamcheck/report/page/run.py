"""A run of the interpreter on a page: inputs, data that are kept, triggers, observers and claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcheck.core.types import plural
from streamcheck.interpret.chunks import Chunk
from streamcheck.interpret.python_code import Plan
from streamcheck.report.page.document import LEGEND, Page
from streamcheck.report.page.signals import RunTimeline, Signal, kind_of
from streamcheck.report.steps import NOT_FIRED, RunColumns
from streamcheck.report.values import text_of

MOST_STEPS = 20_000  # of a page


@dataclass(slots=True)
class RecordedSteps:
    """The first steps of a run, as they pass by."""

    planned: Plan
    columns: RunColumns
    _inputs: list[Sequence[Any]] = field(default_factory=list)  # a row for each step, if they are known
    _numbers: list[int] = field(default_factory=list)
    _texts: list[list[str]] = field(default_factory=list)  # a list for each column
    _more: int = 0  # steps that are left out

    def inputs(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The same rows."""
        for row in rows:
            if len(self._inputs) < MOST_STEPS:
                self._inputs.append(row)
            yield row

    def chunks(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """The same steps."""
        for chunk in chunks:
            self.add(chunk)
            yield chunk

    def add(self, chunk: Chunk) -> None:
        self._texts = self._texts or [[] for _ in self.columns.titles]
        room = max(0, MOST_STEPS - len(self._numbers))
        self._more += max(0, len(chunk.steps) - room)
        self._numbers += chunk.steps[:room]
        for texts, column in zip(self._texts, self.columns.table_columns(chunk), strict=True):
            texts += column[:room]

    def timeline(self) -> RunTimeline:
        """The run; to be asked for at its end."""
        signals = [*self._input_signals(), *self._column_signals()]
        claims = [s for s in signals if s.claim]
        bad = next((i for i in range(len(self._numbers)) if any(s.texts[i] == "false" for s in claims)), None)
        shown, all_steps = len(self._numbers), len(self._numbers) + self._more
        more = f"The first {plural(shown, 'step')} of {all_steps}." if self._more else ""
        return RunTimeline(self.planned.specification.name, self._numbers, signals, bad, note=more)

    def page(self, file: str) -> Page:
        """The run as a page; to be asked for at its end."""
        name = self.planned.specification.name
        page = Page(f"{name}: a run")
        facts = [file, plural(len(self._numbers) + self._more, "step")]
        page.section(name, facts, [page.timeline(self.timeline()), f'<p class="legend">{LEGEND}</p>'])
        return page

    def _input_signals(self) -> Iterator[Signal]:
        if self._numbers and len(self._inputs) <= self._numbers[-1]:
            return  # compiled code has read them
        known = {i.var: i for i in self.planned.specification.inputs}
        for i, var in enumerate(self.planned.inputs):
            show = text_of(var.type)
            texts = [show(self._inputs[number][i]) for number in self._numbers]
            yield Signal(known[var].name, kind_of(var.type), texts, where=known[var].where)

    def _column_signals(self) -> Iterator[Signal]:
        titles, texts = iter(self.columns.titles[1:]), iter(self._texts[1:])
        for _ in self.columns.kept:
            yield Signal(next(titles), "text", next(texts))
        for trigger in self.columns.triggers:
            calls = ["" if text == NOT_FIRED else text for text in next(texts)]
            yield Signal(next(titles), "event", calls, where=trigger.where)
        for observer in self.columns.observers:
            yield Signal(next(titles), kind_of(observer.term.type), next(texts), where=observer.where)
        specification = self.planned.specification
        for name, is_property, _ in self.columns.claims:
            claims = specification.properties if is_property else specification.assumptions
            where = next(c.where for c in claims if c.name == name)
            yield Signal(next(titles), "bool", next(texts), claim=True, where=where)
