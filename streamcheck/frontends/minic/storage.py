"""The variables in which an automaton stores the objects of a program.

Every scalar field of a struct is a variable of its own (`s.x`); in an array of structs it is an array (`a.x`).
"""

from __future__ import annotations

from collections.abc import Callable

from streamcheck.c.kinds import AnyKind
from streamcheck.c.lvalues import Fields, Lvalue, Object, leaves
from streamcheck.core.term import Term, term

Update = tuple[Term, Term]  # a variable and its new value


class Storage:
    def __init__(self) -> None:
        self.parts: dict[Object, dict[Fields, Term]] = {}

    def add(
        self,
        kind: AnyKind,
        name: str,
        new: Callable[[str, AnyKind], Term],
        *,
        volatile: bool = False,
        constant: bool = False,
    ) -> Lvalue:
        """A new object, with variables that `new` makes."""
        made = Object(name, kind, volatile, constant)
        self.parts[made] = {fields: new(".".join((name, *fields)), leaf) for fields, leaf in leaves(kind)}
        return Lvalue(made, kind)

    def roots(self, lvalue: Lvalue) -> list[Term]:
        """The variables of the object."""
        return list(self.parts[lvalue.object].values())

    def read(self, lvalue: Lvalue) -> Term:
        """The value of a scalar, or of an array of scalars."""
        value = self.parts[lvalue.object][lvalue.fields]
        for index in lvalue.indices:
            value = term("index", value, index)
        return value

    def update(self, lvalue: Lvalue, new: Term) -> Update:
        root = self.parts[lvalue.object][lvalue.fields]
        layers = [root]
        for index in lvalue.indices[:-1]:
            layers.append(term("index", layers[-1], index))
        for layer, index in zip(reversed(layers), reversed(lvalue.indices), strict=bool(lvalue.indices)):
            new = term("update", layer, index, new)
        return root, new
