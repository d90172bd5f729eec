"""Runs as tests: the files that `prove --write-test` writes, and the judgement of a property on a run."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from streamcheck.api.runs import RunInputs, RunWishes, start_run
from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.core.likeness import mean_or_choose
from streamcheck.interpret.python_code import undecided_terms
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import Named, Specification

if TYPE_CHECKING:
    from streamcheck.api.commands import Commands
    from streamcheck.problem.result import Verdicts


def write_run_tests(verdicts: Verdicts, file: str, directory: str) -> list[str]:
    """Write the counterexamples and witnesses as tests for pytest, and in C if the spec can be compiled. Returns notes
    on those that are not written."""
    from streamcheck.deliver.covering_test import c_test_of_runs
    from streamcheck.deliver.replays import runs_of_results
    from streamcheck.report.run_test import run_test_files, why_untested

    problem, shown = verdicts.problem, [r for r in verdicts.results if r.replay is not None]
    reasons = [(r, why_untested(verdicts, r)) for r in shown]
    notes = [f"no test of the run of {r.name}: {why}" for r, why in reasons if why]
    results = [r for r, why in reasons if not why]
    if not shown:
        notes.append(f"{problem.name} has no counterexample and no witness to write to {directory}")
    if not results or not isinstance(problem, Specification):
        return notes
    files = dict(run_test_files(verdicts, results, os.path.relpath(file, directory)))
    try:
        files |= c_test_of_runs(problem, list(runs_of_results(verdicts, results)))
    except SpecError as why:
        notes.append(f"no test in C: {why.message}")
    with refuse_unwritable(directory):
        os.makedirs(directory, exist_ok=True)
        write_whole({os.path.join(directory, name): text for name, text in files.items()})
    return notes


def mistake_on_run(spec: Commands, name: str, inputs: RunInputs) -> str:
    """The way in which the property fails on a run with these inputs, with the run; empty if it does not."""
    source = spec._run_source(())
    claim = _claim(source.specification, name)
    undecided = undecided_terms(source.specification)
    others = tuple(o for o in source.specification.observers if o.name != name and o.term not in undecided)
    # Also for `exists`, which a run shows nothing of: the claim as an observer.
    shown = (*others, Named(name, claim.term, claim.where))
    source.specification = replace(source.specification, observers=shown, properties=())
    steps = list(start_run(source, None, inputs, RunWishes()))
    ended = next((i for i, step in enumerate(steps) if step.unmet), len(steps))
    values = [step.observers[name] for step in steps[:ended]]  # while the assumptions hold
    is_witness = claim.goal is Goal.REACHABLE
    if any(values) if is_witness else all(values):
        return ""
    how = "true at no step" if is_witness else f"false at step {steps[values.index(False)].step}"
    place = "" if claim.where is None else f"{claim.where}: {claim.where.text}\n"
    return f"{place}{name} is {how} of this run\n{start_run(source, None, inputs, RunWishes())}"


def _claim(specification: Specification, name: str) -> Claim:
    undecided = undecided_terms(specification)
    claims = {
        c.name: c for c in specification.properties if c.goal is not Goal.INFINITELY_OFTEN and c.term not in undecided
    }
    if name not in claims:
        which = f"{specification.name} has no property named {name!r} that a run decides"
        raise SpecError(f"{which}{mean_or_choose(name, claims, 'it has')}")
    return claims[name]
