"""Where objects of a type are in memory: the numbers of pointers to them.

An object whose address a program computes with has a number, its base, and its bytes follow, as C lays them out. A
place is a part of a known type: the fields and arrays on the way to it. `decode` gives the condition that a number is
one of the place's, and the indices of the element it is then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streamcheck.c.arithmetic import ADDRESS
from streamcheck.c.kinds import AnyKind, Array, Integer, Opaque, Struct, has_run_time_length
from streamcheck.c.lvalues import Fields
from streamcheck.c.models import DataModel
from streamcheck.core.simplify import conjunction, simple_term
from streamcheck.core.term import TRUE, Term, constant

NULL, DANGLING, OUTSIDE = 0, 1, 2  # numbers without an object: the last is one of another file
FIRST_FUNCTION, FIRST_OBJECT, GAP = 16, 1 << 16, 16
LAST = 1 << 31
OPAQUE = Struct("memory", ())  # of a size that is not known, or large


@dataclass(slots=True, eq=False)
class AddressRange:
    """An object that has numbers. `automatic`: it ends with its block. `stride`: it is the memory of an allocation,
    an array of instances that are so far apart; 0 if it is a variable. `on_stack`: it is not freed."""

    name: str
    kind: AnyKind
    base: int
    size: int
    automatic: bool = False
    stride: int = 0
    constant: bool = False
    on_stack: bool = False

    @property
    def is_opaque(self) -> bool:
        """Its contents are not modelled."""
        return isinstance(self.kind, Array) and self.kind.element == OPAQUE

    @property
    def is_freed(self) -> bool:
        """It ends by `free`."""
        return bool(self.stride) and not self.on_stack

    @property
    def end(self) -> int:
        return self.base + self.size


@dataclass(frozen=True, slots=True)
class TypedPart:
    """`steps`: the length of each array on the way, and the size of its elements, from the outermost. `is_element`:
    it is an element of the last one, no field of it, and no instance of an allocation."""

    fields: Fields
    steps: tuple[tuple[int, int], ...]
    offset: int
    kind: AnyKind
    is_element: bool = False


@dataclass(frozen=True, slots=True)
class PartElement:
    """If `holds`, a number is that of an element: its indices, and the length of the innermost array."""

    holds: Term
    indices: tuple[Term, ...]
    length: int


def number(value: int) -> Term:
    return constant(ADDRESS, value % (1 << 32))


def places(region: AddressRange, wanted: Callable[[AnyKind], bool], model: DataModel) -> Iterator[TypedPart]:
    """The places in an object whose kinds are wanted."""
    if not region.stride:
        yield from _places(TypedPart((), (), 0, region.kind), wanted, model)
        return
    assert isinstance(region.kind, Array)
    step = (region.kind.length, region.stride)
    yield from _places(TypedPart((), (step,), 0, region.kind.element), wanted, model)


def _places(at: TypedPart, wanted: Callable[[AnyKind], bool], model: DataModel) -> Iterator[TypedPart]:
    kind = at.kind
    if wanted(kind):
        yield at
    if isinstance(kind, Array) and not has_run_time_length(kind):
        step = kind.length, model.size_of(kind.element)
        yield from _places(TypedPart(at.fields, (*at.steps, step), at.offset, kind.element, True), wanted, model)
    elif isinstance(kind, Struct):
        for name, inner, distance in model.offsets(kind):
            if not isinstance(inner, Opaque):
                yield from _places(TypedPart((*at.fields, name), at.steps, at.offset + distance, inner), wanted, model)


def decode(p: Term, region: AddressRange, place: TypedPart, *, end: bool = False) -> PartElement:
    """`end`: the number may also be the end of the innermost array, whose index is then its length."""
    rest = simple_term("sub", p, number(region.base + place.offset))
    if not place.steps:
        return PartElement(simple_term("eq", rest, number(0)), (), 1)
    if len(place.steps) == 1 and place.steps[0][0] == 1 and not end:
        return PartElement(simple_term("eq", rest, number(0)), (number(0),), 1)
    holds: Term = TRUE
    indices = []
    for depth, (length, size) in enumerate(place.steps):
        index, rest = _quotient_and_rest(rest, size)
        last = depth == len(place.steps) - 1
        most = length if end and last else length - 1
        holds = conjunction(holds, simple_term("le", index, number(most)))
        indices.append(index)
    return PartElement(conjunction(holds, simple_term("eq", rest, number(0))), tuple(indices), place.steps[-1][0])


def _quotient_and_rest(x: Term, size: int) -> tuple[Term, Term]:
    """The quotient and the remainder."""
    if size == 1:
        return x, number(0)
    if size & (size - 1) == 0:
        return simple_term("shr", x, number(size.bit_length() - 1)), simple_term("bitand", x, number(size - 1))
    return simple_term("quot", x, number(size)), simple_term("rem", x, number(size))


def is_inside(p: Term, region: AddressRange, *, end: bool = False) -> Term:
    """The number is that of a byte of the object, or of its end."""
    return simple_term("le", simple_term("sub", p, number(region.base)), number(region.size - (0 if end else 1)))


def may_alias(place: AnyKind, wanted: AnyKind, are_same: Callable[[AnyKind, AnyKind], bool]) -> bool:
    """An object may be accessed as this type (6.5): its own, or that with the other sign."""
    if isinstance(place, Integer) and isinstance(wanted, Integer):
        return place.rank == wanted.rank and place.width == wanted.width
    return are_same(place, wanted)


def bytes_of_units(size: int) -> int:
    """The distance of instances of an allocation, a power of two: none ends where the next one begins."""
    distance = GAP
    while distance < size + 1:
        distance *= 2
    return distance


def unit_size(region: AddressRange) -> Term:
    """The size of an instance of an allocation."""
    assert isinstance(region.kind, Array)
    return number(region.size - (region.kind.length - 1) * region.stride)


def instance_of(p: Term, region: AddressRange) -> tuple[Term, Term]:
    """The instance of an allocation that a number is in, and the distance from its beginning."""
    rest = simple_term("sub", p, number(region.base))
    shift, mask = number(region.stride.bit_length() - 1), number(region.stride - 1)
    return simple_term("shr", rest, shift), simple_term("bitand", rest, mask)
