"""Objects, and lvalues that designate them or parts of them (6.3.2.1).

An lvalue is an object, fields and the indices met on the way. Where the scalars of an object are stored is up to who
executes the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streamcheck.c.kinds import AnyKind, Array, Opaque, Pointer, Struct
from streamcheck.core.term import Term

Fields = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Object:
    name: str
    kind: AnyKind
    volatile: bool = False
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Lvalue:
    """`kind` is that of the part. `constant`: it is reached through a pointer to const."""

    object: Object
    kind: AnyKind
    fields: Fields = ()
    indices: tuple[Term, ...] = ()
    constant: bool = False

    @property
    def is_constant(self) -> bool:
        return self.constant or self.object.constant or self._is_in_constant_field()

    def _is_in_constant_field(self) -> bool:
        kind = self.object.kind
        for name in self.fields:
            while isinstance(kind, Array):
                kind = kind.element
            if not isinstance(kind, Struct) or name in kind.constant:
                return isinstance(kind, Struct) and not kind.union
            kind = kind.kind_of(name)
        return False

    def element(self, index: Term) -> Lvalue:
        assert isinstance(self.kind, Array)
        return Lvalue(self.object, self.kind.element, self.fields, (*self.indices, index), self.constant)

    def field(self, name: str, kind: AnyKind) -> Lvalue:
        return Lvalue(self.object, kind, (*self.fields, name), self.indices, self.constant)

    def scalars(self, *, pointers: bool = True) -> Iterator[Lvalue]:
        """The fields of a struct, down to scalars and arrays of them."""
        for fields, kind in leaves(self.kind, pointers=pointers):
            yield Lvalue(self.object, kind, self.fields + fields, self.indices, self.constant)

    def last_array(self) -> tuple[Array, bool]:
        """The array that the last index is into, and whether its elements are the lvalue."""
        kind, fields, array = self.object.kind, list(self.fields), None
        for _ in self.indices:
            while isinstance(kind, Struct):
                kind = kind.kind_of(fields.pop(0))
            assert isinstance(kind, Array)
            array, kind = kind, kind.element
        assert array is not None
        return array, not fields


def leaves(kind: AnyKind, *, pointers: bool = True) -> Iterator[tuple[Fields, AnyKind]]:
    """The scalar fields of a kind, each in the arrays it is in: of `struct {int x;} [3]`, x is int [3]. A union is one
    scalar, of all its bytes. Fields whose kinds have no values here are left out, and pointers if that is said."""
    match kind:
        case Struct() if not kind.union:
            for name, inner in kind.fields:
                for fields, leaf in leaves(inner, pointers=pointers):
                    yield (name, *fields), leaf
        case Array() if has_structs(kind):
            for fields, leaf in leaves(kind.element, pointers=pointers):
                yield fields, Array(leaf, kind.length)
        case _ if is_storable(kind, pointers=pointers):
            yield (), kind


def is_storable(kind: AnyKind, *, pointers: bool = True) -> bool:
    """Values of the kind, or of its elements, can be stored in variables."""
    while isinstance(kind, Array):
        kind = kind.element
    return not isinstance(kind, Opaque) and (pointers or not isinstance(kind, Pointer))


def has_structs(kind: AnyKind) -> bool:
    while isinstance(kind, Array):
        kind = kind.element
    return isinstance(kind, Struct) and not kind.union
