"""Replay of a lasso: a run that goes round forever, and breaks a claim about infinite runs.

The steps before the loop are followed by those of the loop, three times. The run counts if

    the state is the same at the beginning of each round, in all that the claim, the assumptions and the fairness
    conditions depend on: then it is in all rounds after these, as the inputs are
    every assumption is true at every step, and every fairness condition at some step of the loop
    the claim's term is false at every step of the loop: it is true at finitely many steps
"""

from __future__ import annotations

from dataclasses import replace

from streamcheck.certify.replay import follow_steps, inconsistency
from streamcheck.core.floats import identical
from streamcheck.core.types import scalar_parts
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Inconsistent, Replay
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Trace

ROUNDS = 3


def replay_lasso(specification: Specification, claim: Claim, trace: Trace) -> Replay | Inconsistent | str:
    """The run, its loop once; or the reason why it does not break the claim."""
    if trace.loop is None:
        return "it ends, and the claim is about infinite runs"
    begin, end = trace.loop, len(trace.inputs)
    length = end - begin
    again = (*trace.inputs[:begin], *trace.inputs[begin:] * ROUNDS)
    steps = follow_steps(specification, claim, replace(trace, inputs=again, loop=None))
    if isinstance(steps, str | Inconsistent):
        return steps
    roots = [c.term for c in (claim, *specification.assumptions, *specification.fairness)]
    needed = specification.needed_by([*roots, *specification.call_terms()])
    wanted = {*roots, *(c.var for c in specification.cells if c.var in needed)}
    if any(not wanted <= values.keys() for values in steps):
        return Inconsistent("what it depends on is not known at every step")
    for cell in specification.cells:
        if cell.var in needed:
            values = [list(scalar_parts(steps[begin + r * length][cell.var])) for r in range(ROUNDS)]
            if not all(identical(a, b) for later in values[1:] for a, b in zip(values[0], later, strict=True)):
                return f"{cell.name} is not what it was at step {begin} when the loop begins again"
    loop = steps[begin:end]
    for fair in specification.fairness:
        if not any(values[fair.term] is True for values in loop):
            return f"the fairness condition {fair.name} is false at every step of the loop"
    if any(values[claim.term] is not False for values in loop):
        return "the claim's term is true at a step of the loop, so it is infinitely often"
    names = {str(v.payload) for v in specification.choices() if v in needed}
    matters = [
        names | {c.name for c in specification.cells if c.free and c.var in needed and i == 0} for i in range(end)
    ]
    found = inconsistency(specification, steps, [names] * len(steps))
    return found or Replay(steps[:end], matters, needed, list(range(end)), begin)
