"""Mutants as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamcheck import __version__
from streamcheck.core.types import plural
from streamcheck.problem.mutants import Mutant, MutantOutcome, Mutants
from streamcheck.report.trace import AS_USUAL, TraceOptions, trace_table
from streamcheck.report.verdicts_json import steps_json

OUTCOMES: tuple[MutantOutcome, ...] = ("noticed", "not noticed", "equivalent", "open")
LONGEST = 100  # characters of a change


def mutant_lines(whole: Mutants, trace: TraceOptions = AS_USUAL, *, runs: bool = True) -> Iterator[str]:
    """A line about all, then one for each mutant; below one that is not noticed the run that shows another output."""
    count = ", ".join(f"{whole.count(outcome)} {outcome}" for outcome in OUTCOMES if whole.count(outcome))
    yield f"{whole.specification.name}: {plural(len(whole.mutants), 'mutant')}: {count or 'none'}"
    rows = [(m.mutation.where.short if m.mutation.where else "", m) for m in whole.mutants]
    wide = max((len(place) for place, _ in rows), default=0)
    for place, mutant in rows:
        yield f"  {place:{wide}}  {_change(mutant)}: {_outcome(mutant)}"
        if runs and mutant.outcome == "not noticed" and mutant.both and mutant.claim and mutant.run:
            yield from trace_table(mutant.both, mutant.claim, mutant.run, trace)
    if whole.left_out:
        yield f"  not proved, so they notice nothing: {', '.join(whole.left_out)}"


def _change(mutant: Mutant) -> str:
    one = mutant.mutation
    text = f"{one.owner}: {one.before} → {one.after}"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _outcome(mutant: Mutant) -> str:
    match mutant.outcome:
        case "noticed":
            return f"noticed by {mutant.prop} at step {mutant.step}"
        case "not noticed":
            shows = "no output is another" if mutant.step is None else f"another output at step {mutant.step}"
            return f"not noticed, {shows}"
        case "open":
            return f"open, {mutant.reason}"
        case _:
            return "equivalent"


def mutants_json(whole: Mutants, file: str) -> dict[str, Any]:
    """The object that `mutants --json` prints."""
    return {
        "tool": "streamcheck",
        "version": __version__,
        "file": file,
        "spec": whole.specification.name,
        "seconds": round(whole.seconds, 3),
        "mutants": [_mutant_json(m) for m in whole.mutants],
        "not_proved": list(whole.left_out),
    }


def _mutant_json(mutant: Mutant) -> dict[str, Any]:
    one = mutant.mutation
    where = None if one.where is None else {"file": one.where.file, "line": one.where.line}
    row: dict[str, Any] = {"owner": one.owner, "where": where, "before": one.before, "after": one.after}
    row["outcome"] = mutant.outcome
    if mutant.prop:
        row["property"] = mutant.prop
    if mutant.step is not None:
        row["step"] = mutant.step
    if mutant.reason:
        row["reason"] = mutant.reason
    if mutant.both and mutant.claim and mutant.run:
        row["run"] = {"length": mutant.run.length, "steps": steps_json(mutant.both, mutant.claim, mutant.run)}
    return row
