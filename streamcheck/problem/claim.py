"""Claims: conditions on a problem, each with its goal and its origin.

One record from the front ends to the report. Nothing about a claim is encoded in its name or in a missing line.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias, assert_never

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.term import Term, term
from streamcheck.core.types import BOOL
from streamcheck.core.wire import TermWriter, location, location_row


class Goal(Enum):
    """The goal of a claim: its term holds always, at some time, or again and again."""

    ALWAYS = "always"  # at every step of every run
    REACHABLE = "reachable"  # at some step of some run
    INFINITELY_OFTEN = "infinitely often"  # in every infinite run that is fair


@dataclass(frozen=True, slots=True)
class Written:
    """The user wrote the claim."""


@dataclass(frozen=True, slots=True)
class Implied:
    """An operator with a condition implies it: division, index, shift, cast, and overflow in C."""


@dataclass(frozen=True, slots=True)
class RangeOf:
    """The values that the type of a variable has. It can be left out if the variable is."""

    variable: Term


@dataclass(frozen=True, slots=True)
class VacuityTest:
    """A claim that should fail. A proof of it means that the premise of the property `of` is never true, or, if that
    is None, that no run of so many steps meets the assumptions."""

    of: str | None
    steps: int


Role: TypeAlias = Literal["assumption", "guarantee", "mode", "modes"]


@dataclass(frozen=True, slots=True)
class OfContract:
    """A clause of the contract of an instance; "" is the component that the specification is the body of. An
    `assumption` is what its caller owes; a `guarantee`, what a `mode` ensures, and that one of the `modes` is active,
    hold as long as its assumptions have held."""

    role: Role
    instance: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Two specifications are compared: an output of both is the same, or an assumption of one holds for the other."""


Origin: TypeAlias = Written | Implied | RangeOf | VacuityTest | OfContract | Compared
WRITTEN = Written()
IMPLIED = Implied()
COMPARED = Compared()


@dataclass(frozen=True, slots=True)
class Claim:
    """A property or an assumption: a Bool term with a name."""

    name: str
    term: Term
    where: Location | None = None
    goal: Goal = Goal.ALWAYS
    origin: Origin = WRITTEN

    def __post_init__(self) -> None:
        if self.term.type is not BOOL:
            raise ValueError(f"{self.name} is not Bool")

    @property
    def invariant(self) -> Term:
        """The term that a certificate shows to hold at every step; a trace ends at the step at which it is false."""
        match self.goal:
            case Goal.ALWAYS:
                return self.term
            case Goal.REACHABLE:
                return term("not", self.term)
            case Goal.INFINITELY_OFTEN:
                raise SpecError(
                    f"{self.name}: claims about infinite runs have no form here; `prove` and JSON have", self.where
                )
        assert_never(self.goal)

    @property
    def is_about_infinite_runs(self) -> bool:
        return self.goal is Goal.INFINITELY_OFTEN

    @property
    def is_implied(self) -> bool:
        return isinstance(self.origin, Implied)

    @property
    def is_vacuity_test(self) -> bool:
        return isinstance(self.origin, VacuityTest)

    @property
    def is_range(self) -> bool:
        return isinstance(self.origin, RangeOf)


def claim_to_plain(claim: Claim, w: TermWriter) -> list[Any]:
    """A claim as JSON, its terms as rows of the writer."""
    origin = _origin_to_plain(claim.origin, w)
    return [claim.name, w.term(claim.term), location_row(claim.where), claim.goal.value, origin]


def claim_from_plain(row: list[Any], terms: list[Term]) -> Claim:
    name, number, where, goal, origin = row
    return Claim(name, terms[number], location(where), Goal(goal), _origin_from_plain(origin, terms))


def _origin_to_plain(origin: Origin, w: TermWriter) -> Any:
    match origin:
        case Written():
            return "written"
        case Implied():
            return "implied"
        case RangeOf(variable):
            return {"range of": w.term(variable)}
        case VacuityTest(of, steps):
            return {"vacuity of": of, "steps": steps}
        case OfContract(role, instance):
            return {"contract of": instance, "role": role}
        case Compared():
            return "compared"
    assert_never(origin)


def _origin_from_plain(row: Any, terms: list[Term]) -> Origin:
    match row:
        case "written":
            return WRITTEN
        case "implied":
            return IMPLIED
        case "compared":
            return COMPARED
        case {"range of": int(number)}:
            return RangeOf(terms[number])
        case {"vacuity of": str() | None as of, "steps": int(steps)}:
            return VacuityTest(of, steps)
        case {"contract of": str(instance), "role": "assumption" | "guarantee" | "mode" | "modes" as role}:
            return OfContract(role, instance)
    raise ValueError(f"no claim has the origin {row!r}")
