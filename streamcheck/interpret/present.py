"""Values as users see them: enum members as such, structs with named fields, arrays as tuples."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any

from streamcheck.core.types import ArrayType, EnumType, StructType, Type


@cache
def presenter(type: Type) -> Callable[[Any], Any] | None:
    """The conversion from an inner value; None if there is nothing to convert."""
    match type:
        case EnumType():
            python = type.python
            return {code: name if python is None else python[name] for name, code in type.members}.__getitem__
        case ArrayType():
            convert = presenter(type.element)
            return None if convert is None else lambda value: tuple(map(convert, value))
        case StructType():
            made = namedtuple(type.name, [name for name, _ in type.fields], rename=True)  # type: ignore[misc]
            parts = [presenter(t) or _itself for _, t in type.fields]
            return lambda value: made(*(part(v) for part, v in zip(parts, value, strict=True)))
    return None


def _itself(value: Any) -> Any:
    return value
