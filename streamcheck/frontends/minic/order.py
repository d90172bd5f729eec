"""The reads and writes of an expression, and those that C does not order (6.5).

The operands of an operator, the sides of an assignment and the arguments of a call are evaluated in any order. If one
of them writes what another one reads or writes, then

    without a call between them   the program has no defined behaviour: a claim
    in a branch of one of them    it has none if the run takes that branch: a claim, and runs also go on
    inside of a called function   one comes whole before the other, C leaves open which: the end of what is modelled

`Accesses` is the record that `expressions.Expressions` keeps. The parameters and variables of a function that is
called do not count: no two calls share them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.c.terms import comparison, recast
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term
from streamcheck.core.types import Type


@dataclass(slots=True)
class Access:
    """`depth`: how many calls are active, `level`: how many were when the object was declared. `edges`: how many edges
    were before it. `pending`: a write that no sequence point has ended. `branches`: how many of `?:`, `&&` and `||`
    decide if it is made. `holds`: it is made only then, which depends on a pointer."""

    lvalue: Lvalue
    writes: bool
    depth: int
    level: int
    edges: int
    pending: bool
    branches: int
    holds: Term = TRUE

    @property
    def name(self) -> str:
        return ".".join((self.lvalue.object.name.rsplit(".", 1)[-1], *self.lvalue.fields))


@dataclass(frozen=True, slots=True)
class Unordered:
    """The beginning of operands: how many accesses were before it, the edge there that may end the model, and how many
    branches it is in."""

    mark: int
    gate: int | None
    branches: int


class Accesses:
    def __init__(self) -> None:
        self.made: list[Access] = []
        self.depth = 0  # of calls
        self.levels: dict[Object, int] = {}  # of local variables
        self.starts: list[Unordered] = []  # of the assignments that are being evaluated

    def forget(self) -> None:
        """The end of a statement of the outermost function."""
        self.made.clear()

    def note(
        self, lvalue: Lvalue, edges: int, branches: int, *, writes: bool, depth: int = 0, holds: Term = TRUE
    ) -> None:
        level = self.levels.get(lvalue.object, 0)
        self.made.append(Access(lvalue, writes, self.depth + depth, level, edges, writes, branches, holds))

    def settle(self, mark: int) -> None:
        """A sequence point: what was written since the mark has been written."""
        for access in self.made[mark:]:
            access.pending = False

    def mark(self) -> int:
        return len(self.made)

    def conflicts(self, start: int, middle: int) -> Iterator[tuple[Access, Access]]:
        """The pairs of accesses to one object that are in no order: one between the two marks, one after them."""
        sides = [self._countable(self.made[start:middle]), self._countable(self.made[middle:])]
        if not any(a.writes for side in sides for a in side):
            return
        by_object: dict[Object, list[Access]] = {}
        for a in sides[0]:
            by_object.setdefault(a.lvalue.object, []).append(a)
        for b in sides[1]:
            for a in by_object.get(b.lvalue.object, ()):
                if (a.writes or b.writes) and overlap(a.lvalue.fields, b.lvalue.fields):
                    yield a, b

    def _countable(self, accesses: Sequence[Access]) -> list[Access]:
        return [a for a in accesses if a.level <= self.depth]

    def pending_writes(self, lvalue: Lvalue) -> Iterator[Access]:
        """The writes to the lvalue by operands of the assignment that is about to write it."""
        for a in self.made[self.starts[-1].mark :]:
            if a.pending and a.lvalue.object is lvalue.object and overlap(a.lvalue.fields, lvalue.fields):
                yield a


def same_place(a: Lvalue, b: Lvalue, index_type: Type) -> Term:
    """The condition that two lvalues of one object, with overlapping fields, designate overlapping parts."""
    pairs = zip(a.indices, b.indices, strict=False)
    return conjunction(*(comparison("eq", recast(i, index_type), recast(j, index_type)) for i, j in pairs))


def overlap(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """One of two paths of fields leads into the other."""
    return all(x == y for x, y in zip(a, b, strict=False))
