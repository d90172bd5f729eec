"""What engines say. A verdict cannot be built without its evidence, and `Unknown` always has a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from streamcheck.core.term import Term
from streamcheck.core.types import BOOL, Value


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why a property holds, as conditions anyone can check. J is the conjunction of the invariants, which imply the
    property; S are its k-step runs, every assumption true in each of their states.

        "inductive"   J holds in the first k steps, and after any k steps of J it holds again
        "compressed"  the same, where the k + 1 states of the second condition are pairwise different and only the
                      first is initial
        "complete"    J holds in the first k steps, and no run from an initial state has k + 1 pairwise different
                      states of which only the first is initial
    """

    kind: Literal["inductive", "compressed", "complete"]
    k: int
    invariants: tuple[Term, ...]

    def __post_init__(self) -> None:
        if self.k < 1 or any(t.type is not BOOL for t in self.invariants):
            raise ValueError("a certificate has k >= 1 and Bool invariants")


@dataclass(frozen=True, slots=True)
class Trace:
    """A run, by what it chooses: the constants, and the inputs of each step (those that matter)."""

    constants: dict[str, Value]
    inputs: tuple[dict[str, Value], ...]

    @property
    def length(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, slots=True)
class Proved:
    prop: str
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Falsified:
    prop: str
    trace: Trace


@dataclass(frozen=True, slots=True)
class Unknown:
    prop: str
    reason: str

    def __post_init__(self) -> None:
        if not self.reason:
            raise ValueError("an Unknown has a reason")


Verdict: TypeAlias = Proved | Falsified | Unknown
