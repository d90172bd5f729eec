"""The results that users hold: what `spec.prove()` returns and what the reports show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from streamcheck.core.term import Term
from streamcheck.core.types import Value
from streamcheck.problem.automaton import Executed
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate, Trace


@dataclass(frozen=True, slots=True)
class Replay:
    """A run in the reference semantics.

    `steps` holds the value of every term at each step; `matters` the names of the inputs and constants that the
    violation depends on, at each step.
    """

    steps: list[dict[Term, Value]]
    matters: list[set[str]]


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one property, with its evidence.

    `trace` and `replay` are the counterexample of a falsified property; `certificate` is the proof of a proved one. For
    `reachable` properties it is the other way round: a proved one has its witness in `trace` and `replay`, a falsified
    one a certificate that no run reaches it. `reason` says why an unknown property is unknown. For programs, `path` is
    the counterexample as executed statements, and `invariants` holds what the proof says about each location.
    """

    prop: Claim
    verdict: Literal["proved", "falsified", "unknown"]
    engine: str
    model: str
    seconds: float
    reason: str
    certificate: Certificate | None
    trace: Trace | None
    replay: Replay | None
    shortest: bool  # no shorter run breaks (or reaches) the property
    path: Sequence[Executed] | None = None
    invariants: Mapping[str, Term] | None = None

    @property
    def name(self) -> str:
        """The property's name."""
        return self.prop.name

    @property
    def k(self) -> int | None:
        """The step of the violation (or witness), counted from 0; the k of a proof."""
        if self.trace is not None:
            return self.trace.length - 1
        return None if self.certificate is None else self.certificate.k


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The results for one spec, in the order of its properties."""

    equations: Specification
    results: list[Result]
    seconds: float
    warnings: list[str]
    machine: bool  # the spec has machine integers, so reports name their model

    @property
    def status(self) -> int:
        """The exit status of `streamcheck prove`: 0 all proved, 1 something falsified, else 3."""
        verdicts = {r.verdict for r in self.results}
        return 1 if "falsified" in verdicts else 3 if "unknown" in verdicts else 0
