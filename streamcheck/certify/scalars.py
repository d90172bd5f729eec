"""Arrays and structs taken apart, for the checker alone.

A term becomes the list of its scalar parts, in the order of their names (`core.types.part_names`), which is how
certificates name them. An index outside an array means its nearest element.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from streamcheck.certify.logic import choice, conjunction, fold_node, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, fold, term, variable
from streamcheck.core.types import ArrayType, MachineType, StructType, Type, part_names

Parts = dict[Term, list[Term]]


def take_apart(roots: Iterable[Term], parts: Parts) -> None:
    """Add the parts of every node below the roots."""
    fold(roots, _parts, parts)


def _parts(node: Term, args: list[list[Term]]) -> list[Term]:
    match node.op:
        case "const":
            return [node]
        case "var":
            return [variable(name, type) for name, type in part_names(node.payload, node.type)]
        case "array" | "struct":
            times = node.type.length if isinstance(node.type, ArrayType) and len(args) == 1 else 1
            return [*chain(*args)] * times
        case "field":
            return _fields(node.args[0].type, args[0])[node.payload]
        case "with_field":
            fields = _fields(node.type, args[0])
            return [*chain(*fields[: node.payload], args[1], *fields[node.payload + 1 :])]
        case "index":
            return _read(_elements(node.args[0].type, args[0]), args[1][0])
        case "update":
            elements = _elements(node.type, args[0])
            written = (_merge(_hits(args[1][0], i, len(elements)), args[2], old) for i, old in enumerate(elements))
            return [*chain(*written)]
        case "mux":
            return _merge(args[0][0], args[1], args[2])
        case "eq" | "ne" if isinstance(node.args[0].type, ArrayType | StructType):
            equal = conjunction(*(term("eq", a, b) for a, b in zip(args[0], args[1], strict=True)))
            return [equal if node.op == "eq" else negation(equal)]
    return [fold_node(node, [part for (part,) in args])]


def _fields(type: Type, parts: list[Term]) -> list[list[Term]]:
    assert isinstance(type, StructType)
    rest = iter(parts)
    return [[next(rest) for _ in part_names("", t)] for _, t in type.fields]


def _elements(type: Type, parts: list[Term]) -> list[list[Term]]:
    assert isinstance(type, ArrayType)
    size = len(parts) // type.length
    return [parts[i * size : (i + 1) * size] for i in range(type.length)]


def _read(elements: list[list[Term]], index: Term) -> list[Term]:
    result = elements[0]
    for i in range(1, len(elements)):
        result = _merge(_hits(index, i, len(elements)), elements[i], result)
    return result


def _hits(index: Term, i: int, length: int) -> Term:
    """The condition for an index to mean element i."""
    if index.is_const:
        nearest = max(0, min(index.payload, length - 1))
        return TRUE if nearest == i else FALSE
    if length == 1:
        return TRUE
    type = index.type
    if isinstance(type, MachineType) and i > type.high:
        return FALSE
    at = constant(type, i)
    if i == 0:
        return term("le", index, at)
    return term("le", at, index) if i == length - 1 else term("eq", index, at)


def _merge(condition: Term, a: list[Term], b: list[Term]) -> list[Term]:
    return [choice(condition, x, y) for x, y in zip(a, b, strict=True)]
