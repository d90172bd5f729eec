"""Objects, and the expressions that designate them.

Memory is a map from (object, scalar part) to terms. A designation is a list of places with the conditions under which
it is each of them: `a[i]` is one place where `i` is known, else as many as the array has elements. An array that the
relation calls a ring is different: its slots go by their distance from where its index stood when the step began,
so that a ring of a thousand takes no more to follow than one of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term, constant
from streamcheck.core.types import ArrayType, MachineType, StructType, Type
from streamcheck.validate.arithmetic import Demand, either, make
from streamcheck.validate.reader import Refused


@dataclass(frozen=True, slots=True, eq=False)
class PointerType(Type):
    to: Type
    constant: bool
    kind = "pointer"

    def __str__(self) -> str:
        return f"pointer to {self.to}"


@dataclass(frozen=True, slots=True)
class Place:
    """Some of the scalar parts of an object, beginning at `offset`, and when it is meant."""

    when: Term
    object: int
    offset: int


@dataclass(frozen=True, slots=True)
class Designation:
    type: Type
    places: tuple[Place, ...]
    constant: bool = False


def width(type: Type) -> int:
    """Scalar parts of a value."""
    match type:
        case ArrayType():
            return type.length * width(type.element)
        case StructType():
            return sum(width(t) for _, t in type.fields)
    return 1


def leaves(type: Type) -> Iterator[Type]:
    match type:
        case ArrayType():
            for _ in range(type.length):
                yield from leaves(type.element)
        case StructType():
            for _, t in type.fields:
                yield from leaves(t)
        case _:
            yield type


class Memory:
    def __init__(self) -> None:
        self.parts: dict[tuple[int, int], Term] = {}
        self.count = 0
        # Where a ring begins: its type (its first slot begins there, too), and the slot that an index means.
        self.rings: dict[tuple[int, int], tuple[ArrayType, Callable[[Term], int]]] = {}
        self.frozen = 0  # objects up to this one may not be written: an expression is being evaluated

    def new(self, type: Type, parts: list[Term]) -> Designation:
        self.count += 1
        self.parts.update({(self.count, i): part for i, part in enumerate(parts)})
        return Designation(type, (Place(TRUE, self.count, 0),))

    def read(self, what: Designation) -> list[Term]:
        """The scalar parts of what is designated."""
        self._check_rings(what)
        return [self._part(what, i) for i in range(width(what.type))]

    def _part(self, what: Designation, i: int) -> Term:
        *others, last = what.places
        value = self.parts[(last.object, last.offset + i)]
        for place in reversed(others):
            value = either(place.when, self.parts[(place.object, place.offset + i)], value)
        return value

    def write(self, what: Designation, values: list[Term], live: Term) -> None:
        """Where `live` is true, what is designated takes the values."""
        if what.constant:
            raise Refused("a write to something constant")
        if any(place.object <= self.frozen for place in what.places):
            raise Refused("an expression that changes something")
        self._check_rings(what)
        for place in what.places:
            when = conjunction(live, place.when)
            for i, value in enumerate(values):
                key = (place.object, place.offset + i)
                self.parts[key] = either(when, value, self.parts[key])

    def _check_rings(self, what: Designation) -> None:
        """A ring's slots are in the order of time and not of the array: only one at a time means what C means."""
        size = width(what.type)
        for (object, start), (ring, _) in self.rings.items():
            step = width(ring.element)
            for place in what.places:
                first, last = place.offset - start, place.offset - start + size - 1
                if place.object != object or last < 0 or first >= step * ring.length:
                    continue
                if first < 0 or first // step != last // step:
                    raise Refused("a ring as a whole")

    def member(self, of: Designation, name: str) -> Designation:
        if not isinstance(of.type, StructType):
            raise Refused(f"the member {name} of {of.type}")
        offset = 0
        for field, type in of.type.fields:
            if field == name:
                places = tuple(Place(p.when, p.object, p.offset + offset) for p in of.places)
                return Designation(type, places, of.constant)
            offset += width(type)
        raise Refused(f"{of.type} has no member {name}")

    def element(self, of: Designation, index: Term, demand: Demand) -> Designation:
        if not isinstance(of.type, ArrayType) or not isinstance(index.type, MachineType):
            raise Refused("an index into what is no array")
        step, length = width(of.type.element), of.type.length
        first = of.places[0]
        ring, slot = self.rings.get((first.object, first.offset), (None, None))
        if slot is not None and of.type is ring:
            if len(of.places) > 1:
                raise Refused("one of several rings")
            return Designation(of.type.element, (Place(TRUE, first.object, first.offset + step * slot(index)),))
        demand(_in_range(index, length), f"an index is less than {length}")
        if index.is_const:
            chosen = [(TRUE, min(max(index.payload, 0), length - 1))]
        else:
            chosen = [(make("eq", index, constant(index.type, i)), i) for i in range(length) if i <= index.type.high]
        places = tuple(
            Place(conjunction(p.when, when), p.object, p.offset + step * i) for p in of.places for when, i in chosen
        )
        return Designation(of.type.element, places, of.constant)


def _in_range(index: Term, length: int) -> Term:
    assert isinstance(index.type, MachineType)
    parts = []
    if index.type.signed:
        parts.append(make("ge", index, constant(index.type, 0)))
    if length <= index.type.high:
        parts.append(make("lt", index, constant(index.type, length)))
    return conjunction(*parts)
