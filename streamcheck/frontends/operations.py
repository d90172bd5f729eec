"""Typed operations as terms, for all front ends: operands are checked, constants and neutral elements folded.

`int` is unbounded; its `div` and `mod` are SMT-LIB's (the remainder is never negative). Machine integers wrap around
and divide as bit-vectors do: truncating, and a quotient by zero has all bits set. If the language leaves a result
undefined (`int` and `real` division by zero), an `UnknownMaker` supplies an unknown.

Operations on constants are folded when terms are made, so the engines see only the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import TypeAlias

from streamcheck.core.euclidean import quotient, remainder
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import apply, choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import BOOL, INT, REAL, ArrayType, EnumType, MachineType, StructType, Type, default
from streamcheck.problem.specification import FunctionCall

UnknownMaker: TypeAlias = Callable[[str, Term, Term, Type], Term]  # (operation, its operands, the type of the result)


NUMBERS = ("unsigned", "signed", "integer", "real")
WHOLE_NUMBERS = ("unsigned", "signed", "integer")
WORDS = ("unsigned", "signed")


def require_kind(type: Type, *kinds: str, what: str, hint: str = "") -> None:
    if type.kind not in kinds:
        raise TypeRule(f"expected {what}, found {type}{hint and f'; {hint}'}")


def require_same_type(a: Term, b: Term) -> None:
    if a.type is not b.type:
        raise TypeRule(f"{a.type} and {b.type} are different types")


def logic(op: str, a: Term, b: Term) -> Term:
    require_kind(a.type, "bool", what="bool")
    require_kind(b.type, "bool", what="bool")
    if op == "and":
        return conjunction(a, b)
    if op == "or":
        return disjunction(a, b)
    if op == "implies":
        if a.is_const or b.is_const or a is b:
            return disjunction(negation(a), b)
        return term("implies", a, b)
    return equal(a, b, negated=True)


def equal(a: Term, b: Term, *, negated: bool = False) -> Term:
    require_same_type(a, b)
    if a is b:
        return FALSE if negated else TRUE
    if has_function(a.type):
        raise TypeRule("sets and maps are not compared here")
    if has_union(a.type):
        same = _same_value(a, b)
        return negation(same) if negated else same
    if a.type is BOOL and (a.is_const or b.is_const):
        literal, other = (a, b) if a.is_const else (b, a)
        return other if (literal is TRUE) != negated else negation(other)
    if a.is_const and b.is_const:
        return TRUE if negated else FALSE  # interned: different terms of one scalar type are different values
    return term("ne" if negated else "eq", a, b)


@cache
def has_union(type: Type) -> bool:
    match type:
        case ArrayType():
            return has_union(type.element)
        case StructType():
            return type.form == "union" or any(has_union(t) for _, t in type.fields)
    return False


@cache
def has_function(type: Type) -> bool:
    """True if there are sets or maps in it: `containers` compares them."""
    match type:
        case ArrayType():
            return has_function(type.element)
        case StructType():
            return type.form == "function" or any(has_function(t) for _, t in type.fields)
    return False


def struct_part(value: Term, i: int) -> Term:
    """The i-th field of a struct."""
    return value.args[i] if value.op == "struct" else term("field", value, payload=i)


def has_member(value: Term, member: str) -> Term:
    """True if the value of an enum is this member."""
    assert isinstance(value.type, EnumType)
    return equal(value, constant(value.type, dict(value.type.members)[member]))


def _array_part(value: Term, i: int) -> Term:
    return value.args[i] if value.op == "array" else term("index", value, constant(INT, i))


def _same_value(a: Term, b: Term) -> Term:
    """True if values of a type with unions in it are equal: in a union, only what its constructor has is compared."""
    match a.type:
        case ArrayType(length=length):
            return conjunction(*(equal(_array_part(a, i), _array_part(b, i)) for i in range(length)))
        case StructType(form="union", fields=(_, *payloads)):
            own, other = struct_part(a, 0), struct_part(b, 0)
            same = [equal(own, other)]
            for i, (name, _) in enumerate(payloads, 1):
                has_payload = has_member(own, name)
                same.append(logic("implies", has_payload, equal(struct_part(a, i), struct_part(b, i))))
            return conjunction(*same)
        case StructType(fields=fields):
            return conjunction(*(equal(struct_part(a, i), struct_part(b, i)) for i in range(len(fields))))
    raise AssertionError(a.type)


def canonical(value: Term) -> Term:
    """The value with zero for what the constructors of its unions do not have: equal values are equal in each part."""
    if not has_union(value.type):
        return value
    match value.type:
        case ArrayType(length=length) as type:
            return term("array", *(canonical(_array_part(value, i)) for i in range(length)), payload=type)
        case StructType(form="union", fields=(_, *payloads)) as type:
            own = struct_part(value, 0)
            parts = [
                choice(has_member(own, name), canonical(struct_part(value, i)), constant(t, default(t)))
                for i, (name, t) in enumerate(payloads, 1)
            ]
            return term("struct", own, *parts, payload=type)
        case StructType(fields=fields) as type:
            return term("struct", *(canonical(struct_part(value, i)) for i in range(len(fields))), payload=type)
    raise AssertionError(value.type)


def compare(op: str, a: Term, b: Term) -> Term:
    require_same_type(a, b)
    require_kind(a.type, *NUMBERS, what="numbers")
    if a is b:
        return TRUE if op in ("le", "ge") else FALSE
    return apply(op, a, b)


def arithmetic(op: str, a: Term, b: Term) -> Term:
    require_same_type(a, b)
    require_kind(a.type, *NUMBERS, what="numbers")
    if b.is_const and b.payload == 0 and op in ("add", "sub"):
        return a
    if a.is_const and a.payload == 0 and op == "add":
        return b
    if op == "mul" and (unit := next((y for x, y in ((a, b), (b, a)) if x.is_const and x.payload == 1), None)):
        return unit
    return apply(op, a, b)


def divide(op: str, a: Term, b: Term, unknown: UnknownMaker) -> Term:
    """`op` is "intdiv" or "mod" for whole numbers, "div" for reals."""
    require_same_type(a, b)
    if op == "div":
        require_kind(a.type, "real", what="real", hint="integers have `div`")
        return _unless_zero(op, a, b, unknown, lambda: _real_quotient(a, b))
    require_kind(a.type, *WHOLE_NUMBERS, what="integers", hint="reals have `/`")
    if isinstance(a.type, MachineType):
        return word_quotient(a, b) if op == "intdiv" else apply("rem", a, b)
    return _unless_zero(op, a, b, unknown, lambda: quotient(a, b) if op == "intdiv" else remainder(a, b))


def _unless_zero(op: str, a: Term, b: Term, unknown: UnknownMaker, result: Callable[[], Term]) -> Term:
    if b.is_const and b.payload != 0:
        return result()
    by_zero = unknown(op, a, b, a.type)
    if b.is_const:
        return by_zero
    return choice(equal(b, constant(b.type, 0)), by_zero, result())


def call_by_zero(op: str, a: Term, b: Term, result: Term) -> FunctionCall:
    """The unknown result of a division by zero, as a function of the dividend: SMT-LIB's is one."""
    return FunctionCall(f"{op} by zero", equal(b, constant(b.type, 0)), (a,), (result,))


