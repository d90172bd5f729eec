"""Nodes from operators and literals, type-checked at the user's line; an error suggests what to write."""

from __future__ import annotations

import enum

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.operators import OPERATORS, TypeRule, fill
from streamcheck.core.types import BOOL, EnumType, Misfit, Type, Value, belongs, enum_of, widens
from streamcheck.lang import syntax
from streamcheck.lang.node import Node


def enum_type(python: type[enum.Enum]) -> EnumType:
    """The enum's type. Codes are the members' values if all are 32-bit integers, else their positions."""
    values = [member.value for member in python]
    fitting = all(isinstance(v, int) and not isinstance(v, bool) and -(1 << 31) <= v < 1 << 31 for v in values)
    codes = values if fitting else range(len(values))
    return enum_of(python.__name__, tuple((m.name, c) for m, c in zip(python, codes, strict=True)), python)


def literal(type: Type, value: object) -> Node:
    """The constant stream of a Python literal."""
    if isinstance(value, enum.Enum) and (isinstance(type, EnumType) or not isinstance(value, int | float)):
        own = enum_type(value.__class__)
        if own is not type:
            raise SpecError(f"{value} is a member of {own}, not of {type}", here())
        code = dict(own.members).get(value.name or "")
        if code is None:
            raise SpecError(f"{value} is a combination of members; a stream of {own} holds single members", here())
        return Node("const", (), own, code, where=here())
    if isinstance(type, EnumType):
        raise SpecError(f"{value!r} is not a member of {type}", here(), write=f"{type}.{type.members[0][0]}")
    return Node("const", (), type, fitting_value(type, value), where=here())


def fitting_value(type: Type, value: object) -> Value:
    try:
        return belongs(type, value)
    except Misfit as why:
        if isinstance(value, list):
            raise SpecError(str(why), here(), write="[0] ++ s, if ++ is meant") from None
        slip = syntax.bitwise_slip() if type is BOOL else None
        if slip is not None:
            symbol, _, meant = slip
            raise SpecError(f"{why} (`{symbol}` binds tighter than a comparison)", here(), write=meant) from None
        raise SpecError(str(why), here()) from None


def apply(op: str, *args: Node, payload: object = None) -> Node:
    """A node that applies the operator, typed by its rule, at the user's line."""
    try:
        result = OPERATORS[op].rule(tuple(a.type for a in args), payload)
    except TypeRule as why:
        raise _type_error(op, args, payload, str(why)) from None
    if any(a.op == "append" for a in args):
        slip = syntax.append_slip()
        if slip is not None:
            raise SpecError("an operator is applied to a `[…] ++ s` without parentheses", here(), write=slip)
    return Node(op, args, result, payload, where=here())


def _type_error(op: str, args: tuple[Node, ...], payload: object, why: str) -> SpecError:
    shown = fill(OPERATORS[op].shown, dict(zip("abc", (str(a.type) for a in args), strict=False)))
    if isinstance(payload, Type) and op != "cast":  # an array or a struct that is being built
        shown = str(payload)
    write = ""
    slip = syntax.bitwise_slip() if any(a.type is BOOL for a in args) or syntax.is_chain() else None
    if slip is not None:
        why, write = f"{why} (`{slip[0]}` binds tighter than a comparison)", slip[2]
    elif (chain := syntax.chain_slip()) is not None:
        write = chain
    elif op.startswith("bit") or op in ("and", "or", "xor"):
        write = _bits_hint(args)
    elif len(args) >= 2 and args[-1].type is not args[-2].type and args[-1].type.is_number:
        write = _cast_hint(args[-2].type, args[-1].type)
    elif op == "neg" and args[0].type is BOOL:
        write = "~b, for not b"
    return SpecError(f"{shown}: {why}", here(), write=write)


def _bits_hint(args: tuple[Node, ...]) -> str:
    """For a Bool beside a number."""
    numbers = [a.type for a in args if a.type.is_number]
    if len(numbers) != 1 or not any(a.type is BOOL for a in args):
        return ""
    return f"x != 0 in place of the {numbers[0]}, or cast({numbers[0]}, b) in place of the Bool"


def _cast_hint(a: Type, b: Type) -> str:
    for narrow, wide in ((a, b), (b, a)):
        if narrow.is_number and widens(narrow, wide):
            return f"cast({wide}, …) around the {narrow} side"
    if a.is_number and b.is_number:
        return f"unsafe_cast({a}, …) around the {b} side, if losing values is meant"
    return ""
