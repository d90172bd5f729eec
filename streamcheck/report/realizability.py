"""Realizability for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from streamcheck.core.types import plural
from streamcheck.problem.realizability import Realizability
from streamcheck.report.equations import term_text
from streamcheck.report.values import as_json, as_text

LONGEST = 100  # characters of an output's equation that is shown


def realizability_lines(answer: Realizability) -> Iterator[str]:
    yield answer.specification.name
    took = f"{answer.seconds:.2f} s"
    match answer.verdict:
        case "unknown":
            yield f"  unknown       {answer.reason}"
        case "realizable":
            count = plural(len(answer.specification.properties), "guarantee")
            yield f"  realizable    {count}; an implementation is proved, {took}"
            yield from _implementation(answer)
            yield from (f"  warning: {warning}" for warning in answer.warnings)
        case "unrealizable":
            yield f"  unrealizable  {_conflict(answer)}, {took}"
            yield from _table(answer)
            steps = plural(answer.most_steps, "step")
            yield f"      the environment wins in at most {steps}, whatever the outputs are (proved)"


def _conflict(answer: Realizability) -> str:
    names = ", ".join(answer.conflict)
    if len(answer.conflict) == 1:
        return f"{names} cannot be kept"
    left_out = "without any one of them, the others can" if answer.is_smallest else "some may not be needed"
    return f"{names} cannot be kept together ({left_out})"


def _implementation(answer: Realizability) -> Iterator[str]:
    for name, text in _equations(answer):
        yield f"      {name} = {text if len(text) <= LONGEST else text[: LONGEST - 2] + ' …'}"


def _equations(answer: Realizability) -> Iterator[tuple[str, str]]:
    """The outputs of the implementation with their terms, over inputs and cells."""
    assert answer.implementation is not None
    names = {str(o.payload) for o in answer.outputs}
    bare = replace(answer.implementation, wires=())
    return ((w.name, term_text(bare, w.term)) for w in answer.implementation.wires if w.name in names)


def _table(answer: Realizability) -> Iterator[str]:
    """The run: a row for each input and output, a column for each step."""
    variables = [i.var for i in answer.specification.inputs]
    if not answer.run:
        return
    rows = [["step", *map(str, range(len(answer.run)))]]
    for var in variables:
        rows.append([str(var.payload), *(as_text(var.type, s[var]) if var in s else "none" for s in answer.run)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        yield "      " + "  ".join(cells)
    last = len(answer.run) - 1
    yield f"      at step {last}, no outputs keep the guarantees (proved)"


def realizability_json(answer: Realizability) -> dict[str, Any]:
    """The answer for programs."""

    def row(step: Any) -> dict[str, Any]:
        return {str(v.payload): as_json(v.type, value) for v, value in step.items()}

    found: dict[str, Any] = {
        "spec": answer.specification.name,
        "verdict": answer.verdict,
        "seconds": round(answer.seconds, 3),
    }
    match answer.verdict:
        case "unknown":
            found["reason"] = answer.reason
        case "realizable":
            found |= {"outputs": dict(_equations(answer)), "warnings": list(answer.warnings)}
        case "unrealizable":
            found |= {"conflict": list(answer.conflict), "smallest": answer.is_smallest}
            found |= {"steps": answer.most_steps, "run": [row(step) for step in answer.run]}
    return found
