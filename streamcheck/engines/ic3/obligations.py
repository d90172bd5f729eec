"""Proof obligations, and the order in which they are met.

[Tegzes, section 3.1.2.2]: an obligation (i, B) asks to block the states B from F[i]; of automata, (t, l, i) asks
it at location l [Werner, Alg. 2]. They wait in a queue, lowest frame first [EMB11, sec. IV], because a
predecessor must be settled before what it leads to.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from streamcheck.core.term import Term
from streamcheck.core.types import Value
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.space import Exclusion, Transition


@dataclass(slots=True, eq=False)
class Obligation:
    """Block `cube` at `place` up to `level`. Every state of the cube has a step along `transition` into the
    successor's; the last obligation of a chain is that of an error, with the empty cube.

    `context` holds of the state the cube was made from: a box is smaller for it, and abstract cubes are refined by it.
    `values` are a state of the cube, if one is known. `passed` are the exclusions of the first transitions into the
    place: frames only get stronger, so these are not asked about again.
    """

    place: str
    cube: Cube
    level: int
    transition: Transition | None = None
    successor: Obligation | None = None
    depth: int = 0  # transitions to the error
    turns: int = 0  # levels to it
    context: Cube = ()
    values: Mapping[Term, Value] | None = None
    passed: list[Exclusion] = field(default_factory=list)

    def chain(self) -> Iterator[Obligation]:
        """This obligation and those it leads to, the error's at the end."""
        one: Obligation | None = self
        while one is not None:
            yield one
            one = one.successor

    def at_level(self, level: int) -> Obligation:
        return replace(self, level=level, passed=[])

    def predecessor(
        self, along: Transition, cube: Cube, *, context: Cube = (), values: Mapping[Term, Value] | None = None
    ) -> Obligation:
        """The obligation for states from which the transition leads into this one's cube."""
        place, level, turns = along.source, self.level - along.cost, self.turns + along.cost
        return Obligation(place, cube, level, along, self, self.depth + 1, turns, context, values)

    @property
    def exclusion(self) -> Exclusion:
        """The exclusion of the cube, if all transitions are passed."""
        return Exclusion.of_all(self.cube, self.passed)


class Queue:
    """Obligations, lowest level first; of one level those with the fewest levels to the error, and of these the one
    with the most transitions to it, which the others wait for."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, int, Obligation]] = []
        self._numbers = count()

    def push(self, one: Obligation) -> None:
        heapq.heappush(self._heap, (one.level, one.turns, -one.depth, -next(self._numbers), one))

    def pop(self) -> Obligation:
        return heapq.heappop(self._heap)[-1]

    def __bool__(self) -> bool:
        return bool(self._heap)
