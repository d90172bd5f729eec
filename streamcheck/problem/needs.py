"""The needs of properties: elements of a specification, sets of them that suffice, and sets that break the property.

A core suffices: the property is proved of the specification in which all other elements are free. A cut breaks it: with
these elements free, a run breaks the property. Each carries its evidence about the weakened specification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from streamcheck.core.location import Location
from streamcheck.core.term import Term
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay, Word
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate

ElementKind: TypeAlias = Literal["equation", "delay", "assumption"]
Need: TypeAlias = Literal["must", "may", "never"]


@dataclass(frozen=True, slots=True)
class Element:
    """A part of a specification that a property may need: the equation of a named stream, a delay without a name, or an
    assumption. `terms` are its wire's term, its cells, or the assumption's term."""

    kind: ElementKind
    name: str
    where: Location | None
    terms: tuple[Term, ...]
    also: tuple[str, ...] = ()  # more names of the same term

    @property
    def names(self) -> tuple[str, ...]:
        """All its names."""
        return (self.name, *self.also)


@dataclass(frozen=True, slots=True)
class Weakened:
    """A specification in which some elements are free, and a property there. `free` maps their terms to the inputs that
    stand for them (a cell to itself)."""

    specification: Specification
    claim: Claim
    free: Mapping[Term, Term]


@dataclass(frozen=True, slots=True)
class Cut:
    """Elements without which a run breaks the property."""

    elements: tuple[Element, ...]
    weakened: Weakened
    run: Replay


@dataclass(frozen=True, slots=True)
class Core:
    """Elements that suffice, with the certificate of the property of the specification in which the others are free.

    `breaks` has, for an element, the run that breaks the property if it is free too; `minimal` if every element has
    one. `inputs` are those that the weakened specification reads."""

    elements: tuple[Element, ...]
    weakened: Weakened
    certificate: Certificate
    breaks: dict[Element, Cut] = field(default_factory=dict)

    @property
    def minimal(self) -> bool:
        return all(e in self.breaks for e in self.elements)

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(i.name for i in self.weakened.specification.inputs if i.extern)


@dataclass(frozen=True, slots=True)
class Needs:
    """The knowledge about one property: its verdict, cores if it is proved, and the minimal cuts that were looked for.

    `complete`: these are all minimal cores; `all_cuts`: all minimal cuts (of the size that was asked for). `open` is
    the number of questions that no engine has answered in the time. `weaker` are pairs of cores, by their numbers: the
    assumptions of the first follow from those of the second, but not the other way round."""

    claim: Claim
    verdict: Word
    reason: str = ""
    cores: tuple[Core, ...] = ()
    cuts: tuple[Cut, ...] = ()
    complete: bool = False
    all_cuts: bool = False
    open: int = 0
    weaker: tuple[tuple[int, int], ...] = ()

    def need(self, element: Element) -> Need | None:
        """`must`: every minimal core has the element; `may`: some; `never`: none. None if that is not known."""
        if any(cut.elements == (element,) for cut in self.cuts):
            return "must"
        if not self.complete:
            return None
        return "may" if any(element in c.elements for c in self.cores) else "never"


@dataclass(frozen=True, slots=True)
class AllNeeds:
    """The needs of the properties of a specification, over these elements."""

    specification: Specification
    elements: tuple[Element, ...]
    properties: tuple[Needs, ...]
    seconds: float

    @property
    def coverage_gaps(self) -> tuple[Element, ...]:
        """The elements that no core has: all properties that are proved hold whatever these are."""
        covered = {e for needs in self.properties for core in needs.cores for e in core.elements}
        return tuple(e for e in self.elements if e not in covered)
