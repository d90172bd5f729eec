"""What an operation gives for the values of its operands; tuples go element by element."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import choice, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import BOOL, INT, REAL, EnumType, MachineType, StructType, array_of, machine
from streamcheck.frontends.lustre import operators
from streamcheck.frontends.lustre.syntax import Expression

if TYPE_CHECKING:
    from streamcheck.frontends.lustre.machine import Machine
    from streamcheck.frontends.lustre.scopes import Scope, Value

COMPARISONS = frozenset(("lt", "le", "gt", "ge"))
LOGIC = frozenset(("and", "or", "xor", "implies"))
ARITHMETIC = frozenset(("add", "sub", "mul"))
DIVISIONS = frozenset(("intdiv", "mod", "div"))


def applied(reading: Machine, e: Expression, args: list[Any], scope: Scope) -> Value:
    op = e.op
    if op == "number":
        return number(e.value)
    if op == "bool":
        return TRUE if e.value else FALSE
    if op == "tuple":
        return tuple(part for a in args for part in (a if isinstance(a, tuple) else (a,)))
    if op in ("if", "arrow", "merge"):
        return _chosen(reading, e, args, scope)
    if op == "mode":
        return reading.mode(e.value, e.at, scope)
    if op in ("eq", "ne") and isinstance(args[0], tuple):
        return _equal_tuples(op, args)
    for a in args:
        if isinstance(a, tuple):
            raise TypeRule(f"one value is due, and this is {len(a)}")
    return _one(reading, e, args, scope)


def number(text: str) -> Term:
    if text.startswith("0x"):
        return constant(INT, int(text, 16))
    return constant(INT, int(text)) if text.isdigit() else constant(REAL, Fraction(text))


def _chosen(reading: Machine, e: Expression, args: list[Any], scope: Scope) -> Value:
    if e.op == "arrow":
        return _each(scope.context.first, args[0], args[1])
    condition = args[0]
    if e.op == "merge":
        return _merged(e, condition, args[1:])
    if isinstance(condition, tuple) or condition.type is not BOOL:
        raise TypeRule("the condition is not bool")
    return _each(condition, args[1], args[2])


def _each(condition: Term, a: Value, b: Value) -> Value:
    if isinstance(a, tuple) or isinstance(b, tuple):
        if not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)):
            raise TypeRule("the two sides have different numbers of values")
        return tuple(_choice(condition, x, y) for x, y in zip(a, b, strict=True))
    return _choice(condition, a, b)


def _choice(condition: Term, a: Term, b: Term) -> Term:
    if a.type is not b.type:
        raise TypeRule(f"{a.type} and {b.type} are different types")
    return choice(condition, a, b)


def _merged(e: Expression, clock: Term, values: list[Any]) -> Value:
    members = e.value
    if clock.type is BOOL:
        found = dict(zip(members, values, strict=True))
        if set(found) != {"true", "false"}:
            raise TypeRule("a merge over a Boolean has a branch for true and one for false")
        return _each(clock, found["true"], found["false"])
    if not isinstance(clock.type, EnumType):
        raise TypeRule(f"a merge is over bool or an enum, and this is {clock.type}")
    codes = dict(clock.type.members)
    if sorted(members) != sorted(codes):
        raise TypeRule(f"a merge over {clock.type} has one branch for each of {', '.join(codes)}")
    result = values[-1]
    for member, value in zip(members[-2::-1], values[-2::-1], strict=True):
        result = _each(operators.equal(clock, constant(clock.type, codes[member])), value, result)
    return result  # type: ignore[no-any-return]


def _equal_tuples(op: str, args: list[Any]) -> Term:
    if not isinstance(args[1], tuple) or len(args[0]) != len(args[1]):
        raise TypeRule("the two sides have different numbers of values")
    result = TRUE
    for a, b in zip(*args, strict=True):
        result = operators.logic("and", result, operators.equal(a, b))
    return result if op == "eq" else negation(result)


def _one(reading: Machine, e: Expression, args: list[Any], scope: Scope) -> Term:
    op = e.op
    if op in LOGIC:
        return operators.logic(op, args[0], args[1])
    if op in ("eq", "ne"):
        return operators.equal(args[0], args[1], negated=op == "ne")
    if op in COMPARISONS:
        return operators.compare(op, args[0], args[1])
    if op in ARITHMETIC:
        return operators.arithmetic(op, args[0], args[1])
    if op in DIVISIONS:
        return operators.divide(op, args[0], args[1], reading.anything(e, scope))
    if op in ("bitand", "bitor"):
        return operators.bits(op, args[0], args[1])
    if op in ("lsh", "rsh"):
        return operators.shift(op, args[0], args[1])
    if op == "power":
        return _repeated(args[0], args[1])
    if op in ("not", "neg", "bitnot") or op.startswith("to "):
        return _unary(e, args[0])
    return _composite(reading, e, args, scope)


def _unary(e: Expression, a: Term) -> Term:
    match e.op:
        case "not":
            if a.type is not BOOL:
                raise TypeRule(f"it is for bool, not {a.type}")
            return negation(a)
        case "neg":
            if not a.type.is_number:
                raise TypeRule(f"it is for numbers, not {a.type}")
            return operators.folded("neg", a)
        case "bitnot":
            if not isinstance(a.type, MachineType):
                raise TypeRule(f"it is for machine integers, not {a.type}")
            return operators.folded("bitnot", a)
        case "to int":
            return operators.convert(INT, a)
        case "to real":
            return operators.convert(REAL, a)
    width, signed = e.value
    return operators.convert(machine(width, signed=signed), a)


def _repeated(value: Term, length: Term) -> Term:
    if not length.is_const or length.type is not INT or length.payload < 1:
        raise TypeRule("an array's length is a constant of at least 1")
    return term("array", *[value] * length.payload, payload=array_of(value.type, length.payload))


def _composite(reading: Machine, e: Expression, args: list[Any], scope: Scope) -> Term:
    match e.op:
        case "array":
            if any(a.type is not args[0].type for a in args):
                raise TypeRule("the elements have different types")
            return term("array", *args, payload=array_of(args[0].type, len(args)))
        case "index":
            return operators.element(args[0], args[1], reading.anything(e, scope))
        case "update":
            result = args[0]
            for index, value in zip(args[1::2], args[2::2], strict=True):
                result = operators.updated(result, index, value)
            return result  # type: ignore[no-any-return]
        case "record":
            return _record(reading, e, args, scope)
        case "field":
            return field(args[0], e.value)
    raise AssertionError(e.op)


def field(record: Term, name: str) -> Term:
    if not isinstance(record.type, StructType) or name not in dict(record.type.fields):
        raise TypeRule(f"{record.type} has no field {name}")
    position = record.type.position(name)
    return record.args[position] if record.op == "struct" else term("field", record, payload=position)


def _record(reading: Machine, e: Expression, args: list[Any], scope: Scope) -> Term:
    name, fields = e.value
    type = reading.named(name, scope, e.at).type
    if not isinstance(type, StructType):
        raise TypeRule(f"{name} is no record type")
    given = dict(zip(fields, args, strict=True))
    if set(given) != {n for n, _ in type.fields} or len(given) != len(fields):
        raise TypeRule(f"{name} has the fields {', '.join(n for n, _ in type.fields)}")
    for n, t in type.fields:
        if given[n].type is not t:
            raise TypeRule(f"field {n} is {t}, and this is {given[n].type}")
    return term("struct", *(given[n] for n, _ in type.fields), payload=type)
