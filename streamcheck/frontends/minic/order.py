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

from streamcheck.c.arithmetic import Arithmetic
from streamcheck.c.kinds import LONG
from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.c.models import DataModel
from streamcheck.c.terms import comparison, recast
from streamcheck.core.simplify import conjunction, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant
from streamcheck.frontends.minic.unions import UnionPart, union_part


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
        """The pairs of accesses to one object, or its parts, in no order: one between the two marks, one after them."""
        sides = [self._countable(self.made[start:middle]), self._countable(self.made[middle:])]
        if not any(a.writes for side in sides for a in side):
            return
        by_object: dict[Object, list[Access]] = {}
        for a in sides[0]:
            by_object.setdefault(a.lvalue.object, []).append(a)
        for b in sides[1]:
            for a in by_object.get(b.lvalue.object, ()):
                if a.writes or b.writes:
                    yield a, b

    def _countable(self, accesses: Sequence[Access]) -> list[Access]:
        return [a for a in accesses if a.level <= self.depth]

    def pending_writes(self, lvalue: Lvalue) -> Iterator[Access]:
        """The writes to the object of an lvalue, by operands of the assignment that is about to write the lvalue."""
        for a in self.made[self.starts[-1].mark :]:
            if a.pending and a.lvalue.object is lvalue.object:
                yield a


def may_overlap(a: Lvalue, b: Lvalue, model: DataModel) -> bool:
    """One of two paths of fields leads into the other, or both lead into one union. Of indices nothing is known."""
    x, y = union_part(a, model), union_part(b, model)
    return _is_in(a, b) or (x is not None and y is not None and x.fields == y.fields)


def same_place(a: Lvalue, b: Lvalue, arithmetic: Arithmetic) -> Term:
    """The condition that two lvalues of one object designate overlapping parts. Members of a union share its bytes."""
    if _is_in(a, b):
        return _same_indices(a.indices, b.indices, arithmetic)
    x, y = (union_part(part, arithmetic.model) for part in (a, b))
    if x is None or y is None or x.fields != y.fields:
        return FALSE
    before, after = (_begins_before_end(p, q, arithmetic.model) for p, q in ((x, y), (y, x)))
    return conjunction(_same_indices(x.indices, y.indices, arithmetic), before, after)


def _is_in(a: Lvalue, b: Lvalue) -> bool:
    """One of two paths of fields leads into the other."""
    return all(x == y for x, y in zip(a.fields, b.fields, strict=False))


def _same_indices(a: Sequence[Term], b: Sequence[Term], arithmetic: Arithmetic) -> Term:
    type = arithmetic.type_of(LONG)
    return conjunction(*(comparison("eq", recast(i, type), recast(j, type)) for i, j in zip(a, b, strict=False)))


def _begins_before_end(a: UnionPart, b: UnionPart, model: DataModel) -> Term:
    size = constant(b.offset.type, model.size_of(b.kind))
    return comparison("lt", a.offset, simple_term("add", b.offset, size))
