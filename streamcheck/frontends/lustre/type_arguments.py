"""Type parameters: the arguments that a call or a constructor gives, or that follow from the types of its values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from streamcheck.core.types import INT, ArrayType, StructType, Type, struct_of
from streamcheck.frontends.lustre.scopes import Shape
from streamcheck.frontends.lustre.syntax import LustreFile, TypeText


def abstract_shape(name: str) -> Shape:
    """A type of which nothing is known: its values are only compared. Any number of values is among the models, because
    without quantifiers no formula has more of them than terms."""
    return Shape(struct_of(name, (("id", INT),), "abstract"))


def abstract_arguments(parameters: Iterable[str]) -> dict[str, Shape]:
    return {name: abstract_shape(name) for name in parameters}


def applied_name(name: str, arguments: Iterable[Shape]) -> str:
    """`Option<int>` as an identifier."""
    return "_".join([name, *(re.sub(r"\W+", "_", str(a.type)).strip("_") for a in arguments)])


def infer(
    file: LustreFile,
    parameters: Iterable[str],
    pairs: Iterable[tuple[TypeText, Type]],
    containers: Mapping[Type, tuple[Type, Type | None]],
) -> dict[str, Type]:
    """The arguments of the parameters that follow from types as written, each with the type that it must be. What does
    not fit is found when the values are given to the parameters."""
    found: dict[str, Type] = {}
    wanted = frozenset(parameters)
    stack = list(pairs)[::-1]
    while stack:
        text, type = stack.pop()
        match text.kind, type:
            case "name", _ if text.value in wanted:
                found.setdefault(text.value, type)
            case "name", _ if text.value in file.types:
                pass  # it has no parameters
            case "array", ArrayType(element=element):
                stack.append((text.value[0], element))
            case "array", StructType(form="function"):
                stack.append((text.value[0], containers[type][1] or INT))
            case "refinement", _:
                stack.append((text.value[1], type))
            case "tuple", StructType(fields=fields) if len(fields) == len(text.value):
                stack += ((t, f) for t, (_, f) in zip(text.value, fields, strict=True))
            case "record", StructType(fields=fields):
                stack += ((t, dict(fields)[name]) for name, t in text.value if name in dict(fields))
            case "set" | "map", StructType(form="function"):
                key, value = containers[type]
                stack += ((t, part) for t, part in zip(text.value, (key, value), strict=False) if part is not None)
            case "union", StructType(fields=fields):
                stack += _fields_with_types(text, dict(fields))
            case "applied", StructType() | ArrayType():
                name, arguments = text.value
                definition = [(file.types[name], type)] if name in file.types else []
                inner = infer(file, file.parameters.get(name, ()), definition, containers)
                given = dict(zip(file.parameters.get(name, ()), arguments, strict=False))
                stack += ((given[p], t) for p, t in inner.items() if p in given)
    return found


def _fields_with_types(union: TypeText, payloads: Mapping[str, Type]) -> Iterable[tuple[TypeText, Type]]:
    for constructor in union.value:
        payload = payloads.get(constructor.name)
        if isinstance(payload, StructType):
            types = dict(payload.fields)
            yield from ((t, types[name]) for name, t in constructor.fields if name in types)
