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
            by = "" if answer.way == "fixpoint" else f" by {answer.way}"
            yield f"  realizable    {count}; an implementation is proved{by}, {took}"
            yield from _implementation(answer)
            yield from (f"  warning: {warning}" for warning in answer.warnings)
        case "unrealizable":
            yield f"  unrealizable  {_conflict(answer)}, {took}"
            yield from _table(answer)
            steps = plural(answer.most_steps, "step")
            yield f"      the environment wins in at most {steps}, whatever the outputs are (proved)"
    yield from _further_answers(answer)


def _further_answers(answer: Realizability) -> Iterator[str]:
    """If the environment can keep the assumptions, and if inputs and outputs together can keep all."""
    match answer.environment:
        case Realizability(verdict="realizable"):
            yield "  environment   the assumptions can be met for ever, whatever the outputs are (proved)"
        case Realizability(verdict="unrealizable") as given:
            yield f"  environment   {_conflict(given)}: outputs that keep the guarantees may leave no inputs (proved)"
            yield from _rows(given)
        case Realizability(reason=reason):
            yield f"  environment   unknown if the assumptions can be met for ever: {reason}"
    match answer.together:
        case Realizability(verdict="realizable"):
            yield "  satisfiable   some inputs and outputs keep assumptions and guarantees for ever (proved)"
        case Realizability(verdict="unrealizable") as given:
            yield f"  unsatisfiable {_conflict(given)}, whatever the inputs and outputs are (proved)"
        case Realizability(reason=reason):
            yield f"  satisfiable   unknown: {reason}"


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
    """The run, and what is proved of its end."""
    if answer.run:
        yield from _rows(answer)
        yield f"      at step {len(answer.run) - 1}, no outputs keep the guarantees (proved)"


def _rows(answer: Realizability) -> Iterator[str]:
    """A row for each input and output, a column for each step."""
    if not answer.run:
        return
    rows = [["step", *map(str, range(len(answer.run)))]]
    for var in [i.var for i in answer.specification.inputs]:
        rows.append([str(var.payload), *(as_text(var.type, s[var]) if var in s else "none" for s in answer.run)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        yield "      " + "  ".join(cells)


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
            found |= {"outputs": dict(_equations(answer)), "warnings": list(answer.warnings), "by": answer.way}
        case "unrealizable":
            found |= {"conflict": list(answer.conflict), "smallest": answer.is_smallest}
            found |= {"steps": answer.most_steps, "run": [row(step) for step in answer.run]}
    for name, further in (("environment", answer.environment), ("together", answer.together)):
        if further is not None:
            found[name] = realizability_json(further)
    return found
