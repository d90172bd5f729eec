"""The answer to the question if a component can keep all guarantees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from streamcheck.core.term import Term
from streamcheck.core.types import Value
from streamcheck.problem.result import Verdicts
from streamcheck.problem.specification import Specification


@dataclass(frozen=True, slots=True)
class Realizability:
    """`proof` is what the checker accepted: of the implementation, a specification with a term for each output, or of
    the environment's strategy, one with a term for each input. `rows` are the steps of a run that the environment
    wins, by the names of inputs and outputs; the last one has inputs alone.

    `environment` is the answer for the environment, whose guarantees are the assumptions: None if there are none.
    `together` is the answer for both as one, if the component has none: is there a run that keeps everything?"""

    specification: Specification
    verdict: Literal["realizable", "unrealizable", "unknown"]
    seconds: float
    reason: str = ""  # why it is unknown
    way: str = ""  # by which it is realizable: fixpoint, or k-induction
    implementation: Specification | None = None
    strategy: Specification | None = None
    conflict: tuple[str, ...] = ()  # guarantees that cannot be kept together
    is_smallest: bool = False  # none of them can be left out
    most_steps: int = 0  # in which the environment wins
    run: tuple[Mapping[Term, Value], ...] = ()
    proof: Verdicts | None = None
    environment: Realizability | None = None
    together: Realizability | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of the proof: that the assumptions contradict each other, for one."""
        known = self.specification.warnings
        nothing = () if self.specification.properties else ("it guarantees nothing",)
        return nothing if self.proof is None else tuple(w for w in self.proof.warnings if w not in known)

    @property
    def outputs(self) -> tuple[Term, ...]:
        return tuple(i.var for i in self.specification.inputs if not i.extern)
