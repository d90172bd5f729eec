"""Verdicts. None can be built without its evidence, and `Unknown` always has a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from streamcheck.core.term import Term
from streamcheck.core.types import BOOL, Value
from streamcheck.problem.automaton import Automaton

SolverFamily: TypeAlias = Literal["z3", "bitwuzla"]

# The solvers that check the proofs that come from a solver: never that one.
CHECKERS: Mapping[SolverFamily, tuple[str, ...]] = {"z3": ("bitwuzla", "cvc5"), "bitwuzla": ("cvc5",)}


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof of a property, as conditions that anyone can check. J is the conjunction of the invariants, which imply
    the property; S are its k-step runs, every assumption true in each of their states.

        "inductive"   J holds in the first k steps, and after any k steps of J it holds again
        "compressed"  the same, if the k + 1 states of the second condition are pairwise different and only the
                      first is initial
        "complete"    J holds in the first k steps, and no run from an initial state has k + 1 pairwise different
                      states of which only the first is initial

        "ended"       J holds in the first k steps, and no run from an initial state has k + 1 states
        "unwound"     only of a program: see `LocationInvariants`, of which k are the rounds; J says nothing

    `equalities`, each `same(variable, constant or variable)`, are 1-inductive together; the rest is shown of the system
    with the left sides replaced by the right ones, in which fewer variables make up a state.
    `free` names state variables and definitions whose meaning the proof does not need ("inductive" only: others
    compare whole states, or follow runs from the beginning).
    `prover` is the solver whose answers it comes from, which does not check it.
    """

    kind: Literal["inductive", "compressed", "complete", "ended", "unwound"]
    k: int
    invariants: tuple[Term, ...]
    free: tuple[str, ...] = ()
    equalities: tuple[Term, ...] = ()
    prover: SolverFamily = "z3"

    def __post_init__(self) -> None:
        if self.kind not in ("inductive", "compressed", "complete", "ended", "unwound"):
            raise ValueError(f"no certificate is called {self.kind!r}")
        if self.k < 1 or any(t.type is not BOOL for t in self.invariants):
            raise ValueError("a certificate has k >= 1 and Bool invariants")
        if any(e.op != "same" or e.args[0].op != "var" for e in self.equalities):
            raise ValueError("an equality says what a variable is")
        if self.free and self.kind != "inductive":
            raise ValueError("only inductive certificates leave anything free")
        if self.prover not in CHECKERS:
            raise ValueError(f"no engine uses {self.prover!r}")


@dataclass(frozen=True, slots=True)
class LocationInvariants:
    """A proof that an automaton never reaches an error: invariants of some of its locations. Entry has one, each is
    kept by the statements that lead from one to the next, and none leads to the error.

    They may speak of arrays as a whole, and hold for all values of the variables `any`, which the automaton does not
    have: with k among these, `a[k] == 0` is said of every element.

    Between locations with an invariant, a path comes to a location where it was before fewer times than `rounds`."""

    at: tuple[tuple[str, Term], ...]
    any: tuple[Term, ...] = ()
    rounds: int = 1

    def __post_init__(self) -> None:
        if any(invariant.type is not BOOL for _, invariant in self.at):
            raise ValueError("a location has a Bool invariant")


@dataclass(frozen=True, slots=True)
class BlockCertificate:
    """The same by an automaton with larger steps, which simulates the statements, and a certificate about its
    runs: over its variables and `place`, the variable for its location."""

    blocks: Automaton
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Rounds:
    """A part of a run that is repeated: its steps from number `begin` to before `end` are followed by themselves so
    many `times`, with the same choices. `after` are values after that, of variables by name."""

    begin: int
    end: int
    times: int
    after: dict[str, Value] = field(default_factory=dict)


def _require_parts(rounds: Sequence[Rounds], steps: int) -> None:
    """ValueError if the rounds overlap, or are no parts of so many steps."""
    done = 0
    for part in rounds:
        if not done <= part.begin < part.end <= steps or part.times < 1:
            raise ValueError("rounds of a run that are not a part of it")
        done = part.end


@dataclass(frozen=True, slots=True)
class Trace:
    """A run, by what it chooses: the constants, and the inputs of each step (those that matter). `rounds` are parts
    that are repeated, from the first to the last; they do not overlap. The steps from number `loop` on, if there is
    one, are repeated forever: a lasso."""

    constants: dict[str, Value]
    inputs: tuple[dict[str, Value], ...]
    rounds: tuple[Rounds, ...] = ()
    loop: int | None = None

    def __post_init__(self) -> None:
        _require_parts(self.rounds, len(self.inputs) - 1)  # a step follows, which shows where they lead
        if self.loop is not None and (self.rounds or not 0 <= self.loop < len(self.inputs)):
            raise ValueError("a lasso goes back to one of its steps, and has no other rounds")

    @property
    def length(self) -> int:
        return len(self.inputs) + sum(part.times * (part.end - part.begin) for part in self.rounds)


@dataclass(frozen=True, slots=True)
class EdgePath:
    """A run of an automaton: the first values of its variables, and the edges in order, each by its number and with
    the values of its choices. Scalars go by the names of their parts; what is not given is a default value.

    `rounds` are parts that are repeated, from the first to the last. They do not overlap, and have at least an edge.
    """

    initial: dict[str, Value]
    edges: tuple[tuple[int, dict[str, Value]], ...]
    rounds: tuple[Rounds, ...] = ()

    def __post_init__(self) -> None:
        _require_parts(self.rounds, len(self.edges))

    @property
    def length(self) -> int:
        return len(self.edges) + sum(part.times * (part.end - part.begin) for part in self.rounds)


class Unmappable(Exception):
    """Evidence about a transformed problem that has no counterpart for the problem itself: an internal error."""


ProofEvidence: TypeAlias = Certificate | LocationInvariants | BlockCertificate
Evidence: TypeAlias = ProofEvidence | Trace | EdgePath


@dataclass(frozen=True, slots=True)
class Proved:
    prop: str
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Falsified:
    prop: str
    trace: Trace | EdgePath  # of the system, or of the automaton that it stands for


@dataclass(frozen=True, slots=True)
class Unknown:
    """No verdict, and why.

    An engine gives its own `reason`. For a whole run, `depth` is how far the property is known to hold: at steps
    0 … depth of every run (None: not even at step 0), `reasons` why each engine stopped, and `running` which engines
    were still at work at the end. `provers` are engines whose proofs were still being checked.
    """

    prop: str
    reason: str
    depth: int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    running: tuple[str, ...] = ()
    provers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.reason:
            raise ValueError("an Unknown has a reason")


Verdict: TypeAlias = Proved | Falsified | Unknown
