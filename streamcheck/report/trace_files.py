"""A run in the formats of other programs: CSV that `run --input` reads, JSON, VCD for wave viewers, HTML."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from streamcheck.core.term import Term
from streamcheck.core.types import FloatType, MachineType, Type, Value, part_names, scalar_parts
from streamcheck.interpret.data import STEP
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.trace import TraceOptions, repeated_words, rows_of
from streamcheck.report.values import as_json, as_text

FULL = TraceOptions(full=True)


def csv_text(specification: Specification, run: Replay) -> str:
    """The steps and their inputs: `run FILE --input` replays it, and refuses it if steps are missing. A column for each
    scalar part."""
    inputs = [i.var for i in specification.inputs]
    title = STEP if run.length == len(run.steps) else "step_of_a_run_with_gaps"
    numbered = all(i.name != title for i in specification.inputs)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    parts = [(v, list(part_names(str(v.payload), v.type))) for v in inputs]
    writer.writerow([title] * numbered + [name for _, names in parts for name, _ in names])
    for number, values in zip(run.numbers, run.steps, strict=True):
        row = [str(number)] * numbered
        for var, names in parts:
            scalars = scalar_parts(values[var])
            row += [as_text(type, scalar) for (_, type), scalar in zip(names, scalars, strict=True)]
        writer.writerow(row)
    return out.getvalue()


def json_text(specification: Specification, claim: Claim, run: Replay) -> str:
    """An object with the rows of the table by name, each a list of values."""
    rows = {
        name: [as_json(node.type, step[node]) for step in run.steps] for name, node in _rows(specification, claim, run)
    }
    inputs = [i.name for i in specification.inputs]
    whole = {
        "spec": specification.name,
        "property": claim.name,
        "length": run.length,
        "steps": run.numbers,
        "inputs": inputs,
        "rows": rows,
    } | ({} if run.loop is None else {"loop": run.loop})
    return json.dumps(whole, indent=1) + "\n"


def vcd_text(specification: Specification, claim: Claim, run: Replay) -> str:
    """A value change dump, a time unit for each step; names are those of the rows, parts apart."""
    from vcd import VCDWriter

    out = io.StringIO()
    about = f"{specification.name}: {claim.name}" + ("" if run.loop is None else f"; {repeated_words(run)}")
    with VCDWriter(out, timescale="1 us", comment=_vcd_name(about), date="") as writer:
        signals = [
            (node, i, type, writer.register_var(_scope(specification), part, *vcd_kind(type)))
            for name, node in _rows(specification, claim, run)
            for i, (part, type) in enumerate(part_names(_vcd_name(name).replace(" ", "_"), node.type))
        ]
        for time, values in zip(run.numbers, run.steps, strict=True):
            parts = {node: list(scalar_parts(values[node])) for node, _, _, _ in signals}
            for node, i, type, signal in signals:
                writer.change(signal, time, vcd_value(type, parts[node][i]))
        writer.close(run.length)
    return out.getvalue()


def _vcd_name(name: str) -> str:
    """The name without `$`, which begins a command."""
    return name.replace("$", "_")


def html_table(specification: Specification, claim: Claim, run: Replay) -> str:
    """The run as a table. A value that is no longer that of the step before is bold, one that may be any is grey."""
    head = "".join(f"<th>{i}</th>" for i in run.numbers)
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th>{''.join(_cells(node, run))}</tr>\n"
        for name, node in _rows(specification, claim, run)
    )
    caption = "" if run.loop is None else f"<caption>{repeated_words(run)}</caption>"
    return f"<table>{caption}<tr><th>step</th>{head}</tr>\n{rows}</table>"


def html_results(verdicts: Verdicts) -> str:
    """The results of a proof for a notebook: a row for each property, with its run as a timeline below."""
    from streamcheck.report.timeline import FALSE_FILL, FREE_FILL, TRUE_FILL, run_timeline
    from streamcheck.report.verdicts import how_text, verdict_word

    fills = {"proved": TRUE_FILL, "bounded": TRUE_FILL, "falsified": FALSE_FILL}
    rows = []
    for result in verdicts.results:
        how = how_text(result, machine=verdicts.machine, bound=verdicts.bound)
        style = f"background: {fills.get(result.verdict, FREE_FILL)}; color: #222; border-radius: 3px; padding: 2px 6px"
        word = f'<span style="{style}">{html.escape(verdict_word(result))}</span>'
        cells = [word, f"<b>{html.escape(result.name)}</b>", html.escape(how)]
        rows.append("<tr>" + "".join(f'<td style="text-align: left">{cell}</td>' for cell in cells) + "</tr>\n")
        if result.run is not None and isinstance(verdicts.problem, Specification):
            picture = run_timeline(verdicts.problem, result.prop, result.run)
            rows.append(f'<tr><td></td><td colspan="2" style="text-align: left">{picture}</td></tr>\n')
    return f"<table>{''.join(rows)}</table>"


def _cells(node: Term, run: Replay) -> Iterator[str]:
    before = None
    for i, values in enumerate(run.steps):
        text = as_text(node.type, values[node])
        marks = ["changed"] if i and text != before else []
        marks += ["false"] if text == "false" and i == len(run.steps) - 1 else []
        marks += ["free"] if node.op == "var" and node.payload not in run.matters[i] and _is_input(node, run) else []
        yield f'<td class="{" ".join(marks)}">{html.escape(text)}</td>' if marks else f"<td>{html.escape(text)}</td>"
        before = text


def _is_input(node: Term, run: Replay) -> bool:
    return any(node.payload in matters for matters in run.matters)


def _rows(specification: Specification, claim: Claim, run: Replay) -> Iterator[tuple[str, Term]]:
    return rows_of(specification, claim, run, FULL)


def _scope(specification: Specification) -> str:
    return specification.name.replace(" ", "_")


def vcd_kind(type: Type) -> tuple[str, int | None]:
    match type:
        case MachineType():
            return "integer" if type.signed else "wire", type.width
        case FloatType():
            return "real", 64
    return ("wire", 1) if type.kind == "bool" else ("string", None)


def vcd_value(type: Type, value: Value) -> Any:
    match type:
        case MachineType():
            assert isinstance(value, int)
            return value
        case FloatType():
            assert isinstance(value, float)
            return value
    return value if type.kind == "bool" else as_text(type, value).replace(" ", "_")


FORMATS: Mapping[str, Callable[[Specification, Claim, Replay], str]] = {
    "csv": lambda specification, _, run: csv_text(specification, run),
    "json": json_text,
    "vcd": vcd_text,
}
