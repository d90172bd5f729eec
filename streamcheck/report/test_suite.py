"""Runs that cover goals, as text, JSON, CSV and a file of tests for pytest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from streamcheck import __version__
from streamcheck.core.types import plural
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.interpret.step import Step
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification
from streamcheck.problem.test_suite import ExternRow, GoalState, GoalWord, SuiteOfRuns
from streamcheck.report.trace_files import csv_text

STATES: tuple[GoalWord, ...] = ("covered", "never", "open", "not by inputs")
PYTEST = '''"""Runs of {spec}, with what the interpreter showed when they were made by `streamcheck tests`."""

import json
from pathlib import Path

import pytest
import streamcheck

HERE = Path(__file__).parent
SPEC = {file!r}
RUNS = {runs}


@pytest.mark.parametrize("run", RUNS)
def test_run(run):
    spec = streamcheck.load(HERE / SPEC)
    rows = (HERE / f"{{run}}.expected").read_text().splitlines()
    steps = spec.run(inputs=HERE / f"{{run}}.csv")
    shown = [json.dumps([s.triggers, s.observers, s.broken, s.unmet], default=str) for s in steps]
    assert shown == rows
'''


def suite_lines(suite: SuiteOfRuns) -> Iterator[str]:
    """A line about all goals, then one for each, by the lines of the spec."""
    count = ", ".join(f"{suite.count(state)} {state}" for state in STATES if suite.count(state))
    steps = sum(len(rows) for rows in suite.runs)
    runs = f"{plural(len(suite.runs), 'run')} of {plural(steps, 'step')}"
    yield f"{suite.specification.name}: {plural(len(suite.goals), 'goal')}: {count or 'none'}; {runs} together"
    rows = [(g.goal.where.short if g.goal.where else "", g) for g in sorted(suite.goals, key=_place)]
    wide = max((len(place) for place, _ in rows), default=0)
    wide_name = min(60, max((len(g.goal.name) for g in suite.goals), default=0))
    for place, goal in rows:
        yield f"  {place:{wide}}  {goal.goal.name:{wide_name}}  {_how(goal)}".rstrip()


def _place(goal: GoalState) -> tuple[str, int]:
    where = goal.goal.where
    return (where.file, where.line) if where else ("", 0)


def _how(goal: GoalState) -> str:
    if goal.run is not None:
        return f"run {goal.run + 1}, step {goal.step}"
    return f"{goal.state}: {goal.reason}" if goal.reason else goal.state


def suite_json(suite: SuiteOfRuns, file: str, written: Sequence[str]) -> dict[str, Any]:
    """The object that `tests --json` prints."""
    return {
        "tool": "streamcheck",
        "version": __version__,
        "file": file,
        "spec": suite.specification.name,
        "seconds": round(suite.seconds, 3),
        "runs": [len(rows) for rows in suite.runs],
        "goals": [_goal_json(goal) for goal in suite.goals],
        "written": list(written),
    }


def _goal_json(goal: GoalState) -> dict[str, Any]:
    where = goal.goal.where
    place = None if where is None else {"file": where.file, "line": where.line}
    row: dict[str, Any] = {"name": goal.goal.name, "where": place, "state": goal.state}
    if goal.run is not None:
        row |= {"run": goal.run + 1, "step": goal.step}
    return row | ({"reason": goal.reason} if goal.reason else {})


def suite_files(suite: SuiteOfRuns, file: str) -> dict[str, str]:
    """For each run its inputs as CSV, and the interpreter's steps; a file for pytest. `file`: the spec, from there."""
    specification = suite.specification
    made: dict[str, str] = {}
    names = [f"{stem_of(specification.name)}_run_{i}" for i in range(1, len(suite.runs) + 1)]
    for name, rows in zip(names, suite.runs, strict=True):
        made[f"{name}.csv"] = run_csv(specification, rows)
        made[f"{name}.expected"] = "".join(expected_lines(specification, rows))
    target = f"{file}::{specification.name}"
    stem = stem_of(specification.name)
    made[f"test_{stem}_runs.py"] = PYTEST.format(spec=_docstring_text(specification.name), file=target, runs=names)
    return made


def stem_of(name: str) -> str:
    """The name as a part of the names of files and functions."""
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name)


def _docstring_text(name: str) -> str:
    return name.replace("\\", " ").replace('"', "'")


def run_csv(specification: Specification, rows: Sequence[ExternRow]) -> str:
    """The inputs of a run, which `streamcheck run --input` reads."""
    given = tuple(i for i in specification.inputs if i.extern)
    externs = Specification(specification.name, given, (), (), (), (), (), (), (), None)
    return csv_text(externs, Replay([dict(row) for row in rows], [], set(), list(range(len(rows)))))


def expected_lines(specification: Specification, rows: Sequence[ExternRow]) -> Iterator[str]:
    """The steps of the interpreter, a line of JSON for each."""
    planned = plan(specification)
    for step in stepper(planned)(tuple(row[v] for v in planned.inputs) for row in rows):
        yield f"{_step_json(step)}\n"


def _step_json(s: Step) -> str:
    return json.dumps([s.triggers, s.observers, s.broken, s.unmet], default=str)
