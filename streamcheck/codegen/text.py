"""Pieces of C text: literals, declarations, comments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from streamcheck.codegen.expression import PRIMARY, UNARY, CExpression
from streamcheck.core.c_names import c_name, member_name
from streamcheck.core.floats import to_f32
from streamcheck.core.location import Location
from streamcheck.core.operators import c_type
from streamcheck.core.term import Term
from streamcheck.core.types import ArrayType, EnumType, FloatType, MachineType, StructType, Type, Value, machine

WIDTH = 110
INDENT = "    "


def literal(type: Type, value: Value) -> CExpression:
    """A C constant, with the C type of its text."""
    match type:
        case MachineType():
            return _integer(type, int(value))  # type: ignore[arg-type]
        case FloatType():
            return _decimal(type, float(value))  # type: ignore[arg-type]
        case EnumType():
            return CExpression(enum_constant(type, int(value)), PRIMARY, "int32_t")  # type: ignore[arg-type]
    return CExpression("true" if value else "false", PRIMARY, "bool")


def initial_text(value: Term) -> str:
    """A constant term as the initialiser of an object."""
    if value.op in ("array", "struct"):
        return f"{{{', '.join(initial_text(a) for a in value.args)}}}"
    return literal(value.type, value.payload).text


def enum_constant(type: EnumType, code: int) -> str:
    return c_name(f"{type.name}_{type.member(code)}")


def c_path(root: str, part: str) -> str:
    """`.cells.0` of `inputs->pos` as `inputs->pos.cells[0]`."""
    return root + "".join(f"[{p}]" if p.isdigit() else f".{member_name(p)}" for p in part.split(".")[1:])


def _integer(type: MachineType, value: int) -> CExpression:
    if not type.signed:
        if value < 1 << 32:
            return CExpression(f"{value}u", PRIMARY, "uint32_t", number=value)
        return CExpression(f"UINT64_C({value})", PRIMARY, "uint64_t", number=value)
    if value in (-(1 << 31), -(1 << 63)):
        width = 64 if value < -(1 << 31) else 32
        return CExpression(f"INT{width}_MIN", PRIMARY, f"int{width}_t", number=value)
    level = UNARY if value < 0 else PRIMARY
    if -(1 << 31) < value < 1 << 31:
        return CExpression(str(value), level, "int32_t", "-" if value < 0 else "", number=value)
    sign = "-" if value < 0 else ""
    return CExpression(f"{sign}INT64_C({abs(value)})", level, "int64_t", sign, number=value)


def _decimal(type: FloatType, value: float) -> CExpression:
    name = c_type(type)
    if math.isnan(value):
        return CExpression("NAN" if type.width == 32 else "(double)NAN", PRIMARY if type.width == 32 else UNARY, name)
    negative = math.copysign(1.0, value) < 0
    sign, level = ("-", UNARY) if negative else ("", PRIMARY)
    if math.isinf(value):
        text = f"{sign}INFINITY"
        if type.width == 64:
            text, level = f"(double){text}", UNARY
        return CExpression(text, level, name, sign)
    text = _shortest(abs(value)) if type.width == 32 else repr(abs(value))
    if "." not in text and "e" not in text:
        text += ".0"
    return CExpression(f"{sign}{text}{'f' if type.width == 32 else ''}", level, name, sign)


def _shortest(value: float) -> str:
    """The shortest decimal that rounds to this binary32."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if to_f32(Fraction(text)) == value:
            return repr(float(text)) if digits < 8 else text
    return f"{value:.9g}"


def declaration(type: Type, name: str) -> str:
    """`uint16_t name[4]`."""
    lengths = ""
    while isinstance(type, ArrayType):
        lengths += f"[{type.length}]"
        type = type.element
    return f"{c_type(type)} {name}{lengths}"


def kept_type(type: Type) -> Type:
    """The type in which the state keeps a value: of an enum whose codes fit, a byte."""
    if isinstance(type, EnumType):
        for byte in (machine(8, signed=False), machine(8, signed=True)):
            if all(byte.low <= code <= byte.high for code in type.codes):
                return byte
    return type


def is_composite(type: Type) -> bool:
    return isinstance(type, ArrayType | StructType)


def has_array(type: Type) -> bool:
    match type:
        case ArrayType():
            return True
        case StructType():
            return any(has_array(t) for _, t in type.fields)
    return False


def may_be_written(type: Type, copilot: bool) -> bool:
    """True if a handler gets an argument that it may write to: Copilot's handlers always, others for an array of
    arrays, which C before C2X cannot pass to a const parameter."""
    return copilot or (isinstance(type, ArrayType) and isinstance(type.element, ArrayType))


def comment(text: str) -> str:
    """A comment of one line; whatever would end it, begin another or form a trigraph is broken up."""
    safe = text.replace("*/", "* /").replace("/*", "/ *").replace("//", "/ /").replace("??", "? ?").replace("\\", "/")
    safe = " ".join("".join(c if c.isprintable() else " " for c in safe).split())
    return f"/* {safe} */"


def source(where: Location | None) -> str:
    """The spec's line as shown in comments."""
    if where is None:
        return ""
    text = where.text
    return f"{where.short}  {text}" if text else where.short


def indent(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]


def braced_lines(items: Iterable[str]) -> Iterator[str]:
    """Items of a braced list, as many to a line as fit."""
    line = INDENT
    items = list(items)
    for i, item in enumerate(items):
        piece = item + ("," if i < len(items) - 1 else "")
        if len(line) + len(piece) > WIDTH and line.strip():
            yield line.rstrip()
            line = INDENT
        line += piece + " "
    yield line.rstrip()


def size(type: Type) -> int:
    """Bytes, with the padding that natural alignment brings."""
    match type:
        case ArrayType():
            return size(type.element) * type.length
        case StructType():
            return padded_size([t for _, t in type.fields])
        case MachineType() | FloatType():
            return type.width // 8
    return 4 if isinstance(type, EnumType) else 1


def alignment(type: Type) -> int:
    match type:
        case ArrayType():
            return alignment(type.element)
        case StructType():
            return max(alignment(t) for _, t in type.fields)
    return size(type)


def padded_size(types: list[Type]) -> int:
    """The size of a struct with these members in order."""
    at, widest = 0, 1
    for type in types:
        step = alignment(type)
        at = -(-at // step) * step + size(type)
        widest = max(widest, step)
    return -(-at // widest) * widest
