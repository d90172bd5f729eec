"""Small changes of a specification, and whether its properties notice them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from streamcheck.core.location import Location
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification

MutantOutcome: TypeAlias = Literal["noticed", "not noticed", "equivalent", "open"]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of the definition of `owner`, in the user's notation; `mutated` is the specification that has it."""

    owner: str
    where: Location | None
    before: str
    after: str
    mutated: Specification


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutation with its outcome: the property that notices it, or a run with another output that breaks none, of
    `both` specifications side by side. `reason` says why it is open."""

    mutation: Mutation
    outcome: MutantOutcome
    prop: str = ""
    step: int | None = None
    both: Specification | None = None
    claim: Claim | None = None
    run: Replay | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Mutants:
    """All mutants of a specification. `left_out` are properties that are not proved, which can notice nothing."""

    specification: Specification
    mutants: tuple[Mutant, ...]
    left_out: tuple[str, ...]
    seconds: float

    def count(self, outcome: MutantOutcome) -> int:
        """The number of mutants with this outcome."""
        return sum(m.outcome == outcome for m in self.mutants)
