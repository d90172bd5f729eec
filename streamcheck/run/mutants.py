"""Mutants of a specification: noticed by a property, equivalent, or not noticed.

Random runs come first: one that breaks a property notices the mutant. The engines decide about the others, side by
side with the specification."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from streamcheck.interpret.python_code import plan, stepper
from streamcheck.interpret.step import Step
from streamcheck.problem.claim import Goal
from streamcheck.problem.mutants import Mutant, Mutants, Mutation
from streamcheck.problem.specification import Specification
from streamcheck.problem.test_suite import ExternRow
from streamcheck.run.prove import Settings, prove
from streamcheck.run.suites import random_rows
from streamcheck.transform.mutate import SAME_OUTPUTS, mutations_of, side_by_side
from streamcheck.transform.weaken import equations_alone

PROOFS = 0.3  # the share of the time for the properties themselves
QUESTION = 10.0  # seconds, at most, for one mutant


def mutants_of(specification: Specification, settings: Settings) -> Mutants:
    """All mutants, each decided as far as the time goes."""
    began = time.monotonic()
    deadline = began + settings.timeout
    specification = equations_alone(specification)
    verdicts = prove(specification, replace(settings, timeout=settings.timeout * PROOFS, promised=settings.timeout))
    good = {r.name for r in verdicts.results if r.verdict == "proved" and r.prop.goal is Goal.ALWAYS}
    left_out = tuple(r.name for r in verdicts.results if r.prop.goal is Goal.ALWAYS and r.name not in good)
    mutations = list(mutations_of(specification))
    alone = replace(settings, cache=None, props=())
    runs = random_rows(specification)
    found: list[Mutant] = []
    for i, mutation in enumerate(mutations):
        share = max(0.0, deadline - time.monotonic()) / (len(mutations) - i)
        limits = replace(alone, timeout=min(QUESTION, max(share, min(1.0, deadline - time.monotonic()))))
        found.append(_verdict_on(specification, mutation, good, runs, limits))
    return Mutants(specification, tuple(found), left_out, time.monotonic() - began)


def _verdict_on(
    specification: Specification,
    mutation: Mutation,
    good: set[str],
    runs: Sequence[Sequence[ExternRow]],
    settings: Settings,
) -> Mutant:
    both = side_by_side(specification, mutation.mutated, lambda claim: claim.name in good)
    planned = plan(both)
    steps = stepper(planned)
    for rows in runs:
        broken = _violation_in(steps(tuple(row[v] for v in planned.inputs) for row in rows))
        if broken is not None:
            return Mutant(mutation, "noticed", *broken)
    if settings.timeout <= 0:
        return Mutant(mutation, "open", reason="the time is over")
    verdicts = prove(both, settings)
    results = {r.name: r for r in verdicts.results}
    for result in verdicts.results:
        if result.verdict == "falsified" and result.name != SAME_OUTPUTS:
            return Mutant(mutation, "noticed", result.name, result.k, both, result.prop, result.run)
    if len(both.calls) > len(specification.calls):
        return Mutant(
            mutation, "open", reason="it changes a call of an imported function, which may have other outputs"
        )
    same = results[SAME_OUTPUTS]
    unsure = [r for r in verdicts.results if r.verdict == "unknown"]
    dropped = len(mutation.mutated.assumptions) < len(specification.assumptions)
    if same.verdict == "proved" and not dropped:
        return Mutant(mutation, "equivalent")
    if unsure:
        return Mutant(mutation, "open", reason=f"{unsure[0].name}: {unsure[0].reason}")
    return Mutant(mutation, "not noticed", "", same.k if same.run else None, both, same.prop, same.run)


def _violation_in(steps: Iterator[Step]) -> tuple[str, int] | None:
    """The first property that the run breaks, as far as it meets the assumptions, and the step."""
    for step in steps:
        names = [name for name in step.broken if name != SAME_OUTPUTS]
        if step.unmet:
            return None
        if names:
            return names[0], step.step
    return None
