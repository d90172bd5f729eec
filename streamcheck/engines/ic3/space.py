"""The state space that frames are over: places, transitions between them, and initial states.

A transition system has one place for all its states and one for the violations of each property; the places of an
automaton are its locations. A transition has a guard and updates, as an edge has. There are no primed variables: a
literal over x' is the literal with every variable replaced by its update, its image.

Frames have levels. F[i, l] holds in every state in which a run is at place l after at most i levels. A transition costs
a level or none: it leads from F[i - cost] to F[i]. Below level `first(l)`, a run can be at l in an initial state only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from streamcheck.core.simplify import simplify
from streamcheck.core.term import Term, substitute
from streamcheck.core.types import Type, Value
from streamcheck.engines.ic3.cubes import Cube

FOR_EVER = 1 << 30  # the level ∞: what holds after any number of levels
NEVER = FOR_EVER + 1  # the first level at a place that no path leads to


class NoState(Exception):
    """A model has values that the language cannot express."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """No transition leads into a cube. The literals `needed` of the cube suffice for that, up to `level` of the target.
    `asked`: the solver was asked; its core may have more literals than necessary."""

    needed: Cube
    level: int
    asked: bool = False

    @staticmethod
    def of_all(cube: Cube, exclusions: Iterable[Exclusion]) -> Exclusion:
        """The exclusion of a cube, from one for each transition into its place."""
        given = list(exclusions)
        needed = {literal for one in given for literal in one.needed}
        level = min([one.level for one in given], default=FOR_EVER)
        return Exclusion(tuple(c for c in cube if c in needed), level, any(one.asked for one in given))


class Transition:
    """A way from one place to another, or back to the same."""

    def __init__(self, source: str, target: str, guard: Term, update: Mapping[Term, Term], cost: int) -> None:
        self.source, self.target = source, target
        self.guard = guard
        self.update = update
        self.cost = cost
        self._images: dict[Term, Term] = {}

    def image(self, literal: Term) -> Term:
        """literal[x'], over the variables before the transition and its inputs."""
        image = self._images.get(literal)
        if image is None:
            image = self._images[literal] = self._image(literal)
        return image

    def _image(self, literal: Term) -> Term:
        put = substitute([literal], self.update)[literal]
        return literal if put is literal else simplify([put])[put]

    def roots(self, cube: Cube) -> list[Term]:
        """The terms that are true of a state and its inputs if they lead into the cube."""
        return [self.guard, *map(self.image, cube)]

    def syntactic_exclusion(self, cube: Cube, lemmas: Sequence[tuple[Cube, int]]) -> Exclusion | None:
        """An exclusion of the cube that needs no solver. `lemmas`: the cubes that a frame of the source excludes, and
        the levels up to which it does."""
        return None


@dataclass(frozen=True)
class StateSpace:
    """`entering`: the transitions into each place. `initial`: the initial states of each place. `first`: the level from
    which on other states than these may be there (`NEVER` also if all states are initial). `facts` are true of every
    state and its inputs in every run that counts. `values`: the initial values of variables that have one.
    `landmarks`: the floats of each type that the system speaks of, in order."""

    entering: Mapping[str, Sequence[Transition]]
    initial: Mapping[str, Term]
    first: Mapping[str, int]
    errors: frozenset[str]
    facts: tuple[Term, ...] = ()
    values: Mapping[Term, Value] = field(default_factory=dict)
    landmarks: Mapping[Type, Sequence[float]] = field(default_factory=dict)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """All places but the errors."""
        return tuple(place for place in self.entering if place not in self.errors)
