"""A specification whose structs and enums have a prefix to their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from streamcheck.core.term import Term, constant, fold, rebuild, term, variable
from streamcheck.core.types import ArrayType, EnumType, StructType, Type, array_of, enum_of, struct_of
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Component, Named, Specification

Claimed = TypeVar("Claimed", Claim, Named)


def with_type_prefix(specification: Specification, prefix: str) -> Specification:
    """The same equations, over types with other names."""
    roots = [*specification.roots(), *specification.variables(), *(w.term for w in specification.wires)]
    roots += [t for instance in specification.instances for t in instance.terms()]
    images = fold(roots, lambda node, args: _image(node, args, prefix))

    def claims(some: Iterable[Claimed]) -> tuple[Claimed, ...]:
        return tuple(replace(one, term=images[one.term]) for one in some)

    return replace(
        specification,
        inputs=tuple(replace(i, type=prefix_type(i.type, prefix)) for i in specification.inputs),
        constants=tuple(replace(c, type=prefix_type(c.type, prefix)) for c in specification.constants),
        cells=tuple(replace(c, initial=images[c.initial], next=images[c.next]) for c in specification.cells),
        wires=claims(specification.wires),
        triggers=tuple(
            replace(t, guard=images[t.guard], args=tuple((name, images[a]) for name, a in t.args))
            for t in specification.triggers
        ),
        observers=claims(specification.observers),
        properties=claims(specification.properties),
        assumptions=claims(specification.assumptions),
        calls=(),
        instances=tuple(
            replace(
                i,
                inputs=claims(i.inputs),
                outputs=claims(i.outputs),
                assumes=images[i.assumes],
                held=images[i.held],
                modes=claims(i.modes),
            )
            for i in specification.instances
        ),
        components=tuple(Component(c.name, with_type_prefix(c.body, prefix)) for c in specification.components),
    )


def prefix_type(type: Type, prefix: str) -> Type:
    """The type with another name, and its parts."""
    match type:
        case ArrayType():
            return array_of(prefix_type(type.element, prefix), type.length)
        case StructType():
            fields = tuple((name, prefix_type(t, prefix)) for name, t in type.fields)
            return struct_of(prefix + type.name, fields, type.form)
        case EnumType():
            return enum_of(prefix + type.name, type.members, type.python)
    return type


def _image(node: Term, args: list[Term], prefix: str) -> Term:
    if node.op == "var":
        return variable(node.payload, prefix_type(node.type, prefix))
    if node.is_const:
        return constant(prefix_type(node.type, prefix), node.payload)
    if isinstance(node.payload, Type):
        return term(node.op, *args, payload=prefix_type(node.payload, prefix))
    return rebuild(node, args)
