"""The steps of a run as a table, CSV or JSON lines, written as they come.

After the step come the columns of the data that are kept, the triggers, the observers, and the properties and
assumptions that a run can decide (those that operators imply are in notes alone).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from json.encoder import encode_basestring_ascii
from typing import Any

from streamcheck.core.types import Type
from streamcheck.interpret.chunks import Chunk
from streamcheck.interpret.python_code import Plan
from streamcheck.interpret.step import Step
from streamcheck.problem.claim import OfContract
from streamcheck.problem.specification import Named, Trigger
from streamcheck.report.values import Show, json_text_of, text_of

SAMPLE = 16  # rows that determine the widths of a table
NOT_FIRED = "--"
TRUTH = ("false", "true")
LIVE_WIDTH = 8


@dataclass(frozen=True, slots=True)
class RunColumns:
    """The columns of a run's output, in their order. Each has a title of its own: the name, with a word behind it if
    another column has that name."""

    kept: tuple[str, ...]
    triggers: tuple[Trigger, ...]
    observers: tuple[Named, ...]
    claims: tuple[tuple[str, bool, int], ...]  # the name, whether it is a property, and its place among such
    titles: tuple[str, ...]  # of all columns, "step" first

    @staticmethod
    def of(planned: Plan, kept: tuple[str, ...] = ()) -> RunColumns:
        specification = planned.specification
        triggers, observers = specification.triggers, specification.observers
        implied = {p.name for p in specification.properties if p.is_implied or isinstance(p.origin, OfContract)}
        claims = [(name, True, i) for i, (name, _) in enumerate(planned.properties) if name not in implied]
        claims += [(name, False, i) for i, (name, _) in enumerate(planned.assumptions)]
        titles = {"step": None}
        for word, names in (
            ("data", kept),
            ("trigger", [t.name for t in triggers]),
            ("observer", [o.name for o in observers]),
            ("property", [name for name, is_property, _ in claims if is_property]),
            ("assumption", [name for name, is_property, _ in claims if not is_property]),
        ):
            for name in names:
                titles[_apart(name, word, titles)] = None
        return RunColumns(kept, triggers, observers, tuple(claims), tuple(titles))

    def values(self, step: Step) -> list[Any]:
        """The values of a step in Python: of a trigger its arguments, None if it does not fire."""
        kept = [step.kept[name] for name in self.kept]
        called = [step.triggers.get(t.name) for t in self.triggers]
        observed = [step.observers[o.name] for o in self.observers]
        return [
            *kept,
            *called,
            *observed,
            *(name not in (step.broken if p else step.unmet) for name, p, _ in self.claims),
        ]

    def truths(self, chunk: Chunk) -> Iterator[bytes]:
        """The columns of the claims."""
        for _, is_property, place in self.claims:
            yield (chunk.properties if is_property else chunk.assumptions)[place]

    def table_columns(self, chunk: Chunk) -> Iterator[list[str]]:
        yield list(map(str, chunk.steps))
        yield from map(list, chunk.kept)
        for trigger, fired, args in zip(self.triggers, chunk.fired, chunk.args, strict=True):
            yield _calls([text_of(arg.type) for _, arg in trigger.args], fired, args)
        for observer, values in zip(self.observers, chunk.observers, strict=True):
            yield list(map(text_of(observer.term.type), values))
        yield from (list(map(TRUTH.__getitem__, truth)) for truth in self.truths(chunk))


def _apart(name: str, word: str, taken: Container[str]) -> str:
    title = f"{name} ({word})" if name in taken else name
    return _apart(title, word, taken) if title in taken else title


def _calls(shows: list[Show], fired: Sequence[Any], args: Sequence[Sequence[Any]]) -> list[str]:
    """The arguments in parentheses where the trigger fires."""
    if not shows:
        return ["()" if fires else NOT_FIRED for fires in fired]
    rows = zip(*args, strict=True)
    return [
        f"({', '.join([show(a) for show, a in zip(shows, row, strict=True)])})" if fires else NOT_FIRED
        for fires, row in zip(fired, rows, strict=True)
    ]


def table(columns: RunColumns, chunks: Iterator[Chunk], *, live: bool) -> Iterator[str]:
    """Lines of a table. For a live feed, each row is written immediately, with fixed widths. If there is no row for an
    error, there is no line."""
    first: list[tuple[str, ...]] = []
    failed = None
    try:
        while len(first) < (1 if live else SAMPLE):
            first += zip(*columns.table_columns(next(chunks)), strict=True)
    except StopIteration:
        pass
    except Exception as error:  # a run that fails shows its rows before the error
        if not first:
            raise
        failed = error
    titles = columns.titles
    widths = [max(map(len, cells)) for cells in zip(titles, *first[:SAMPLE], strict=True)]
    if live:
        widths = [max(width, LIVE_WIDTH) for width in widths]
    layout = "  ".join(f"%{width}s" for width in widths)
    rest = chain.from_iterable(zip(*columns.table_columns(chunk), strict=True) for chunk in chunks)
    yield from map(layout.__mod__, chain([titles], first, _raise_error(failed), rest))


def _raise_error(error: Exception | None) -> Iterator[tuple[str, ...]]:
    if error is not None:
        raise error
    yield from ()


def csv_lines(columns: RunColumns, chunks: Iterator[Chunk]) -> Iterator[str]:
    """A column for each trigger (true if it fires) and for each of its arguments (empty if not)."""
    begin = 1 + len(columns.kept)
    titles, rest = list(columns.titles[:begin]), columns.titles[begin:]
    for trigger, title in zip(columns.triggers, rest, strict=False):
        titles.append(title)
        titles += [f"{title}.{name or i}" for i, (name, _) in enumerate(trigger.args)]
    titles += rest[len(columns.triggers) :]
    first = list(islice(chunks, 1))  # an error of the first row comes before the titles
    yield ",".join(map(_quote, titles))
    for chunk in chain(first, chunks):
        yield from map(",".join, zip(*_csv_columns(columns, chunk), strict=True))


def _csv_columns(columns: RunColumns, chunk: Chunk) -> Iterator[list[str]]:
    yield list(map(str, chunk.steps))
    yield from map(_quote_all, chunk.kept)
    for trigger, fired, args in zip(columns.triggers, chunk.fired, chunk.args, strict=True):
        yield [TRUTH[fires] for fires in fired]
        for (_, arg), values in zip(trigger.args, args, strict=True):
            show = _column(arg.type)
            yield [show(value) if fires else "" for fires, value in zip(fired, values, strict=True)]
    for observer, values in zip(columns.observers, chunk.observers, strict=True):
        yield list(map(_column(observer.term.type), values))
    yield from (list(map(TRUTH.__getitem__, truth)) for truth in columns.truths(chunk))


def _column(type: Type) -> Show:
    show = text_of(type)
    return (lambda value: _quote(show(value))) if type.kind in ("array", "struct") else show


def _quote_all(texts: Sequence[str]) -> list[str]:
    together = "".join(texts)
    return list(map(_quote, texts)) if any(c in together for c in ',"\n') else list(texts)


def _quote(cell: str) -> str:
    if any(c in cell for c in ',"\n'):
        escaped = cell.replace('"', '""')
        return f'"{escaped}"'
    return cell


def json_lines(columns: RunColumns, planned: Plan, chunks: Iterator[Chunk]) -> Iterator[str]:
    """`{"step": 0, "triggers": {"alarm": [3]}, "observers": {"ok": true}}`; named arguments are an object. Then the
    names of the properties and assumptions that are false, if any."""
    keys = [json.dumps(o.name).replace("%", "%%") for o in columns.observers]
    layout = '{"step": %s%s, "triggers": {%s}, "observers": {' + ", ".join(f"{key}: %s" for key in keys) + "}%s}"
    for chunk in chunks:
        observed = [
            list(map(json_text_of(o.term.type), values))
            for o, values in zip(columns.observers, chunk.observers, strict=True)
        ]
        kept, fired, false = _json_kept(columns, chunk), _json_calls(columns, chunk), _json_false(planned, chunk)
        yield from map(layout.__mod__, zip(chunk.steps, kept, fired, *observed, false, strict=True))


def _json_kept(columns: RunColumns, chunk: Chunk) -> list[str]:
    if not columns.kept:
        return [""] * len(chunk.steps)
    keys = [json.dumps(name).replace("%", "%%") for name in columns.kept]
    layout = ', "kept": {' + ", ".join(f"{key}: %s" for key in keys) + "}"
    return list(map(layout.__mod__, zip(*(map(encode_basestring_ascii, texts) for texts in chunk.kept), strict=True)))


def _json_calls(columns: RunColumns, chunk: Chunk) -> list[str]:
    calls: list[list[str]] = [[] for _ in chunk.steps]
    for trigger, fired, args in zip(columns.triggers, chunk.fired, chunk.args, strict=True):
        key, show = f"{json.dumps(trigger.name)}: ", _arguments(trigger)
        rows = zip(*args, strict=True) if args else ((),) * len(chunk.steps)
        for called, fires, row in zip(calls, fired, rows, strict=True):
            if fires:
                called.append(key + show(row))
    return [", ".join(called) for called in calls]


def _json_false(planned: Plan, chunk: Chunk) -> list[str]:
    """The names of what is false at each step."""
    texts = [""] * len(chunk.steps)
    for key, named, truths in (
        ("broken", planned.properties, chunk.properties),
        ("unmet", planned.assumptions, chunk.assumptions),
    ):
        false: dict[int, list[str]] = {}
        for (name, _), truth in zip(named, truths, strict=True):
            place = truth.find(0)
            while place >= 0:
                false.setdefault(place, []).append(name)
                place = truth.find(0, place + 1)
        for place, names in false.items():
            texts[place] += f", {json.dumps(key)}: {json.dumps(names)}"
    return texts


def _arguments(trigger: Trigger) -> Callable[[tuple[Any, ...]], str]:
    encoders = [json_text_of(arg.type) for _, arg in trigger.args]
    names = [json.dumps(name) for name, _ in trigger.args if name is not None]
    if encoders and len(names) == len(encoders):
        return lambda args: f"{{{', '.join([f'{n}: {e(a)}' for n, e, a in zip(names, encoders, args, strict=True)])}}}"
    return lambda args: f"[{', '.join([e(a) for e, a in zip(encoders, args, strict=True)])}]"
