"""Proofs with the goals of reachability: branches, premises, triggers, and assumptions that restrict the runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from streamcheck.core.errors import SpecError
from streamcheck.problem.claim import Claim
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.run.prove import NOBODY, Audience, Settings, prove
from streamcheck.run.standby import Standby
from streamcheck.transform.coverage_goals import with_goals, without_assumption

SHARE = 0.8  # of the time, for all but the assumptions


class AudienceOfMore:
    """An audience that hears of more claims than those of one proof."""

    def __init__(self, audience: Audience, more: Sequence[Claim]) -> None:
        self.audience = audience
        self.more = more
        self.hear, self.watch = audience.hear, audience.watch

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None:
        if isinstance(problem, Specification):
            problem = replace(problem, properties=(*problem.properties, *self.more))
        self.audience.begin(problem, machine=machine, bound=bound)


def prove_with_goals(
    problem: Problem, settings: Settings, audience: Audience = NOBODY, standby: Standby | None = None
) -> Verdicts:
    """The verdicts on the properties and on the goals. An assumption is asked about in the spec without it: a witness
    is a run that only this one excludes."""
    if not isinstance(problem, Specification):
        raise SpecError(f"{problem.name}: `--reachable` is for specs, and this is a program")
    began = time.monotonic()
    asked = [] if settings.props else [a.name for a in problem.assumptions]
    alone = [without_assumption(problem, name) for name in asked]
    audience = AudienceOfMore(audience, [claim for one in alone for claim in one.properties])
    first = replace(settings, timeout=settings.timeout * SHARE, promised=settings.timeout) if asked else settings
    verdicts = prove(with_goals(problem), first, audience, standby)
    more: list[Result] = []
    stopped, alarms = verdicts.stopped, list(verdicts.alarms)
    for i, without in enumerate(alone):
        if stopped:
            break
        left = max(0.0, began + settings.timeout - time.monotonic()) / (len(alone) - i)
        one = prove(without, replace(settings, timeout=left, strict=False))
        more += one.results
        for result in one.results:
            audience.hear(result)
        stopped = stopped or one.stopped
        alarms += one.alarms
    chosen = verdicts.problem
    assert isinstance(chosen, Specification)
    whole = replace(chosen, properties=(*chosen.properties, *(r.prop for r in more)))
    results = [*verdicts.results, *more]
    seconds = time.monotonic() - began
    return replace(verdicts, problem=whole, results=results, seconds=seconds, stopped=stopped, alarms=alarms)
