"""The shapes of plain data from files: what does not fit is named with its place, in words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from streamcheck.core.printable import command_in

DataPlace: TypeAlias = tuple[str | int, ...]  # the keys and numbers on the way to it
DataShape: TypeAlias = Callable[[Any, DataPlace], None]
LONGEST = 60  # characters of a value in a message


class Damage(Exception):
    """Data of another shape. The message has the place: `at terms[3][1]: expected a text, found 5`."""


def refuse(place: DataPlace, message: str) -> NoReturn:
    raise Damage(f"at {place_text(place)}: {message}" if place else message)


def refuse_value(place: DataPlace, expected: str, value: Any) -> NoReturn:
    refuse(place, f"expected {expected}, found {value_text(value)}")


def place_text(place: DataPlace) -> str:
    """`terms[3][1]`"""
    parts = [f"[{p}]" if isinstance(p, int) else f".{p}" if re.fullmatch(r"\w+", p) else f"[{p!r}]" for p in place]
    return "".join(parts).removeprefix(".")


def value_text(value: Any) -> str:
    """The value as JSON has it, without its end if that is long."""
    if isinstance(value, int) and value.bit_length() > 4 * LONGEST:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, list | dict) and len(value) > LONGEST:
        kind = "list" if isinstance(value, list) else "dictionary"
        return f"a {kind} of {len(value)}"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def text(value: Any, place: DataPlace) -> None:
    if not isinstance(value, str):
        refuse_value(place, "a text", value)


def name(value: Any, place: DataPlace) -> None:
    """A text of characters that can be shown."""
    if not isinstance(value, str) or command_in(value, "") is not None:
        refuse_value(place, "a text without control characters", value)


def truth(value: Any, place: DataPlace) -> None:
    if not isinstance(value, bool):
        refuse_value(place, "true or false", value)


def any_value(value: Any, place: DataPlace) -> None: ...


def is_whole(value: Any, least: int, most: int | None = None) -> bool:
    """True for a whole number in this range."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return is_number and value >= least and (most is None or value <= most)


def whole(least: int, most: int | None = None) -> DataShape:
    """A whole number of at least, and at most, so much."""

    def check(value: Any, place: DataPlace) -> None:
        if not is_whole(value, least, most):
            upper = "" if most is None else f" to {most}"
            refuse_value(place, f"a whole number from {least}{upper}{'' if upper else ' on'}", value)

    return check


def number_of(what: str, count: int) -> DataShape:
    """The number of one of so many things."""

    def check(value: Any, place: DataPlace) -> None:
        if not is_whole(value, 0, count - 1):
            among = f" from 0 to {count - 1}" if count else ", of which there are none"
            refuse_value(place, f"the number of {what}{among}", value)

    return check


def one_of(*values: str) -> DataShape:
    def check(value: Any, place: DataPlace) -> None:
        if not isinstance(value, str) or value not in values:
            refuse_value(place, " or ".join(f'"{v}"' for v in values), value)

    return check


def maybe(shape: DataShape) -> DataShape:
    """The shape, or null."""
    return lambda value, place: None if value is None else shape(value, place)


def list_of(shape: DataShape) -> DataShape:
    def check(value: Any, place: DataPlace) -> None:
        if not isinstance(value, list):
            refuse_value(place, "a list", value)
        for i, part in enumerate(value):
            shape(part, (*place, i))

    return check


def row_of(*shapes: DataShape) -> DataShape:
    """A list with a shape for each of its values."""

    def check(value: Any, place: DataPlace) -> None:
        if not isinstance(value, list) or len(value) != len(shapes):
            refuse_value(place, f"a list of {len(shapes)} values", value)
        for i, (part, shape) in enumerate(zip(value, shapes, strict=True)):
            shape(part, (*place, i))

    return check


def map_of(shape: DataShape) -> DataShape:
    """A dictionary with any keys."""

    def check(value: Any, place: DataPlace) -> None:
        if not isinstance(value, dict):
            refuse_value(place, "a dictionary", value)
        for key, part in value.items():
            shape(part, (*place, key))

    return check


def record(fields: Mapping[str, DataShape], optional: Sequence[str] = ()) -> DataShape:
    """A dictionary with these keys, and perhaps others."""

    def check(value: Any, place: DataPlace) -> None:
        if not isinstance(value, dict):
            refuse_value(place, "a dictionary", value)
        for key, shape in fields.items():
            if key in value:
                shape(value[key], (*place, key))
            elif key not in optional:
                refuse(place, f"it has no `{key}`")

    return check
