"""Where values are kept: variables, elements of arrays, fields of structs.

Every scalar field of a struct is a variable of its own (`s.x`); in an array of structs it is an array (`a.x`). So a
place is a variable's name, fields, and the indices met on the way, and its value an element of one variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from streamcheck.core.term import Term, term
from streamcheck.frontends.minic.arithmetic import Value
from streamcheck.frontends.minic.kinds import Array, Kind, Struct


@dataclass(frozen=True, slots=True)
class Object:
    """A variable of the program: what holds its scalar fields."""

    kind: Kind
    parts: tuple[tuple[tuple[str, ...], Term], ...]  # fields from outside in, and the variable
    volatile: bool = False
    constant: bool = False

    def part(self, fields: tuple[str, ...]) -> Term:
        return dict(self.parts)[fields]


@dataclass(frozen=True, slots=True)
class Place:
    object: Object
    kind: Kind  # of what is here
    fields: tuple[str, ...] = ()
    indices: tuple[Term, ...] = ()

    def element(self, index: Term) -> Place:
        assert isinstance(self.kind, Array)
        return replace(self, kind=self.kind.element, indices=(*self.indices, index))

    def field(self, name: str, kind: Kind) -> Place:
        return replace(self, kind=kind, fields=(*self.fields, name))

    def scalars(self) -> Iterator[Place]:
        """The places of a struct's fields, down to what variables hold: scalars and arrays of them."""
        for fields, kind in leaves(self.kind):
            yield replace(self, kind=kind, fields=self.fields + fields)

    def read(self) -> Term:
        value = self.object.part(self.fields)
        for index in self.indices:
            value = term("index", value, index)
        return value

    def written(self, new: Term) -> tuple[Term, Term]:
        """The update that puts a value here."""
        root = self.object.part(self.fields)
        layers = [root]
        for index in self.indices[:-1]:
            layers.append(term("index", layers[-1], index))
        for layer, index in zip(reversed(layers), reversed(self.indices), strict=bool(self.indices)):
            new = term("update", layer, index, new)
        return root, new


@dataclass(frozen=True, slots=True)
class Target:
    """What a pointer points to: a place, or an element of the array at a place. A pointer that need not have been
    assigned yet is not `sure` to point anywhere, and how far it points is then any value."""

    place: Place
    offset: Value | None = None  # None: the place itself, no array
    sure: bool = True

    @property
    def kind(self) -> Kind:
        kind = self.place.kind
        return kind.element if self.offset is not None and isinstance(kind, Array) else kind


def leaves(kind: Kind) -> Iterator[tuple[tuple[str, ...], Kind]]:
    """The scalar fields of a type, each in the arrays it stands in: of `struct {int x;} [3]`, x is int [3]."""
    match kind:
        case Struct():
            for name, inner in kind.fields:
                for fields, leaf in leaves(inner):
                    yield (name, *fields), leaf
        case Array() if holds_structs(kind):
            for fields, leaf in leaves(kind.element):
                yield fields, Array(leaf, kind.length)
        case _:
            yield (), kind


def holds_structs(kind: Kind) -> bool:
    while isinstance(kind, Array):
        kind = kind.element
    return isinstance(kind, Struct)


def made(
    kind: Kind, name: str, new: Callable[[str, Kind], Term], *, volatile: bool = False, constant: bool = False
) -> Place:
    """A new variable of the program."""
    parts = tuple((fields, new(".".join((name, *fields)), leaf)) for fields, leaf in leaves(kind))
    return Place(Object(kind, parts, volatile, constant), kind)
