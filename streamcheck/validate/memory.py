"""Symbolic memory: a term for every scalar part of every object.

`a[i]` is one part if `i` is known, else each element under a condition. An array that the relation calls a ring is
different: its slots are numbered by their distance from its index at the beginning of the step, so a ring of a
thousand elements takes no more time than one of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import assert_never

from streamcheck.c import kinds
from streamcheck.c.initial import PartPath
from streamcheck.c.kinds import (
    AnyKind,
    Array,
    Floating,
    FunctionType,
    Incomplete,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)
from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.c.terms import comparison
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction, disjunction, either, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant
from streamcheck.core.types import MachineType, Type

MOST_SCALARS = 2_000_000  # of one object: every one is a term of its own

Part = tuple[Object, int]  # a scalar of an object, counted in the order of declaration
Parts = dict[Part, Term]


@dataclass(frozen=True, slots=True)
class RingSlots:
    """An array that is a ring: the slot of an index."""

    kind: Array
    slot: Callable[[Term], int]


class Memory:
    def __init__(self) -> None:
        self.parts: Parts = {}
        self.indeterminate: Parts = {}  # the condition that a part has no value yet, if it can be so
        self.rings: dict[Part, RingSlots] = {}  # by their first part
        self.hidden: set[Part] = set()  # what only functions that are not executed may touch
        self.numbers: dict[Object, int] = {}
        self.frozen = 0  # the first objects, up to this number, may not be written: an expression is being evaluated
        self._layouts: dict[int, tuple[AnyKind, dict[str, tuple[int, AnyKind]], int]] = {}

    def add(self, kind: AnyKind, name: str, parts: list[Term], *, constant: bool = False) -> Lvalue:
        """A new object with these values."""
        made = Object(name, kind, constant=constant)
        self.numbers[made] = len(self.numbers) + 1
        self.parts.update({(made, i): part for i, part in enumerate(parts)})
        return Lvalue(made, kind)

    # Layout

    def _layout(self, kind: AnyKind) -> tuple[dict[str, tuple[int, AnyKind]], int]:
        """The offset and kind of each field, and the number of scalars."""
        known = self._layouts.get(id(kind))
        if known is None:
            fields: dict[str, tuple[int, AnyKind]] = {}
            size = 1
            match kind:
                case Array():
                    size = kind.length * self.width(kind.element)
                case Struct():
                    size = 0
                    for name, inner in kind.fields:
                        fields[name] = (size, inner)
                        size += self.width(inner)
                case Pointer():  # what a member points to is known when the program is read (`execution.links`)
                    size = 0
                case Integer() | Floating() | Void() | Opaque() | FunctionType() | Incomplete():
                    pass
                case _:
                    assert_never(kind)
            known = self._layouts[id(kind)] = (kind, fields, size)  # the kind is kept: its id is the key
        return known[1], known[2]

    def width(self, kind: AnyKind) -> int:
        """The number of scalars."""
        return self._layout(kind)[1]

    def offsets(self, lvalue: Lvalue) -> list[tuple[Term, int]]:
        """The offset of the part in its object, or each that it may be, with its condition."""
        kind, fields, indices = lvalue.object.kind, list(lvalue.fields), list(lvalue.indices)
        ways: list[tuple[Term, int]] = [(TRUE, 0)]
        while fields or indices:
            if isinstance(kind, Struct) and fields:
                offset, kind = self._layout(kind)[0][fields.pop(0)]
                ways = [(when, at + offset) for when, at in ways]
            elif isinstance(kind, Array) and indices:
                ways = self._elements(lvalue.object, kind, ways, indices.pop(0))
                kind = kind.element
            elif indices and not fields and indices[0].is_const:  # so many members after this one (`dense.member_at`)
                further = int(indices.pop(0).payload)
                if any((lvalue.object, at + further) not in self.parts for _, at in ways):
                    raise SpecError("an index that is not of these members of one type")
                ways = [(when, at + further) for when, at in ways]
            else:
                raise SpecError("a field of all the elements of an array")
        return ways

    def _elements(
        self, object: Object, kind: Array, ways: list[tuple[Term, int]], index: Term
    ) -> list[tuple[Term, int]]:
        step, length = self.width(kind.element), kind.length
        ring = self.rings.get((object, ways[0][1]))
        if ring is not None and ring.kind is kind:
            if len(ways) > 1:
                raise SpecError("one of several rings")
            return [(TRUE, ways[0][1] + step * ring.slot(index))]
        if index.is_const:
            chosen: list[tuple[Term, int]] = [(TRUE, min(max(index.payload, 0), length - 1))]
        else:
            assert isinstance(index.type, MachineType)
            known = range(min(length, index.type.high + 1))
            chosen = [(_is_index(index, i), i) for i in known]
        return [(conjunction(when, this), at + step * i) for when, at in ways for this, i in chosen]

    def is_ring(self, lvalue: Lvalue) -> bool:
        if not self.rings:
            return False
        ways = self.offsets(lvalue)
        ring = self.rings.get((lvalue.object, ways[0][1]))
        return ring is not None and ring.kind is lvalue.kind

    def span(self, lvalue: Lvalue) -> tuple[Part, AnyKind]:
        """The first scalar and the kind of a part that is known."""
        ((_, offset),) = self.offsets(lvalue)
        return (lvalue.object, offset), lvalue.kind

    def may_overlap(self, a: Lvalue, b: Lvalue) -> bool:
        """True if some scalar may belong to both."""
        if a.object is not b.object:
            return False
        starts = [[at for _, at in self.offsets(lvalue)] for lvalue in (a, b)]
        return any(x < y + self.width(b.kind) and y < x + self.width(a.kind) for x, y in product(*starts))

    # Access

    def at(self, first: Part, kind: AnyKind) -> list[Term]:
        """The scalars of a span."""
        return [self.parts[(first[0], first[1] + i)] for i in range(self.width(kind))]

    def read(self, lvalue: Lvalue) -> list[Term]:
        """The scalars of a part."""
        ways = self.offsets(lvalue)
        self._check_access(lvalue, ways)
        values = []
        for i in range(self.width(lvalue.kind)):
            value = self.parts[(lvalue.object, ways[-1][1] + i)]
            for when, at in reversed(ways[:-1]):
                value = either(when, self.parts[(lvalue.object, at + i)], value)
            values.append(value)
        return values

    def has_no_value(self, lvalue: Lvalue) -> Term:
        """The condition that a scalar of the part is indeterminate."""
        if not self.indeterminate:
            return FALSE
        return disjunction(
            *(
                conjunction(when, self.indeterminate.get((lvalue.object, at + i), FALSE))
                for when, at in self.offsets(lvalue)
                for i in range(self.width(lvalue.kind))
            )
        )

    def write(self, lvalue: Lvalue, values: list[Term], live: Term) -> None:
        """The part takes the values if `live` holds."""
        if self.numbers[lvalue.object] <= self.frozen:
            raise SpecError("an expression with a side effect")
        ways = self.offsets(lvalue)
        self._check_access(lvalue, ways)
        for condition, at in ways:
            when = conjunction(live, condition)
            for i, value in enumerate(values):
                part = (lvalue.object, at + i)
                self.parts[part] = either(when, value, self.parts[part])
                if part in self.indeterminate:
                    self.indeterminate[part] = conjunction(self.indeterminate[part], negation(when))

    def merge(self, condition: Term, parts: Parts, indeterminate: Parts) -> None:
        """Another memory takes the place of this one if the condition holds."""
        for part, value in parts.items():
            other = self.parts.get(part, value)
            self.parts[part] = value if value is other else either(condition, value, other)
        for part in {**self.indeterminate, **indeterminate}:
            yes, no = (m.get(part, FALSE) for m in (indeterminate, self.indeterminate))
            self.indeterminate[part] = either(condition, yes, no)

    def _check_access(self, lvalue: Lvalue, ways: list[tuple[Term, int]]) -> None:
        """The slots of a ring are in the order of time: only one at a time means what it means in C. Nothing hidden is
        touched."""
        size = self.width(lvalue.kind)
        if self.hidden and any((lvalue.object, at + i) in self.hidden for _, at in ways for i in range(size)):
            raise SpecError("a window is touched other than by its functions")
        for (object, start), ring in self.rings.items():
            if object is not lvalue.object:
                continue
            step = self.width(ring.kind.element)
            for _, offset in ways:
                first, last = offset - start, offset - start + size - 1
                if last < 0 or first >= step * ring.kind.length:
                    continue
                if first < 0 or first // step != last // step:
                    raise SpecError("a ring as a whole")


def _is_index(index: Term, i: int) -> Term:
    """index == i. If it is `x < n ? x : n`, for an i below n that is x == i, which solvers find less hard."""
    match index.op, index.args:
        case "mux", [Term(op="lt", args=[x, bound]), value, last] if (
            last.is_const
            and bound.is_const
            and i < last.payload == bound.payload
            and (value is x or (value.op == "cast" and value.args[0] is x))
            and _widens(x.type, index.type)
        ):
            return comparison("eq", value, constant(index.type, i))
    return comparison("eq", index, constant(index.type, i))


def _widens(narrow: Type, wide: Type) -> bool:
    """True if the wide type has every value of the narrow one, both unsigned."""
    if not isinstance(narrow, MachineType) or not isinstance(wide, MachineType):
        return False
    return narrow.low == wide.low == 0 and narrow.high <= wide.high


def scalars_of(kind: AnyKind) -> Iterator[tuple[PartPath, AnyKind]]:
    """The scalars of a kind with their paths, in the order of declaration. SpecError if no machine would hold them."""
    number = kinds.number_of_scalars(kind)
    if number > MOST_SCALARS:
        raise SpecError(f"an object of {number} values; the proof takes at most {MOST_SCALARS}")
    return _scalars_of(kind, ())


def _scalars_of(kind: AnyKind, path: PartPath) -> Iterator[tuple[PartPath, AnyKind]]:
    match kind:
        case Array():
            for i in range(kind.length):
                yield from _scalars_of(kind.element, (*path, i))
        case Struct():
            for name, inner in kind.fields:
                yield from _scalars_of(inner, (*path, name))
        case Pointer():
            pass
        case _:
            yield path, kind
