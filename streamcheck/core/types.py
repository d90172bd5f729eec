"""The types of streams, and the Python values that belong to them.

Types are interned: `machine(8, signed=False) is machine(8, signed=False)`, so identity is equality.
Values inside streamcheck are plain: bool, int (machine integers, Int, enums), float (Float, Double),
Fraction (Real), tuple (arrays and structs).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, Literal, TypeAlias

from streamcheck.core.floats import f32

StructForm: TypeAlias = Literal["record", "tuple", "union", "abstract", "function"]
Value: TypeAlias = "bool | int | float | Fraction | tuple[Value, ...]"


class Misfit(Exception):
    """A value that does not belong to a type; the message explains why."""


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A type. `kind` selects the columns of the operator table."""

    kind: ClassVar[str]

    def __str__(self) -> str:
        raise NotImplementedError

    @property
    def is_number(self) -> bool:
        return self.kind in ("unsigned", "signed", "float", "integer", "real")

    @property
    def is_integer(self) -> bool:
        return self.kind in ("unsigned", "signed", "integer")


@dataclass(frozen=True, slots=True, eq=False)
class BoolType(Type):
    kind = "bool"

    def __str__(self) -> str:
        return "Bool"


MOST_BITS = 1 << 16  # of an integer that wraps around, in files of other tools


@dataclass(frozen=True, slots=True, eq=False)
class MachineType(Type):
    """An integer of `width` bits that wraps around."""

    width: int
    signed: bool

    @property
    def kind(self) -> str:  # type: ignore[override]
        return "signed" if self.signed else "unsigned"

    @property
    def low(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.width - self.signed)) - 1

    def wrap(self, value: int) -> int:
        return (value - self.low) % (1 << self.width) + self.low

    def __str__(self) -> str:
        return f"{'Int' if self.signed else 'Word'}{self.width}"


@dataclass(frozen=True, slots=True, eq=False)
class FloatType(Type):
    """IEEE 754 binary32 or binary64."""

    kind = "float"
    width: int

    @property
    def exponent(self) -> int:
        return 8 if self.width == 32 else 11

    @property
    def significand(self) -> int:
        return self.width - self.exponent

    def __str__(self) -> str:
        return "Float" if self.width == 32 else "Double"


@dataclass(frozen=True, slots=True, eq=False)
class IntegerType(Type):
    kind = "integer"

    def __str__(self) -> str:
        return "Int"


@dataclass(frozen=True, slots=True, eq=False)
class RealType(Type):
    kind = "real"

    def __str__(self) -> str:
        return "Real"


@dataclass(frozen=True, slots=True, eq=False)
class ArrayType(Type):
    kind = "array"
    element: Type
    length: int

    def __str__(self) -> str:
        return f"Array({self.element}, {self.length})"


@dataclass(frozen=True, slots=True, eq=False)
class StructType(Type):
    """Named fields. `form` is what they stand for in a language with more types: a `union` is an algebraic data type,
    its first field is the enum of its constructors, and the others are structs with the fields of one constructor each,
    under its name; an `abstract` type has one field, and values of it are only compared; a `function` is a set or map,
    whose field has no meaning."""

    kind = "struct"
    name: str
    fields: tuple[tuple[str, Type], ...]
    form: StructForm = "record"

    def position(self, field: str) -> int:
        return [name for name, _ in self.fields].index(field)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class EnumType(Type):
    """Members with their integer codes: C, solvers and the interpreter compute with the codes.
    `python` is the user's enum.Enum class, if there is one, whose members the reports show."""

    kind = "enum"
    name: str
    members: tuple[tuple[str, int], ...]
    python: type[enum.Enum] | None = None

    @property
    def codes(self) -> tuple[int, ...]:
        return tuple(code for _, code in self.members)

    def member(self, code: int) -> str:
        return next(name for name, c in self.members if c == code)

    def __str__(self) -> str:
        return self.name


BOOL = BoolType()
FLOAT = FloatType(32)
DOUBLE = FloatType(64)
INT = IntegerType()
REAL = RealType()


@cache
def machine(width: int, *, signed: bool) -> MachineType:
    return MachineType(width, signed)


@cache
def array_of(element: Type, length: int) -> ArrayType:
    return ArrayType(element, length)


@cache
def struct_of(name: str, fields: tuple[tuple[str, Type], ...], form: StructForm = "record") -> StructType:
    return StructType(name, fields, form)


@cache
def enum_of(name: str, members: tuple[tuple[str, int], ...], python: type[enum.Enum] | None = None) -> EnumType:
    return EnumType(name, members, python)


SCALARS: dict[str, Type] = {
    str(t): t
    for t in (
        BOOL,
        *(machine(w, signed=s) for s in (True, False) for w in (8, 16, 32, 64)),
        FLOAT,
        DOUBLE,
        INT,
        REAL,
    )
}


def has_floats(type: Type) -> bool:
    match type:
        case FloatType():
            return True
        case ArrayType():
            return has_floats(type.element)
        case StructType():
            return any(has_floats(t) for _, t in type.fields)
    return False


def part_names(name: str, type: Type) -> Iterator[tuple[str, Type]]:
    """`pos` of a struct with fields x, y: `pos.x`, `pos.y`; an array's elements are `a.0`, `a.1` …"""
    match type:
        case ArrayType():
            for i in range(type.length):
                yield from part_names(f"{name}.{i}", type.element)
        case StructType():
            for field, t in type.fields:
                yield from part_names(f"{name}.{field}", t)
        case _:
            yield name, type


def assemble(type: Type, scalars: Iterator[Value]) -> Value:
    """The value made of these parts, in the order of `part_names`."""
    match type:
        case ArrayType():
            return tuple(assemble(type.element, scalars) for _ in range(type.length))
        case StructType():
            return tuple(assemble(t, scalars) for _, t in type.fields)
    return next(scalars)


