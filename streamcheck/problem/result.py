"""The results that `spec.prove()` returns and reports show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from streamcheck.core.location import Location
from streamcheck.core.term import Term
from streamcheck.core.types import Value
from streamcheck.problem.automaton import Edge, Executed, Repeated
from streamcheck.problem.claim import Claim
from streamcheck.problem.composition import Composition
from streamcheck.problem.problem import Problem
from streamcheck.problem.verdict import (
    BlockCertificate,
    Certificate,
    Evidence,
    LocationInvariants,
    ProofEvidence,
    SolverFamily,
    Unknown,
)

Word: TypeAlias = Literal["proved", "bounded", "falsified", "unknown"]


@dataclass(frozen=True, slots=True)
class Replay:
    """A run in the reference semantics.

    `steps` holds the value of every term at each step; `matters` the names of the inputs and constants that the
    violation depends on, at each step; `causes` the terms that it depends on at some step. `numbers` are those of the
    steps, from 0: some are missing where rounds were computed. The values of terms that the violation does not depend
    on may be missing after rounds, or once they are numbers beyond reason.
    """

    steps: list[dict[Term, Value]]
    matters: list[set[str]]
    causes: set[Term]
    numbers: list[int]
    loop: int | None = None  # the steps from here on are repeated forever

    @property
    def length(self) -> int:
        """The number of steps of the run, those included that are not here."""
        return self.numbers[-1] + 1

    def follows(self, i: int) -> bool:
        """True if no step is missing before this one."""
        return i == 0 or self.numbers[i] == self.numbers[i - 1] + 1


@dataclass(frozen=True, slots=True)
class Cause:
    """A value at a step. `definition` is what it was computed from, at the step before if `delayed`; None of inputs."""

    step: int
    name: str
    value: Value
    term: Term
    definition: Term | None
    delayed: bool
    where: Location | None


@dataclass(slots=True)
class PathCause:
    """A statement on a path that an error depends on. `values` are those that it wrote, or read if it is a condition;
    `earlier` the same of executions before that, the last first. `more` are executions with unknown values."""

    edge: Edge
    values: Mapping[Term, Value]
    earlier: list[Mapping[Term, Value]] = field(default_factory=list)
    more: int = 0


@dataclass(frozen=True, slots=True)
class Inconsistent:
    """Why a run that breaks the claim is none, and the engine still right: a function without a definition has two
    values for the same inputs, or rounds of a program are not known to be possible."""

    reason: str


@dataclass(frozen=True, slots=True)
class PathReplay:
    """A run of a program: its statements with the values after each, and the first values that matter."""

    statements: list[Executed | Repeated]
    first: dict[Term, Value]

    @property
    def length(self) -> int:
        """The number of statements that were executed."""
        return sum(1 if isinstance(s, Executed) else s.times * len(s.edges) for s in self.statements)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The knowledge about a property that has no verdict.

    `fails` is a run from a state that perhaps no run reaches: the property holds at all its steps but the last. If
    there is none, `missing` says why.
    `unreachable` is true if it is proved that no run reaches that state; `not_before` is a step at which one may, since
    none does before. `lemmas` hold at every step of every run; they have been checked. `candidates` held in random runs
    and are not proved; if there is a failing run, each excludes its first state.
    """

    fails: Replay | None
    lemmas: tuple[Term, ...]
    candidates: tuple[Term, ...] = ()
    unreachable: bool = False
    not_before: int = 0
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one property, with its evidence.

    `evidence` is what was checked: a certificate of a proved property, a run of a falsified one. For `reachable`
    properties it is the other way round: a proved one has its witness, a falsified one a certificate that no run
    reaches it. `replay` is the run, replayed: of a specification step by step, of a program statement by statement.
    `k` is the k of a proof, or the step of the violation (or witness), counted from 0. `unknown` holds why there is no
    verdict, and how far the property is known to hold.
    """

    prop: Claim
    verdict: Word
    engine: str
    model: str
    seconds: float
    unknown: Unknown | None
    evidence: Evidence | None
    replay: Replay | PathReplay | None
    k: int | None
    kind: str  # of a certificate
    shortest: bool  # no shorter run breaks (or reaches) the property
    explanation: Explanation | None = None  # of an unknown one
    kept: bool = False  # the evidence is from an earlier run, and has been checked or replayed again
    composition: Composition | None = None  # `evidence` is about a part; this is how that proves the property

    @property
    def name(self) -> str:
        """The property's name."""
        return self.prop.name

    @property
    def reason(self) -> str:
        """The reason why the property is unknown; empty if it is decided."""
        return "" if self.unknown is None else self.unknown.reason

    @property
    def depth(self) -> int | None:
        """The last step up to which an unknown property is known to hold (or a state not to be reached)."""
        return None if self.unknown is None else self.unknown.depth

    @property
    def reasons(self) -> Mapping[str, str]:
        """The reason why each engine stopped on an unknown property."""
        return {} if self.unknown is None else self.unknown.reasons

    @property
    def proof(self) -> ProofEvidence | None:
        """The certificate, if that is the evidence."""
        evidence = self.evidence
        return evidence if isinstance(evidence, Certificate | LocationInvariants | BlockCertificate) else None

    @property
    def prover(self) -> SolverFamily:
        """The solver that the proof comes from."""
        proof = self.proof.certificate if isinstance(self.proof, BlockCertificate) else self.proof
        return proof.prover if isinstance(proof, Certificate) else "z3"

    @property
    def run(self) -> Replay | None:
        """The counterexample or witness of a specification."""
        return self.replay if isinstance(self.replay, Replay) else None

    @property
    def path(self) -> PathReplay | None:
        """The counterexample of a program."""
        return self.replay if isinstance(self.replay, PathReplay) else None

    @property
    def at_locations(self) -> Mapping[str, Term] | None:
        """The proof of a program as invariants of locations, if it has this form."""
        return dict(self.evidence.at) if isinstance(self.evidence, LocationInvariants) else None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The results for one spec, in the order of its properties."""

    problem: Problem
    results: list[Result]
    seconds: float
    warnings: list[str]
    machine: bool  # the spec has machine integers, so reports name their model
    bound: int | None = None  # only runs of at most so many steps were asked about
    alarms: list[str] = field(default_factory=list)  # claims of engines that were refuted: faults of streamcheck
    stopped: int = 0  # the exit status that a signal asks for, if one ended the run
    strict: bool = False  # warnings are errors
    parts: tuple[str, ...] = ()  # of a proof by parts: each in words

    @property
    def status(self) -> int:
        """The exit status of `streamcheck prove`: 4 an alarm, 130 or 143 interrupted, 1 something falsified, 2
        something wrong with the spec that is strictly read, 3 something unknown, 5 something bounded, else 0."""
        if self.alarms or self.stopped:
            return 4 if self.alarms else self.stopped
        verdicts = {r.verdict for r in self.results}
        if self.strict and self.warnings and "falsified" not in verdicts:
            return 2
        return 1 if "falsified" in verdicts else 3 if "unknown" in verdicts else 5 if "bounded" in verdicts else 0
