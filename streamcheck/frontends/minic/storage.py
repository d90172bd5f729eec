"""The variables in which an automaton stores the objects of a program.

Every scalar field of a struct is a variable of its own (`s.x`); in an array of structs it is an array (`a.x`). A
union is one variable (`unions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from streamcheck.c.arithmetic import Arithmetic
from streamcheck.c.kinds import VOID, AnyKind, Array, FunctionType, Pointer, Struct, element_of
from streamcheck.c.lvalues import Fields, Lvalue, Object, leaves
from streamcheck.c.terms import recast
from streamcheck.core.simplify import either
from streamcheck.core.term import TRUE, Term, constant, term, uniform
from streamcheck.core.types import ArrayType, Type, default
from streamcheck.frontends.minic.unions import read_part, union_part, with_part

Update = tuple[Term, Term]  # a variable and its new value


class Storage:
    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.parts: dict[Object, dict[Fields, Term]] = {}
        self.keys: dict[Object, Any] = {}  # of the objects that are declared, or allocated
        self.cells: list[tuple[Object, Term]] = []  # the variables that hold pointers to objects
        self.moving: set[Term] = set()  # those, and others that edges may still change when all has been read
        self.bits_of: Callable[[Term], Term]  # of a float that is stored
        self.resolve: Callable[[Lvalue], Iterable[tuple[Term, Lvalue]]]  # the lvalues that one of a view may be

    def add(
        self,
        kind: AnyKind,
        name: str,
        new: Callable[[str, AnyKind], Term],
        *,
        volatile: bool = False,
        constant: bool = False,
        key: Any = None,
    ) -> Lvalue:
        """A new object, with variables that `new` makes."""
        made = Object(name, kind, volatile, constant)
        parts = self.parts[made] = {}
        for fields, leaf in leaves(kind):
            parts[fields] = new(".".join((name, *fields)), leaf)
            if _holds_addresses(leaf):
                self.cells.append((made, parts[fields]))
                self.moving.add(parts[fields])
        if key is not None:
            self.keys[made] = key
        return Lvalue(made, kind)

    def add_cell(self, root: Term) -> None:
        """A variable that holds a pointer, of no object."""
        self.cells.append((Object(str(root.payload), Pointer(VOID)), root))
        self.moving.add(root)

    def has_numbers_only(self, lvalue: Lvalue) -> bool:
        """The variables of the object are numbers in C, too: no pointers, and no bytes of unions."""
        return not any(isinstance(element_of(leaf), Pointer | Struct) for _, leaf in leaves(lvalue.object.kind))

    def roots(self, lvalue: Lvalue) -> list[Term]:
        """The variables of the object."""
        return list(self.parts[lvalue.object].values())

    def read(self, lvalue: Lvalue) -> Term:
        """The value of a scalar, or of an array of scalars."""
        if lvalue.object not in self.parts:
            return self._read_any(lvalue)
        part = union_part(lvalue, self.arithmetic.model)
        if part is not None:
            word = _element(self.parts[lvalue.object][part.fields], part.indices)
            return read_part(word, part, self.arithmetic.type_of(lvalue.kind), self.arithmetic.model)
        return _element(self.parts[lvalue.object][lvalue.fields], lvalue.indices)

    def update(self, lvalue: Lvalue, new: Term) -> Update:
        """The update that gives a part of a known object its value."""
        ((root, value),) = self.updates([(lvalue, new)])
        return root, value

    def updates(self, values: Iterable[tuple[Lvalue, Term]]) -> list[Update]:
        """The updates that give all these parts their values at once."""
        done: dict[Term, Term] = {}
        for lvalue, new in values:
            if lvalue.object in self.parts:
                self._update(lvalue, new, TRUE, done)
            else:
                for holds, place in self.resolve(lvalue):
                    self._update(place, recast(new, self.arithmetic.type_of(place.kind)), holds, done)
        return list(done.items())

    def _update(self, lvalue: Lvalue, new: Term, holds: Term, done: dict[Term, Term]) -> None:
        """Adds the update that gives a part its value if a condition holds."""
        part = union_part(lvalue, self.arithmetic.model)
        fields, indices = (lvalue.fields, lvalue.indices) if part is None else (part.fields, part.indices)
        root = self.parts[lvalue.object][fields]
        before = done.get(root, root)
        layers = [before]
        for index in indices:
            layers.append(term("index", layers[-1], index))
        if part is not None:
            new = with_part(layers[-1], part, new, self.arithmetic.model, self.bits_of)
        new = either(holds, new, layers[-1])
        for layer, index in zip(reversed(layers[:-1]), reversed(indices), strict=True):
            new = term("update", layer, index, new)
        done[root] = new

    def _read_any(self, lvalue: Lvalue) -> Term:
        """The value at the place of a view that the number at hand is. It is one of them: that is a claim."""
        type = self.arithmetic.type_of(lvalue.kind)
        found = [(holds, recast(self.read(place), type)) for holds, place in self.resolve(lvalue)]
        if not found:
            return (
                uniform(type, default(_scalar(type))) if isinstance(type, ArrayType) else constant(type, default(type))
            )
        value = found[-1][1]
        for holds, other in reversed(found[:-1]):
            value = either(holds, other, value)
        return value


def _holds_addresses(kind: AnyKind) -> bool:
    while isinstance(kind, Array):
        kind = kind.element
    return isinstance(kind, Pointer) and not isinstance(kind.target, FunctionType)


def _scalar(type: Type) -> Type:
    while isinstance(type, ArrayType):
        type = type.element
    return type


def _element(value: Term, indices: Iterable[Term]) -> Term:
    for index in indices:
        value = term("index", value, index)
    return value
