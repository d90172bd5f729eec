"""Constants as they are written in C (6.4.4), and strings."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from streamcheck.c.kinds import FLOAT, Floating, Integer
from streamcheck.c.models import LP64, DataModel
from streamcheck.core.floats import to_f32, to_f64

_WHOLE = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)([uU]?(?:ll?|LL?)?|(?:ll?|LL?)[uU])$")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}

# Macros of stdint.h that make a constant of a type: the type.
CONSTANT_MACROS = {f"{u}INT{w}_C": f"{u.lower()}int_least{w}_t" for u in ("", "U") for w in (8, 16, 32, 64)}
CONSTANT_MACROS |= {"INTMAX_C": "intmax_t", "UINTMAX_C": "uintmax_t"}


def whole_literal(text: str, model: DataModel = LP64) -> tuple[int, Integer] | None:
    """The value of an integer literal, and the first type that holds it, of those its base and suffix allow."""
    match = _WHOLE.match(text)
    if match is None:
        return None
    digits, suffix = match[1], match[2].lower()
    decimal = not digits.startswith("0") or digits == "0"
    value = int(digits, 8 if digits.isdigit() and not decimal else 0)
    for kind in (model.INT, model.LONG, model.LLONG):
        if kind.rank < {"": 3, "l": 4, "ll": 5}[suffix.replace("u", "")]:
            continue
        if "u" not in suffix and value <= kind.high:
            return value, kind
        if ("u" in suffix or not decimal) and value <= model.unsigned_of[kind].high:
            return value, model.unsigned_of[kind]
    return None


def decimal_literal(text: str, model: DataModel = LP64) -> tuple[float, Floating] | None:
    """The value of a floating literal, rounded to its type. None for long double and for what no float holds."""
    text = text.lower()
    hexadecimal = text.startswith("0x")
    kind = FLOAT if text.endswith("f") and (not hexadecimal or "p" in text) else model.DOUBLE
    digits = text.removesuffix("f") if kind == FLOAT else text
    try:
        modest = _with_modest_exponent(digits, "p" if hexadecimal else "e")
        exact = _hexadecimal(modest) if hexadecimal else Fraction(modest)
        value = to_f32(exact) if kind.width == 32 else to_f64(exact)
    except (ValueError, OverflowError):
        return None
    return (value, kind) if abs(value) != float("inf") else None


def _with_modest_exponent(digits: str, mark: str) -> str:
    """A number that rounds to the same float. One with a huge exponent would fill the memory as a fraction."""
    mantissa, _, exponent = digits.partition(mark)
    most = 5000 + 4 * len(mantissa)
    return f"{mantissa}{mark}{max(-most, min(most, int(exponent)))}" if exponent else digits


def _hexadecimal(digits: str) -> Fraction:
    match = re.fullmatch(r"0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?[0-9]+)", digits)
    if match is None:
        raise ValueError(digits)
    return Fraction(int(match[1] + match[2], 16)) * Fraction(2) ** (int(match[3]) - 4 * len(match[2]))


def character(text: str, *, signed: bool = True) -> int | None:
    """The value of a character literal such as 'a' or '\\0': an int."""
    body = text[1:-1]
    if len(body) == 1 and body != "\\" and ord(body) < 128:
        return ord(body)
    if re.fullmatch(r"\\[0-7]{1,3}", body):
        code = int(body[1:], 8)
    elif re.fullmatch(r"\\x[0-9a-fA-F]{1,2}", body):
        code = int(body[2:], 16)
    elif len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        code = _ESCAPES[body[1]]
    else:
        return None
    return code - 256 if signed and 128 <= code < 256 else code if code < 256 else None


def characters(node: Any, *, signed: bool = True) -> list[int] | None:
    """The characters of a string literal, without the zero at its end. None for wide and unknown ones."""
    if not node.value.startswith('"'):
        return None
    parts = re.findall(r"\\[0-7]{1,3}|\\x[0-9a-fA-F]+|\\.|.", node.value[1:-1], re.S)
    codes = [character(f"'{part}'", signed=signed) if part != "'" else ord(part) for part in parts]
    known = [code for code in codes if code is not None]
    return known if len(known) == len(codes) else None
