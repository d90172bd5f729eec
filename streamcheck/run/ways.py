"""The ways of proving a problem: as a whole, component by component, or with questions about reachability besides."""

from __future__ import annotations

from typing import Protocol

from streamcheck.core.errors import SpecError
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Verdicts
from streamcheck.run.prove import NOBODY, Audience, Settings, prove
from streamcheck.run.standby import Standby


class ProofMethod(Protocol):
    def __call__(
        self, problem: Problem, settings: Settings, audience: Audience = NOBODY, standby: Standby | None = None, /
    ) -> Verdicts: ...


def way_of_proving(*, compositional: bool, reachable: bool) -> ProofMethod:
    """The function that proves. SpecError if the options exclude each other."""
    if compositional and reachable:
        raise SpecError(
            "--compositional and --reachable exclude each other: a branch is reached by a run of the whole",
            write="two commands, one with each",
        )
    if compositional:
        from streamcheck.run.compositional import prove_by_parts

        return prove_by_parts
    if reachable:
        from streamcheck.run.reachability import prove_with_goals

        return prove_with_goals
    return prove
