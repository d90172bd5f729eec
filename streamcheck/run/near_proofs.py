"""Proofs of the claims of a level by what is near them (`transform.near`): each part that differs by more than names is
proved once, a few of them side by side, and stands at all its places."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from streamcheck.certify.checker import SpecificationChecker
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Result
from streamcheck.problem.specification import ComponentInstance, Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.limits import OutOfTime
from streamcheck.run.parts import ProvedPart, ProvedPlace
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.transform.cut import Cutting
from streamcheck.transform.near import CLAIM, NearPlace, near_parts, side_by_side, without_prefix

TOGETHER = 16  # parts in one proof
Prove = Callable[[Specification], list[Result]]


def near_proofs(
    cutting: Cutting, instances: Mapping[str, ComponentInstance], prove: Prove, deadline: float
) -> list[ProvedPart]:
    """Parts of the level with their proofs, each behind those that it needs."""
    order = near_parts(cutting, instances)
    if not order:
        return []
    names: dict[Specification, str] = {}
    for problem, place in order:
        names.setdefault(problem, place.claim)
    proofs: dict[Specification, Result] = {}
    left = list(names.items())
    while left:
        few, left = left[:TOGETHER], left[TOGETHER:]
        found = {r.name: r for r in prove(side_by_side({name: problem for problem, name in few}))}
        for number, (problem, name) in enumerate(few):
            result = found[name]
            if isinstance(result.evidence, Certificate):
                proofs[problem] = replace(result, evidence=without_prefix(result.evidence, number))
    valid = _proofs_that_hold(proofs, deadline)
    return _in_places([(problem, place, valid[problem]) for problem, place in order if problem in valid], cutting)


def _proofs_that_hold(proofs: Mapping[Specification, Result], deadline: float) -> dict[Specification, Result]:
    """The proofs that the checker accepts, each about its part alone."""
    numbered = list(proofs.items())

    def work(send: Send) -> None:
        send([n for n, (problem, result) in enumerate(numbered) if _is_accepted(problem, result)])

    seconds = deadline - time.monotonic()
    if numbered and seconds > 0:
        with suppress(OutOfTime), Sandbox(work, seconds=seconds, doing="checking parts") as child:
            return dict(numbered[n] for n in child.receive())
    return {}


def _is_accepted(problem: Specification, result: Result) -> bool:
    (claim,) = [p for p in problem.properties if p.name == CLAIM]
    assert isinstance(result.evidence, Certificate)
    return SpecificationChecker(problem).check(claim, result.evidence) is None


def _in_places(order: list[tuple[Specification, NearPlace, Result]], cutting: Cutting) -> list[ProvedPart]:
    """The parts at their places, as long as what a place needs is proved. A part comes again if a place needs what
    stands behind its last one."""
    claims: dict[str, Claim] = {p.name: p for p in cutting.specification.properties}
    parts: list[ProvedPart] = []
    last: dict[Specification, int] = {}  # the number of the part that has its places
    where: dict[str, int] = {}  # the number of the part that proves a claim
    for problem, place, result in order:
        if not where.keys() >= set(place.needs):
            continue
        earliest = max((where[name] for name in place.needs), default=0)
        if last.get(problem, -1) < earliest:
            last[problem] = len(parts)
            assert isinstance(result.evidence, Certificate)
            parts.append(ProvedPart(problem, {CLAIM: result.evidence}, [], []))
        number = where[place.claim] = last[problem]
        images = {str(v.payload): t for v, t in place.images.items()}
        parts[number].places.append(ProvedPlace(images, ((CLAIM, place.claim),)))
        parts[number].results.append(replace(result, prop=claims[place.claim]))
    return parts
