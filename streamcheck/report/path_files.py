"""The run of a program in the formats of other programs: a row for each statement, with the values after it."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from streamcheck.core.term import Term
from streamcheck.core.types import MachineType, Type, Value
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import PathReplay
from streamcheck.report.c_text import variable_text
from streamcheck.report.program import PathRow, path_json, path_rows
from streamcheck.report.trace_files import vcd_kind, vcd_value
from streamcheck.report.values import as_text

HEAD = ("step", "line", "statement")  # columns before those of the variables


def path_columns(path: PathReplay, show: Callable[[Type, Value], Any], unknown: Any) -> Iterator[list[Any]]:
    """The titles of the columns, and a row for each statement. `unknown` stands for a value that is not known, or does
    not matter yet."""
    rows = list(path_rows(path))
    shown = _variables(rows)
    yield [*HEAD, *map(_name, shown)]
    for row in rows:
        values = [show(v.type, row.values[v]) if v in row.values else unknown for v in shown]
        yield [row.number, unknown if row.line is None else row.line, row.text, *values]


def path_csv(path: PathReplay) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(path_columns(path, as_text, ""))
    return out.getvalue()


def path_json_text(program: Automaton, claim: Claim, path: PathReplay) -> str:
    """The object that `prove --json` has, with the names of the program and the property."""
    whole = {"program": program.name, "property": claim.name, "length": path.length, "path": path_json(path)}
    return json.dumps(whole, indent=1) + "\n"


def path_vcd(program: Automaton, claim: Claim, path: PathReplay) -> str:
    """A value change dump, a time unit for each statement, with the line as a signal of its own."""
    from vcd import VCDWriter

    rows = list(path_rows(path))
    out, scope = io.StringIO(), program.name.replace(" ", "_")
    with VCDWriter(out, timescale="1 us", comment=f"{program.name}: {claim.name}", date="") as writer:
        line = writer.register_var("source", "line", "integer", 32)
        signals = {v: writer.register_var(scope, str(v.payload), *vcd_kind(v.type)) for v in _variables(rows)}
        for row in rows:
            if row.line is not None:
                writer.change(line, row.number, row.line)
            for v, signal in signals.items():
                if v in row.values:
                    writer.change(signal, row.number, vcd_value(v.type, row.values[v]))
                elif isinstance(v.type, MachineType):  # many rounds may leave it open
                    writer.change(signal, row.number, "x")
        writer.close(path.length + 1)
    return out.getvalue()


def path_html_table(path: PathReplay) -> str:
    """The run as a table, a row for each statement."""
    rows = list(path_rows(path))
    shown = _variables(rows)
    head = "".join(f"<th>{html.escape(title)}</th>" for title in (*HEAD, *map(_name, shown)))
    body = "".join(f"<tr>{''.join(_cells(row, shown))}</tr>\n" for row in rows)
    return f"<table><tr>{head}</tr>\n{body}</table>"


def _cells(row: PathRow, shown: list[Term]) -> Iterator[str]:
    changed = {v for _, v, _ in row.changes}
    yield f"<th>{row.number}</th><td>{'' if row.line is None else row.line}</td>"
    yield f'<td class="text">{html.escape(row.text)}</td>'
    for v in shown:
        text = html.escape(as_text(v.type, row.values[v])) if v in row.values else ""
        yield f'<td class="changed">{text}</td>' if v in changed else f"<td>{text}</td>"


def _variables(rows: list[PathRow]) -> list[Term]:
    """The variables that matter at the beginning, then those that are written, in this order."""
    return list(dict.fromkeys(v for row in rows for v in row.values))


def _name(variable: Term) -> str:
    return variable_text(str(variable.payload))


PATH_FORMATS: Mapping[str, Callable[[Automaton, Claim, PathReplay], str]] = {
    "csv": lambda _program, _claim, path: path_csv(path),
    "json": path_json_text,
    "vcd": path_vcd,
}
