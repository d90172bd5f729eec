"""Runs that cover goals of a specification: branches, premises, triggers, modes and the conditions of decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from streamcheck.core.term import Term
from streamcheck.core.types import Value
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate

GoalWord: TypeAlias = Literal["covered", "never", "open", "not by inputs"]
ExternRow: TypeAlias = Mapping[Term, Value]  # the externs of a step


@dataclass(frozen=True, slots=True)
class GoalState:
    """A goal: covered at the `step` of a `run` (numbers from 0), reached by no run (with its `certificate`), or open
    (with the `reason`). A goal that depends on an `unknown` or a forall's constant is no matter of inputs."""

    goal: Claim
    state: GoalWord
    run: int | None = None
    step: int | None = None
    certificate: Certificate | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SuiteOfRuns:
    """The runs, by the inputs of their steps, and the state of each goal."""

    specification: Specification
    runs: tuple[Sequence[ExternRow], ...]
    goals: tuple[GoalState, ...]
    seconds: float

    def count(self, state: GoalWord) -> int:
        """The number of goals in this state."""
        return sum(g.state == state for g in self.goals)
