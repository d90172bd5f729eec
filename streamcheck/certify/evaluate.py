"""The meaning of every operator in Python, written for the checker alone.

The engines, the interpreter and the generated C take their meaning from the operator table. A fault there would be
everywhere at once. This file and `bitwise`, `remainders` (the same meanings for solvers) do not use the table, so a
counterexample that replays, or a certificate that holds, has been judged by a second reading of the language.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from streamcheck.core.term import Term, walk
from streamcheck.core.types import FLOAT, ArrayType, EnumType, FloatType, MachineType, Type, Value


def evaluate(roots: Iterable[Term], values: Mapping[Term, Value]) -> dict[Term, Value]:
    """The value of every node below the roots, given values for the variables."""
    return evaluate_nodes(walk(roots), values)


def evaluate_nodes(nodes: Iterable[Term], values: Mapping[Term, Value]) -> dict[Term, Value]:
    """The value of every node, as far as the variables below it are known; operands come before what uses them."""
    results: dict[Term, Value] = {}
    for node in nodes:
        if node.op == "const":
            results[node] = node.payload
        elif node.op == "var":
            if node in values:
                results[node] = values[node]
        elif all(a in results for a in node.args):
            results[node] = apply(node, [results[a] for a in node.args])
    return results


def apply(node: Term, args: list[Any]) -> Value:
    """The value of an operation, given values of its operands."""
    if node.op in _COMPOSITE:
        return _COMPOSITE[node.op](node, args)
    if node.op == "cast":
        return _cast(args[0], node.args[0].type, node.type)
    logical = _LOGICAL.get(node.op)
    if logical is not None:
        result: Value = logical(*args)
        return result
    operand = node.args[0].type
    if isinstance(operand, FloatType):
        return _round(_float(node.op, *args), operand)
    number: Value = _fit(_exact(node.op, operand, *args), node.type)
    return number


# Booleans, comparisons, choice


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, tuple):
        return all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def _is_same(a: Any, b: Any) -> bool:
    """Identity: NaN is itself, and -0.0 is not 0.0."""
    if isinstance(a, float):
        return struct.pack(">d", a) == struct.pack(">d", b) or (a != a and b != b)
    return bool(a == b)


_LOGICAL: Mapping[str, Callable[..., Any]] = {
    "not": lambda a: not a,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a is not b,
    "implies": lambda a, b: b if a else True,
    "mux": lambda a, b, c: b if a else c,
    "eq": _equal,
    "ne": lambda a, b: not _equal(a, b),
    "same": _is_same,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: b < a,
    "ge": lambda a, b: b <= a,
}


# Integers and fractions: exact, then brought into the type


def _exact(op: str, type: Type, a: Any, b: Any = None) -> Any:
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "neg":
            return -a
        case "abs":
            return a if a >= 0 else -a
        case "min":
            return a if a <= b else b
        case "max":
            return a if a >= b else b
        case "div":
            return Fraction(0) if b == 0 else a / b
        case "floordiv":
            return 0 if b == 0 else math.floor(Fraction(a, b))
        case "mod":
            return a if b == 0 else a - b * math.floor(Fraction(a, b))
        case "quot":
            return 0 if b == 0 else math.trunc(Fraction(a, b))
        case "rem":
            return a if b == 0 else a - b * math.trunc(Fraction(a, b))
        case "bitnot":
            return -1 - a
        case "bitand" | "bitor" | "bitxor":
            return {"bitand": int.__and__, "bitor": int.__or__, "bitxor": int.__xor__}[op](a, b)
        case "shl" | "shr":
            assert isinstance(type, MachineType)
            if not 0 <= b < type.width:  # everything is shifted out; of a signed >>, the sign stays
                return -1 if op == "shr" and a < 0 else 0
            return a * 2**b if op == "shl" else math.floor(Fraction(a, 2**b))
    raise ValueError(f"{op} on {type}")


def _fit(value: Any, type: Type) -> Any:
    """The number of the type that is congruent to an exact result."""
    if isinstance(type, MachineType) and not type.low <= value <= type.high:
        return type.low + (value - type.low) % (type.high - type.low + 1)
    return value


# Floats


def _float(op: str, a: float, b: float = 0.0) -> float:
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "div":
            return _quotient(a, b)
        case "neg":
            return -a
        case "abs":
            return math.fabs(a)
        case "min":
            return b if b < a else a
        case "max":
            return b if a < b else a
        case "sqrt":
            return math.nan if a < 0.0 else math.sqrt(a)
        case "ceil" | "floor":
            if not math.isfinite(a):
                return a
            whole = math.ceil(a) if op == "ceil" else math.floor(a)
            return math.copysign(float(whole), a)
        case "pow":
            return _power(a, b)
        case "log" if a == 0.0:
            return -math.inf
        case "atan2":
            return math.atan2(a, b)
    return _of_library(op, a)


def _quotient(a: float, b: float) -> float:
    if b != 0.0 or math.isnan(a) or math.isnan(b):
        return a / b if b != 0.0 else math.nan
    if a == 0.0:
        return math.nan
    return math.inf if math.copysign(1.0, a) == math.copysign(1.0, b) else -math.inf


def _of_library(op: str, a: float) -> float:
    """sin, cos, … of math.h, total as in C: NaN outside the domain, infinity beyond the largest float."""
    try:
        result: float = getattr(math, op)(a)
        return result
    except ValueError:
        return math.nan
    except OverflowError:
        return -math.inf if op == "sinh" and a < 0 else math.inf


def _power(a: float, b: float) -> float:
    is_odd = math.isfinite(b) and b == int(b) and int(b) % 2 == 1
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and is_odd else math.inf
    except ValueError:
        if a != 0.0:
            return math.nan
        return math.copysign(math.inf, a) if is_odd else math.inf


def _round(value: float, type: FloatType) -> float:
    """A result in binary64 as a value of the type."""
    if type.width == 64 or not math.isfinite(value):
        return value
    try:
        rounded: float = struct.unpack(">f", struct.pack(">f", value))[0]
        return rounded
    except OverflowError:
        return math.copysign(math.inf, value)


def _nearest(value: Fraction, type: FloatType) -> float:
    """An exact number, rounded once to nearest, ties to even."""
    if value == 0:
        return 0.0
    lowest = 2 - 2 ** (type.exponent - 1)  # the exponent of the smallest normal number
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, lowest) - type.significand + 1)
    magnitude = round(size / unit) * unit  # Python's round goes to even
    nearest = math.inf if magnitude >= Fraction(2) ** (2 ** (type.exponent - 1)) else float(magnitude)
    return -nearest if value < 0 else nearest


# Conversions


def _cast(a: Any, source: Type, target: Type) -> Value:
    if target.kind == "bool":
        return bool(a != 0)
    if isinstance(source, FloatType):
        return _cast_float(a, target)
    number = int(a) if isinstance(a, bool) else a
    if isinstance(target, FloatType):
        return _nearest(Fraction(number), target)
    if target.kind == "real":
        return Fraction(number)
    result: Value = _fit(math.trunc(number), target)
    return result


def _cast_float(a: float, target: Type) -> Value:
    if isinstance(target, FloatType):
        return _round(a, target)
    if isinstance(target, MachineType):
        if math.isnan(a):
            return 0
        return (
            min(max(a, target.low), target.high) if math.isinf(a) else min(max(math.trunc(a), target.low), target.high)
        )
    exact = Fraction(a) if math.isfinite(a) else Fraction(0)
    return exact if target.kind == "real" else math.trunc(exact)


# Arrays and structs


def _index(length: int, i: int) -> int:
    return 0 if i < 0 else length - 1 if i >= length else i


def _element(node: Term, args: list[Any]) -> Value:
    result: Value = args[0][_index(len(args[0]), args[1])]
    return result


def _update(node: Term, args: list[Any]) -> Value:
    elements = list(args[0])
    elements[_index(len(elements), args[1])] = args[2]
    return tuple(elements)


def _field(node: Term, args: list[Any]) -> Value:
    result: Value = args[0][node.payload]
    return result


def _with_field(node: Term, args: list[Any]) -> Value:
    fields = list(args[0])
    fields[node.payload] = args[1]
    return tuple(fields)


def _length(node: Term) -> int:
    assert isinstance(node.type, ArrayType)
    return node.type.length


_COMPOSITE: Mapping[str, Callable[[Term, list[Any]], Value]] = {
    "array": lambda node, args: tuple(args) * (_length(node) // len(args)),
    "struct": lambda node, args: tuple(args),
    "index": _element,
    "update": _update,
    "field": _field,
    "with_field": _with_field,
    "float_of_bits": lambda n, a: struct.unpack_from("<f" if n.type is FLOAT else "<d", a[0].to_bytes(8, "little"))[0],
}


def is_member(type: Type, value: Value) -> bool:
    """True if every enum inside has the code of a member."""
    match type:
        case EnumType():
            return value in type.codes
        case ArrayType():
            return all(is_member(type.element, v) for v in value)  # type: ignore[union-attr]
    if type.kind == "struct":
        return all(is_member(t, v) for (_, t), v in zip(type.fields, value, strict=True))  # type: ignore
    return True
