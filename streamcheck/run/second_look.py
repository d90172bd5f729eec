"""A second look for counterexamples, if those that were found give a function two values for the same inputs.

Engines do not know that the calls of a specification are calls of functions (`FunctionCall`), so a run that they find
may be none. Others are looked for under one more assumption: in each step, calls that have equal inputs have equal
outputs. With it, calls of what is not kept at all, which never agree, are not evaluated. There are fewer such runs than
the problem has, so a violation is one, after its replay against the problem itself. Nothing else counts: neither proofs
nor depths.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import combinations, islice

from streamcheck.core.simplify import apply, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.core.types import BOOL
from streamcheck.problem.claim import IMPLIED, Claim
from streamcheck.problem.problem import Problem, claim_named, with_properties
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import FunctionCall, Specification
from streamcheck.problem.verdict import Trace
from streamcheck.run.decision import Decision
from streamcheck.run.director import Director
from streamcheck.run.kept import replay_of
from streamcheck.run.stop import Stopped
from streamcheck.transform.bound import with_bound
from streamcheck.transform.views import views

ENGINE = "bmc"
SHARE, LONGEST = 0.1, 2.0  # of the time, and in seconds, that is set aside (heuristic)
MORE_STEPS = 8  # than twice as many as the counterexamples have that are none (heuristic)
MOST_PAIRS = 2_000  # of calls, of which is assumed that they agree (heuristic)


def time_set_aside(problem: Problem, seconds: float) -> float:
    """The seconds for a second look, if it comes to one: none without calls."""
    has_calls = isinstance(problem, Specification) and bool(problem.calls)
    return min(SHARE * seconds, LONGEST) if has_calls else 0.0


def look_again(
    problem: Problem,
    rejected: Mapping[str, int],
    seconds: float,
    memory: int | None = None,
    *,
    deterministic: bool = False,
) -> tuple[list[Decision], Stopped | None]:
    """The violations of claims that are found in this time, and the signal that ended the search. For each claim
    `rejected` has the length of a counterexample that is none: the others are not much longer."""
    if not isinstance(problem, Specification) or not problem.calls or not rejected or seconds <= 0:
        return [], None
    agree = Claim("calls agree", _all_agree(problem.calls), problem.where, origin=IMPLIED)
    asked = with_properties(problem, rejected.keys())
    assert isinstance(asked, Specification)
    fewer_runs = replace(asked, assumptions=(*asked.assumptions, agree), calls=())  # judged below, without `agree`
    fewer_runs = with_bound(fewer_runs, 2 * max(rejected.values()) + MORE_STEPS)
    director = Director(fewer_runs, views(fewer_runs), seconds, 1, (ENGINE,), memory, deterministic)
    found = [_of_the_problem(problem, decision) for decision in director.run().values()]
    return [decision for decision in found if decision is not None], director.stopped


def _all_agree(calls: Collection[FunctionCall]) -> Term:
    """True if the calls of this step that have equal inputs have equal outputs."""
    pairs = ((a, b) for a, b in combinations(calls, 2) if a.function == b.function)
    return conjunction(*(_agree(a, b) for a, b in islice(pairs, MOST_PAIRS)))


def _agree(a: FunctionCall, b: FunctionCall) -> Term:
    same = conjunction(a.tick, b.tick, *(_equal(x, y) for x, y in zip(a.inputs, b.inputs, strict=True)))
    outputs = conjunction(*(_equal(x, y) for x, y in zip(a.outputs, b.outputs, strict=True)))
    if same is TRUE and outputs is FALSE:  # they never agree: with true outputs, a property mostly does without them
        return conjunction(*(x for x in a.outputs if x.type is BOOL and not x.is_const))
    return disjunction(negation(same), outputs)


def _equal(x: Term, y: Term) -> Term:
    if x is y:
        return TRUE
    return FALSE if x.is_const and y.is_const else apply("eq", x, y)


def _of_the_problem(problem: Specification, decision: Decision) -> Decision | None:
    """The violation as one of the problem, None if it is none."""
    if decision.verdict != "falsified" or not isinstance(decision.evidence, Trace):
        return None
    shown = replay_of(problem, claim_named(problem, decision.name), decision.evidence)
    if not isinstance(shown, Replay):
        return None
    return replace(decision, replay=shown, shortest=False, found=None)
