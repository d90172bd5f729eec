"""Values as text, as JSON and in the user's notation: inner values, and those that `interpret.present` made of them.

A million rows must not take longer to write than to compute, so a conversion is chosen once for each type.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

from streamcheck.core.types import ArrayType, EnumType, StructType, Type, Value, float_text, struct_of

Show: TypeAlias = Callable[[Any], str]


def as_text(type: Type, value: Any) -> str:
    """A value in tables and CSV: `[1, 2]`, `{lat=0.5, ok=true}`, `NaN`, the name of an enum's member; of Lustre's data
    types `Some(3)`, of its tuples `(1, true)`, of its abstract types `T!0`."""
    return text_of(type)(value)


@cache
def text_of(type: Type) -> Show:
    """`as_text` for values of one type."""
    match type:
        case ArrayType():
            element = text_of(type.element)
            return lambda value: f"[{', '.join(map(element, value))}]"
        case StructType(form="union"):
            return _union_text(type)
        case StructType(form="tuple"):
            items = [text_of(t) for _, t in type.fields]
            return lambda value: f"({', '.join(show(v) for show, v in zip(items, value, strict=True))})"
        case StructType(form="function"):
            return lambda _: "…"
        case StructType(form="abstract"):
            return lambda value: f"{type.name}!{value[0]}"
        case StructType():
            parts = [(name, text_of(t)) for name, t in type.fields]
            return lambda value: _in_braces(f"{n}={show(v)}" for (n, show), v in zip(parts, value, strict=True))
        case EnumType():
            return lambda member: _member(type, member)
    return _SCALARS.get(type.kind, str)


_SCALARS: dict[str, Show] = {"bool": {True: "true", False: "false"}.__getitem__, "float": float_text}


def _union_text(type: StructType) -> Show:
    """Writes a value of a data type: its constructor, with the fields of that constructor."""
    (_, tag), *payloads = type.fields
    assert isinstance(tag, EnumType), type
    shown = {name: (i, text_of(struct_of("", t.fields, "tuple")))
             for i, (name, t) in enumerate(payloads, 1) if isinstance(t, StructType)}  # fmt: skip

    def show(value: Any) -> str:
        constructor = _member(tag, value[0])
        if constructor not in shown:
            return constructor
        position, fields = shown[constructor]
        return constructor + fields(value[position])

    return show


def _member(type: EnumType, member: Any) -> str:
    """The name of a member, given as its code, its name or the user's own enum."""
    name = member if isinstance(member, str) else getattr(member, "name", None)
    return type.member(member) if name is None else str(name)


def _in_braces(parts: Iterable[str]) -> str:
    return "{" + ", ".join(parts) + "}"


@cache
def json_text_of(type: Type) -> Show:
    """Writes values of one type in JSON: NaN, infinities and fractions as strings."""
    match type:
        case ArrayType():
            element = json_text_of(type.element)
            return lambda value: f"[{', '.join(map(element, value))}]"
        case StructType():
            parts = [(json.dumps(name), json_text_of(t)) for name, t in type.fields]
            return lambda value: _in_braces(f"{n}: {show(v)}" for (n, show), v in zip(parts, value, strict=True))
        case EnumType():
            return lambda member: json.dumps(_member(type, member))
    special: dict[str, Show] = {
        **_SCALARS,
        "float": lambda value: str(value) if math.isfinite(value) else f'"{float_text(value)}"',
        "real": lambda value: str(value) if value.denominator == 1 else f'"{value}"',
    }
    return special.get(type.kind, str)


def as_json(type: Type, value: Value) -> Any:
    """A value for `json.dumps`: NaN, infinities and fractions as strings."""
    match type:
        case ArrayType():
            return [as_json(type.element, v) for v in _parts(value)]
        case StructType():
            return {n: as_json(t, v) for (n, t), v in zip(type.fields, _parts(value), strict=True)}
        case EnumType():
            return _member(type, value)
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return float_text(value)
    return value


def _parts(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple)
    return value