def image_of_call(call: FunctionCall, image: Mapping[Term, Term]) -> FunctionCall:
    """The call with each of its terms replaced by its image."""
    inputs, outputs = (tuple(image.get(t, t) for t in terms) for terms in (call.inputs, call.outputs))
    return FunctionCall(call.function, image.get(call.tick, call.tick), inputs, outputs)


def _real_quotient(a: Term, b: Term) -> Term:
    """Division by a constant becomes a product, which every solver treats as linear."""
    if b.is_const:
        return arithmetic("mul", a, constant(REAL, 1 / Fraction(b.payload)))
    return apply("div", a, b)


def word_quotient(a: Term, b: Term) -> Term:
    """bvudiv and bvsdiv: a quotient by zero has all bits set (1 for a negative dividend)."""
    assert isinstance(a.type, MachineType)
    zero = constant(a.type, 0)
    by_zero = constant(a.type, a.type.high if not a.type.signed else -1)
    if a.type.signed:
        by_zero = choice(apply("lt", a, zero), constant(a.type, a.type.wrap(1)), by_zero)
    return choice(equal(b, zero), by_zero, apply("quot", a, b))


def cast(target: Type, a: Term) -> Term:
    return a if a.type is target else apply("cast", a, payload=target)


def convert(target: Type, a: Term) -> Term:
    require_kind(a.type, *NUMBERS, what="numbers")
    if target is INT and a.type is REAL:
        return floor(a)
    if a.type is REAL and target is not REAL:
        return cast(target, floor(a))
    return cast(target, a)


def floor(a: Term) -> Term:
    """The real number rounded down: SMT-LIB's to_int. (`cast` truncates.)"""
    if a.is_const:
        value = Fraction(a.payload)
        return constant(INT, value.numerator // value.denominator)
    whole = cast(INT, a)
    above = apply("lt", a, cast(REAL, whole))
    return choice(above, apply("sub", whole, constant(INT, 1)), whole)
