"""Arrays and structs taken apart: every term becomes the list of its scalar parts.

Parts are in order, an array's elements one after the other and a struct's fields likewise, so a part of a part is
a slice. An index becomes a chain of choices over the elements, clamped as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from streamcheck.core.simplify import choice, conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, fold, rebuild, term, variable
from streamcheck.core.types import INT, ArrayType, MachineType, StructType, Type, part_names


@cache
def width(type: Type) -> int:
    """The number of scalars in a value of the type."""
    match type:
        case ArrayType():
            return type.length * width(type.element)
        case StructType():
            return sum(width(t) for _, t in type.fields)
    return 1


def scalars(roots: Iterable[Term], parts: dict[Term, list[Term]] | None = None) -> dict[Term, list[Term]]:
    """The scalar parts of every node below the roots (added to `parts`, if given)."""
    return fold(roots, _parts, parts)


def wholes(variables: Iterable[Term]) -> dict[Term, Term]:
    """The scalar parts of variables, each as what it is: an element of its array, a field of its struct."""
    found: dict[Term, Term] = {}
    for var in variables:
        if width(var.type) != 1 or var.type.kind in ("array", "struct"):
            names = part_names(str(var.payload), var.type)
            found |= {variable(name, t): part for (name, t), part in zip(names, _accesses(var), strict=True)}
    return found


def _accesses(node: Term) -> Iterator[Term]:
    """The scalar parts of a term, read from it."""
    match node.type:
        case ArrayType(length=length):
            for i in range(length):
                yield from _accesses(term("index", node, constant(INT, i)))
        case StructType(fields=fields):
            for i in range(len(fields)):
                yield from _accesses(term("field", node, payload=i))
        case _:
            yield node


def _parts(node: Term, args: list[list[Term]]) -> list[Term]:
    match node.op:
        case "var":
            return [variable(name, type) for name, type in part_names(node.payload, node.type)]
        case "array" if len(args) == 1:
            return args[0] * (width(node.type) // len(args[0]))
        case "array" | "struct":
            return [part for arg in args for part in arg]
        case "field":
            start, stop = _field(node.args[0].type, node.payload)
            return args[0][start:stop]
        case "with_field":
            start, stop = _field(node.type, node.payload)
            return [*args[0][:start], *args[1], *args[0][stop:]]
        case "index" if node.args[1].is_const:
            return _known_element(node, args[0])
        case "index":
            return _select_element(node, _elements(node.args[0].type, args[0]), args[1][0])
        case "update":
            elements = _elements(node.type, args[0])
            chosen = [_is_at(args[1][0], i, len(elements)) for i in range(len(elements))]
            return [
                choice(here, new, old)
                for here, element in zip(chosen, elements, strict=True)
                for new, old in zip(args[2], element, strict=True)
            ]
        case "mux":
            return [choice(args[0][0], a, b) for a, b in zip(args[1], args[2], strict=True)]
        case "eq" | "ne" if len(args[0]) != 1 or node.args[0].type.kind in ("array", "struct"):
            equal = conjunction(*(term("eq", a, b) for a, b in zip(*args, strict=True)))
            return [equal if node.op == "eq" else negation(equal)]
    return [rebuild(node, [part for (part,) in args])]


def _field(type: Type, position: int) -> tuple[int, int]:
    assert isinstance(type, StructType)
    start = sum(width(t) for _, t in type.fields[:position])
    return start, start + width(type.fields[position][1])


def _elements(type: Type, parts: list[Term]) -> list[list[Term]]:
    assert isinstance(type, ArrayType)
    size = width(type.element)
    return [parts[i * size : (i + 1) * size] for i in range(type.length)]


def _known_element(node: Term, parts: list[Term]) -> list[Term]:
    array = node.args[0].type
    assert isinstance(array, ArrayType)
    size, at = width(array.element), min(max(int(node.args[1].payload), 0), array.length - 1)
    return parts[at * size : (at + 1) * size]


def _select_element(node: Term, elements: list[list[Term]], index: Term) -> list[Term]:
    result = elements[-1]
    for i in range(len(elements) - 2, -1, -1):
        here = _is_at(index, i, len(elements))
        result = [choice(here, a, b) for a, b in zip(elements[i], result, strict=True)]
    return result


def _is_at(index: Term, i: int, length: int) -> Term:
    """The condition that the clamped index is `i`."""
    type = index.type
    if index.is_const:
        return _truth(min(max(index.payload, 0), length - 1) == i)
    if isinstance(type, MachineType) and i > type.high:
        return _truth(False)
    if i == 0 and i == length - 1:
        return _truth(True)
    if i == 0:
        return term("le", index, constant(type, 0))
    return term("ge" if i == length - 1 else "eq", index, constant(type, i))


def _truth(value: bool) -> Term:
    return TRUE if value else FALSE