def scalar_parts(value: Value) -> Iterator[Value]:
    """The parts of a value, in the same order."""
    if isinstance(value, tuple):
        for part in value:
            yield from scalar_parts(part)
    else:
        yield value


def default(type: Type) -> Value:
    """Some value of the type: zero, false, the first member."""
    match type:
        case BoolType():
            return False
        case FloatType():
            return 0.0
        case RealType():
            return Fraction(0)
        case ArrayType():
            return (default(type.element),) * type.length
        case StructType():
            return tuple(default(t) for _, t in type.fields)
        case EnumType():
            return type.codes[0]
    return 0


def widens(source: Type, target: Type) -> bool:
    """True if every value of `source` is a value of `target`."""
    if source is target:
        return True
    match source.kind, target.kind:
        case "bool", ("unsigned" | "signed" | "integer" | "real" | "float"):
            return True
        case (("unsigned" | "signed"), ("integer" | "real")):
            return True
        case "integer", "real":
            return True
        case "float", "float":
            return str(target) == "Double"
        case "unsigned" | "signed", "unsigned" | "signed":
            assert isinstance(source, MachineType) and isinstance(target, MachineType)
            return target.low <= source.low and source.high <= target.high
        case "unsigned" | "signed", "float":
            assert isinstance(source, MachineType)
            return source.width - source.signed <= (24 if str(target) == "Float" else 53)
    return False


def plural(number: int, noun: str) -> str:
    """`1 value`, `2 values`, `2 properties`."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith(("ry", "ty")) else f"{number} {noun}s"


def float_text(value: float) -> str:
    """A float as text: NaN and Infinity as JSON and JavaScript name them, others as Python writes them."""
    return str(value) if math.isfinite(value) else {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(value)]


def belongs(type: Type, value: object) -> Value:
    """`value` as a value of `type`, exactly, or Misfit. Decimals round to a float type."""
    value = without_numpy(value)
    match type:
        case BoolType():
            if isinstance(value, bool):
                return value
            raise Misfit(f"{value!r} is not a Bool: write True or False")
        case ArrayType():
            return _array_value(type, value)
        case StructType():
            return _struct_value(type, value)
        case EnumType():
            if isinstance(value, enum.Enum) and _is_class_of(type, value.__class__):
                value = value.name
            if isinstance(value, str) and value in dict(type.members):
                return dict(type.members)[value]
            if isinstance(value, int) and not isinstance(value, bool) and value in type.codes:
                return value
            names = ", ".join(name for name, _ in type.members)
            raise Misfit(f"{value!r} is not a member of {type}: {names}")
    return _number(type, value)


def _is_class_of(type: EnumType, python: type[enum.Enum]) -> bool:
    """True if these are the members of the type, or of one of its name if it was read from data."""
    return python is type.python or (type.python is None and python.__name__ == str(type))


def without_numpy(value: object) -> object:
    """Numbers and arrays of numpy as Python's own."""
    return value.tolist() if value.__class__.__module__ == "numpy" and hasattr(value, "tolist") else value


def _number(type: Type, value: object) -> Value:
    if isinstance(value, bool):
        raise Misfit(f"{value} is a bool, not a number: write {int(value)}, or `mux`")
    if not isinstance(value, int | float | Fraction):
        raise Misfit(f"{value!r} is not a number")
    match type:
        case MachineType():
            whole = _whole(type, value)
            if not type.low <= whole <= type.high:
                raise Misfit(f"{whole} does not fit {type}, which holds {type.low} to {type.high}")
            return whole
        case IntegerType():
            return _whole(type, value)
        case RealType():
            if isinstance(value, float):
                if not math.isfinite(value):
                    raise Misfit(f"{value!r} is not a Real")
                return Fraction(repr(value))  # the decimal as written: Real(0.1) is 1/10
            return Fraction(value)
        case FloatType():
            return _float_value(type, value)
    raise AssertionError(type)


def _whole(type: Type, value: int | float | Fraction) -> int:
    if isinstance(value, int):
        return int(value)  # a member of an IntEnum becomes the number it is
    if isinstance(value, float):
        raise Misfit(f"{value} is a decimal number; {type} holds whole numbers only")
    if isinstance(value, Fraction) and value.denominator == 1:
        return value.numerator
    raise Misfit(f"{value} is not a whole number; {type} holds whole numbers only")


def _float_value(type: FloatType, value: int | float | Fraction) -> float:
    if isinstance(value, float):
        return f32(value) if type.width == 32 else value
    try:
        near = f32(float(value)) if type.width == 32 else float(value)
    except OverflowError:
        near = math.inf
    if not math.isfinite(near) or Fraction(near) != value:
        raise Misfit(f"{value} has no exact {type}: write it with a decimal point to have it rounded")
    return near


def _array_value(type: ArrayType, value: object) -> Value:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Misfit(f"{value!r} is not a list of {type.length} values")
    if len(value) != type.length:
        raise Misfit(f"{plural(len(value), 'value')}, but {type} has {type.length}")
    return tuple(belongs(type.element, v) for v in value)


def _struct_value(type: StructType, value: object) -> Value:
    names = [name for name, _ in type.fields]
    if isinstance(value, Mapping):
        if set(value) != set(names):
            raise Misfit(f"fields {', '.join(map(str, value))}, but {type} has {', '.join(names)}")
        value = [value[name] for name in names]
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Misfit(f"{value!r} is not a {type}: give a dict of its fields")
    if len(value) != len(names):
        raise Misfit(f"{plural(len(value), 'value')}, but {type} has {plural(len(names), 'field')}")
    return tuple(belongs(t, v) for (_, t), v in zip(type.fields, value, strict=True))
