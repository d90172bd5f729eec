"""The steps of a run as a table, CSV or JSON lines, written as they come."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

from streamcheck.core.types import Type
from streamcheck.interpret.step import Step
from streamcheck.problem.specification import Specification, Trigger
from streamcheck.report.values import Show, json_text_of, text_of

SAMPLE = 16  # rows that determine the widths of a table
NOT_FIRED = "--"


def table(specification: Specification, steps: Iterator[Step], *, live: bool) -> Iterator[str]:
    """Lines of a table. For a live feed, each row is written immediately, with fixed widths."""
    columns = ["step", *(t.name for t in specification.triggers), *(o.name for o in specification.observers)]
    rows = _table_rows(specification, steps)
    first: list[list[str]] = []
    failed = None
    try:
        first.extend([] if live else islice(rows, SAMPLE))
    except Exception as error:  # a run that fails shows its rows before the error
        failed = error
    widths = [max(map(len, column)) for column in zip(columns, *first, strict=True)]
    if live:
        widths = [max(width, 8) for width in widths]
    layout = "  ".join(f"%{width}s" for width in widths)
    for row in chain([columns], first, _raise_error(failed), rows):
        yield layout % tuple(row)


def _raise_error(error: Exception | None) -> Iterator[list[str]]:
    if error is not None:
        raise error
    yield from ()


def _table_rows(specification: Specification, steps: Iterator[Step]) -> Iterator[list[str]]:
    triggers = [(t.name, [text_of(arg.type) for _, arg in t.args]) for t in specification.triggers]
    observers = [(o.name, text_of(o.term.type)) for o in specification.observers]
    for step in steps:
        row = [str(step.step)]
        for name, shows in triggers:
            args = step.triggers.get(name)
            row.append(
                NOT_FIRED if args is None else f"({', '.join([s(a) for s, a in zip(shows, args, strict=True)])})"
            )
        row += [show(step.observers[name]) for name, show in observers]
        yield row


def csv_lines(specification: Specification, steps: Iterator[Step]) -> Iterator[str]:
    """A column for each trigger (true if it fires) and for each of its arguments (empty if not)."""
    columns = ["step"]
    for trigger in specification.triggers:
        columns.append(trigger.name)
        columns += [f"{trigger.name}.{name or i}" for i, (name, _) in enumerate(trigger.args)]
    columns += [o.name for o in specification.observers]
    yield ",".join(map(_quote, columns))
    triggers = [(t.name, [_column(arg.type) for _, arg in t.args]) for t in specification.triggers]
    observers = [(o.name, _column(o.term.type)) for o in specification.observers]
    for step in steps:
        cells = [str(step.step)]
        for name, shows in triggers:
            args = step.triggers.get(name)
            cells.append("false" if args is None else "true")
            cells += [""] * len(shows) if args is None else [s(a) for s, a in zip(shows, args, strict=True)]
        cells += [show(step.observers[name]) for name, show in observers]
        yield ",".join(cells)


def _column(type: Type) -> Show:
    show = text_of(type)
    return (lambda value: _quote(show(value))) if type.kind in ("array", "struct") else show


def _quote(cell: str) -> str:
    if any(c in cell for c in ',"\n'):
        escaped = cell.replace('"', '""')
        return f'"{escaped}"'
    return cell


def json_lines(specification: Specification, steps: Iterator[Step]) -> Iterator[str]:
    """`{"step": 0, "triggers": {"alarm": [3]}, "observers": {"ok": true}}`; named arguments are an object."""
    triggers = [(t.name, f"{json.dumps(t.name)}: ", _arguments(t)) for t in specification.triggers]
    observers = [(o.name, f"{json.dumps(o.name)}: ", json_text_of(o.term.type)) for o in specification.observers]
    for step in steps:
        fired = ", ".join([key + show(step.triggers[n]) for n, key, show in triggers if n in step.triggers])
        observed = ", ".join([key + show(step.observers[n]) for n, key, show in observers])
        false = {key: names for key, names in (("broken", step.broken), ("unmet", step.unmet)) if names}
        broken = "".join(f", {json.dumps(key)}: {json.dumps(names)}" for key, names in false.items())
        yield f'{{"step": {step.step}, "triggers": {{{fired}}}, "observers": {{{observed}}}{broken}}}'


def _arguments(trigger: Trigger) -> Callable[[tuple[Any, ...]], str]:
    encoders = [json_text_of(arg.type) for _, arg in trigger.args]
    names = [json.dumps(name) for name, _ in trigger.args if name is not None]
    if encoders and len(names) == len(encoders):
        return lambda args: f"{{{', '.join([f'{n}: {e(a)}' for n, e, a in zip(names, encoders, args, strict=True)])}}}"
    return lambda args: f"[{', '.join([e(a) for e, a in zip(encoders, args, strict=True)])}]"
