"""The ends of what an automaton models (`problem.automaton.Limit`): what they leave unknown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Unknown


def ends_before(problem: Problem, chosen: Iterable[str]) -> set[str]:
    """The ends after which one of the claims may fail: a proof of it also needs that no run gets to them."""
    match problem:
        case Specification():
            return set()
        case Automaton():
            names = set(chosen)
            return {e.name for e in problem.errors if e.limit is not None and not names.isdisjoint(e.limit.hidden)}
    assert_never(problem)


def is_final(problem: Problem) -> bool:
    """True if no verdict depends on another: the model has no ends."""
    match problem:
        case Specification():
            return True
        case Automaton():
            return all(e.limit is None for e in problem.errors)
    assert_never(problem)


def within_model(problem: Problem, results: list[Result]) -> list[Result]:
    """The results with those unknown that an end of the model leaves open: the end itself if a run gets there, and the
    proofs of claims that may fail after it, unless it is proved that no run gets there."""
    match problem:
        case Specification():
            return results
        case Automaton():
            verdicts = {r.name: r.verdict for r in results}
            ends = {e.name: e.limit for e in problem.errors if e.limit is not None and verdicts[e.name] != "proved"}
            reasons: dict[str, str] = {}
            for name, limit in ends.items():
                why = f"not known after the {name.removeprefix('no ')}: {limit.reason}"
                reasons |= dict.fromkeys(limit.hidden, why)
            reasons |= {name: limit.reason for name, limit in ends.items() if verdicts[name] == "falsified"}
            return [
                _without_verdict(r, reasons[r.name])
                if r.name in reasons and (r.verdict == "proved" or r.name in ends)
                else r
                for r in results
            ]
    assert_never(problem)


def _without_verdict(result: Result, reason: str) -> Result:
    unknown = Unknown(result.name, reason)
    return replace(result, verdict="unknown", unknown=unknown, evidence=None, replay=None, k=None)
