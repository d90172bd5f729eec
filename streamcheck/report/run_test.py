"""Counterexamples and witnesses as tests for pytest, which pass once the property is true on the run."""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.interpret.python_code import undecided_terms
from streamcheck.problem.claim import Goal
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.test_suite import run_csv, stem_of

PYTEST = '''"""{about}.

The test passes if the property is {needed}."""

from pathlib import Path

import streamcheck
from streamcheck.testing import assert_on_run

HERE = Path(__file__).parent


def test_{stem}():
    assert_on_run(streamcheck.load(HERE / {target!r}), {name!r}, HERE / {run!r})
'''


def why_untested(verdicts: Verdicts, result: Result) -> str:
    """The reason why the run of this result is no test; empty if it is one."""
    problem, run = verdicts.problem, result.run
    if not isinstance(problem, Specification):
        return "it is of a program"
    if run is None:
        return "it has none"
    if run.length > len(run.steps):
        return "some of its steps are missing"
    if result.prop.goal is Goal.INFINITELY_OFTEN:
        return "it has no end"
    if result.prop.term in undecided_terms(problem):
        return "it does not follow from the inputs alone"
    return ""


def run_test_files(verdicts: Verdicts, results: list[Result], file: str) -> Iterator[tuple[str, str]]:
    """For each of these results its run as CSV, and a file for pytest. `file`: that of the spec, from there."""
    specification = verdicts.problem
    assert isinstance(specification, Specification)
    taken: set[str] = set()
    for result in results:
        assert result.run is not None
        wish = f"{stem_of(specification.name)}_{stem_of(result.name)}"
        name = wish
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        is_witness = result.prop.goal is Goal.REACHABLE
        about = (
            f"The {'witness' if is_witness else 'counterexample'} of {result.name}, a property of {specification.name}"
        )
        yield f"{name}.csv", run_csv(specification, result.run.steps)
        text = PYTEST.format(
            about=about.replace("\\", " ").replace('"', "'"),
            needed="true at some step of this run" if is_witness else "true at every step of this run",
            stem=stem_of(result.name),
            target=f"{file}::{specification.name}",
            name=result.name,
            run=f"{name}.csv",
        )
        yield f"test_{name}.py", text
