"""The variables in which an automaton stores the objects of a program.

Every scalar field of a struct is a variable of its own (`s.x`); in an array of structs it is an array (`a.x`). A
union is one variable (`unions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from streamcheck.c.arithmetic import Arithmetic
from streamcheck.c.kinds import AnyKind
from streamcheck.c.lvalues import Fields, Lvalue, Object, leaves
from streamcheck.core.term import Term, term
from streamcheck.frontends.minic.unions import read_part, union_part, with_part

Update = tuple[Term, Term]  # a variable and its new value


class Storage:
    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
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
        part = union_part(lvalue, self.arithmetic.model)
        if part is not None:
            word = _element(self.parts[lvalue.object][part.fields], part.indices)
            return read_part(word, part, self.arithmetic.type_of(lvalue.kind), self.arithmetic.model)
        return _element(self.parts[lvalue.object][lvalue.fields], lvalue.indices)

    def update(self, lvalue: Lvalue, new: Term) -> Update:
        return self.updates([(lvalue, new)])[0]

    def updates(self, values: Iterable[tuple[Lvalue, Term]]) -> list[Update]:
        """The updates that give all these parts their values at once."""
        done: dict[Term, Term] = {}
        for lvalue, new in values:
            part = union_part(lvalue, self.arithmetic.model)
            fields, indices = (lvalue.fields, lvalue.indices) if part is None else (part.fields, part.indices)
            root = self.parts[lvalue.object][fields]
            before = done.get(root, root)
            layers = [before]
            for index in indices:
                layers.append(term("index", layers[-1], index))
            if part is not None:
                new = with_part(layers[-1], part, new, self.arithmetic.model)
            for layer, index in zip(reversed(layers[:-1]), reversed(indices), strict=True):
                new = term("update", layer, index, new)
            done[root] = new
        return list(done.items())


def _element(value: Term, indices: Iterable[Term]) -> Term:
    for index in indices:
        value = term("index", value, index)
    return value
