"""The checker's process: it imports its solvers while the engines run, and answers requests one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamcheck.problem.certificate_json import proof_from_plain, proof_to_plain
from streamcheck.problem.problem import Problem
from streamcheck.problem.verdict import ProofEvidence
from streamcheck.run.child import Channel


class Requests:
    """Requests to the checker as records: evidence that several properties share is sent once, by its number."""

    def __init__(self) -> None:
        self._sent: dict[int, tuple[int, ProofEvidence]] = {}  # by identity; held, so that identities stay

    def record(self, number: int, prop: str, evidence: ProofEvidence) -> dict[str, Any]:
        known = self._sent.get(id(evidence))
        if known is not None:
            return {"id": number, "prop": prop, "evidence": known[0]}
        self._sent[id(evidence)] = number, evidence
        return {"id": number, "prop": prop, "evidence": number, "new": proof_to_plain(evidence)}


def serve(problem: Callable[[], Problem], channel: Channel) -> None:
    """Answer requests for ever. The problem is asked for once the solvers are loaded."""
    from streamcheck.certify.check import Checker
    from streamcheck.certify.solvers import warm_up

    warm_up()
    checker = Checker(problem())
    known: dict[int, ProofEvidence] = {}
    while True:
        request = channel.receive(None)
        number = request["evidence"]
        if "new" in request:
            known[number] = proof_from_plain(request["new"])
        rejected = checker.check(request["prop"], known[number])
        answer = {"id": request["id"], "accepted": rejected is None}
        if rejected is not None:
            answer |= {"why": rejected.why, "undecided": rejected.undecided}
        channel.send(answer)
