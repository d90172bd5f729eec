"""Runs as timelines: for each name its values, a step each, as the page's script reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal

from streamcheck.core.location import Location
from streamcheck.core.term import Term
from streamcheck.core.types import Type, part_names, scalar_parts
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.result import PathReplay, Replay
from streamcheck.problem.specification import Specification
from streamcheck.report.c_text import variable_text
from streamcheck.report.page.sources import Sources
from streamcheck.report.program import path_rows
from streamcheck.report.trace import AS_USUAL, TraceOptions, repeated_words, rows_of
from streamcheck.report.values import as_text

Kind = Literal["bool", "number", "text", "event"]
EVERYTHING = TraceOptions(full=True)
MOST_PARTS = 64  # of an array or a struct, which have rows of their own


@dataclass(frozen=True, slots=True)
class Signal:
    """The values of one name as texts, empty where it has none. At the steps in `free` any value will do. `matters` is
    false if the violation does not depend on it."""

    name: str
    kind: Kind
    texts: Sequence[str]
    free: frozenset[int] = frozenset()
    matters: bool = True
    claim: bool = False
    where: Location | None = None

    def to_plain(self, sources: Sources) -> dict[str, Any]:
        row: dict[str, Any] = {"name": self.name, "kind": self.kind}
        row["runs"] = [[text, sum(1 for _ in same)] for text, same in groupby(self.texts)]
        if self.free:
            row["free"] = sorted(self.free)
        if not self.matters:
            row["aside"] = True
        if self.claim:
            row["claim"] = True
        place = sources.place(self.where)
        return row if place is None else row | {"at": place}


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """Signals over steps with these numbers; some are missing where rounds were computed at once. `bad` is the place of
    the step that is marked; from `loop` on the steps are repeated forever. `lines` are those executed at each step."""

    title: str
    numbers: Sequence[int]
    signals: Sequence[Signal]
    bad: int | None = None
    loop: int | None = None
    note: str = ""
    step: str = "step"
    lines: Sequence[Location | None] = field(default=())
    claim_at: Location | None = None

    def to_plain(self, sources: Sources) -> dict[str, Any]:
        row: dict[str, Any] = {"title": self.title, "step": self.step, "bad": self.bad, "note": self.note}
        first, count = (self.numbers[0], len(self.numbers)) if self.numbers else (0, 0)
        in_turn = list(self.numbers) == list(range(first, first + count))
        row["numbers"] = [first, count] if in_turn else {"each": list(self.numbers)}
        row["loop"] = None if self.loop is None else list(self.numbers).index(self.loop)
        row["signals"] = [s.to_plain(sources) for s in self.signals]
        row["claim_at"] = sources.place(self.claim_at)
        if self.lines:
            row["lines"] = [sources.place(where) for where in self.lines]
        return row


def run_timeline_of(specification: Specification, claim: Claim, run: Replay) -> RunTimeline:
    """A counterexample or a witness."""
    needed = {node for _, node in rows_of(specification, claim, run, AS_USUAL)}
    chosen = {*specification.choices(), *(c.var for c in specification.cells if c.free)}
    places = _places(specification)
    signals: list[Signal] = []
    for name, node in rows_of(specification, claim, run, EVERYTHING):
        free: frozenset[int] = frozenset()
        if node in chosen:
            free = frozenset(i for i, names in enumerate(run.matters) if node.payload not in names)
        about = _Row(free, node in needed, node is claim.term, claim.where if node is claim.term else places.get(node))
        signals += _parts(name, node.type, [values[node] for values in run.steps], about)
    ends_badly = run.loop is None
    return RunTimeline(
        claim.name,
        run.numbers,
        signals,
        len(run.steps) - 1 if ends_badly and claim.goal is Goal.ALWAYS else None,
        run.loop,
        "" if run.loop is None else repeated_words(run),
        claim_at=claim.where,
    )


@dataclass(frozen=True, slots=True)
class _Row:
    free: frozenset[int]
    matters: bool
    claim: bool
    where: Location | None


def _parts(name: str, type: Type, values: Sequence[Any], about: _Row) -> Iterator[Signal]:
    """The row of a stream; of an array or a struct, a row for each part, unless they are many."""
    parts = list(part_names(name, type))
    if not 1 <= len(parts) <= MOST_PARTS:
        texts = [as_text(type, value) for value in values]
        yield Signal(name, "text", texts, about.free, about.matters, about.claim, about.where)
        return
    columns = zip(*(list(scalar_parts(value)) for value in values), strict=True)
    for (part, kind), column in zip(parts, columns, strict=True):
        texts = [as_text(kind, value) for value in column]
        yield Signal(part, kind_of(kind), texts, about.free, about.matters, about.claim, about.where)


def kind_of(type: Type) -> Kind:
    return "bool" if type.kind == "bool" else "number" if type.is_number else "text"


def _places(specification: Specification) -> dict[Term, Location | None]:
    """The line of each stream that the user named."""
    places: dict[Term, Location | None] = {}
    for observer in (*specification.observers, *specification.wires):
        places[observer.term] = observer.where
    for cell in specification.cells:
        places[cell.var] = cell.where
    for constant in specification.constants:
        places[constant.var] = constant.where
    for given in specification.inputs:
        places[given.var] = given.where
    return places


def path_timeline(claim: Claim, path: PathReplay) -> RunTimeline:
    """The run of a program: a step for each statement, or for its rounds."""
    rows = list(path_rows(path))
    shown = list(dict.fromkeys(v for row in rows for v in row.values))
    signals = [Signal("statement", "text", [row.text for row in rows])]
    for v in shown:
        texts = [as_text(v.type, row.values[v]) if v in row.values else "" for row in rows]
        signals.append(Signal(variable_text(str(v.payload)), kind_of(v.type), texts))
    lines = [None if row.step is None or not hasattr(row.step, "edge") else row.step.edge.where for row in rows]
    return RunTimeline(
        claim.name,
        [row.number for row in rows],
        signals,
        len(rows) - 1,
        step="statement",
        lines=lines,
        claim_at=claim.where,
    )
