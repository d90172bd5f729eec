"""Inner values as text and as JSON."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from streamcheck.core.types import ArrayType, EnumType, StructType, Type, Value


def as_text(type: Type, value: Value) -> str:
    match type:
        case ArrayType():
            return f"[{', '.join(as_text(type.element, v) for v in _parts(value))}]"
        case StructType():
            parts = zip(type.fields, _parts(value), strict=True)
            return "{" + ", ".join(f"{n}={as_text(t, v)}" for (n, t), v in parts) + "}"
        case EnumType():
            return type.member(int(value))  # type: ignore[arg-type]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]
    return str(value)


def as_json(type: Type, value: Value) -> Any:
    """NaN, infinities and fractions as strings, as the contract has it."""
    match type:
        case ArrayType():
            return [as_json(type.element, v) for v in _parts(value)]
        case StructType():
            return {n: as_json(t, v) for (n, t), v in zip(type.fields, _parts(value), strict=True)}
        case EnumType():
            return type.member(int(value))  # type: ignore[arg-type]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return as_text(type, value)
    return value


def _parts(value: Value) -> tuple[Value, ...]:
    assert isinstance(value, tuple)
    return value
