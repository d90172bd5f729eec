"""The values of operations for the values of their operands. Tuples are handled element by element."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import apply, choice, conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variables
from streamcheck.core.types import (
    BOOL,
    INT,
    REAL,
    ArrayType,
    EnumType,
    MachineType,
    StructType,
    Type,
    array_of,
    machine,
)
from streamcheck.frontends.lustre.containers import Containers
from streamcheck.frontends.lustre.datatypes import construct, has_constructor, is_union, selection
from streamcheck.frontends.lustre.declarations import LustreDeclarations, type_of_number
from streamcheck.frontends.lustre.scopes import LustreScope, TermOrTuple
from streamcheck.frontends.lustre.syntax import ExpressionText
from streamcheck.frontends.operations import (
    NUMBERS,
    WHOLE_NUMBERS,
    WORDS,
    UnknownMaker,
    arithmetic,
    cast,
    compare,
    convert,
    divide,
    equal,
    logic,
    require_kind,
    require_same_type,
    struct_part,
)

COMPARISONS = frozenset(("lt", "le", "gt", "ge"))
LOGIC = frozenset(("and", "or", "xor", "implies"))
ARITHMETIC = frozenset(("add", "sub", "mul"))
SET_OPERATIONS = {"add": "+", "mul": "*", "sub": "-"}
DIVISIONS = frozenset(("intdiv", "mod", "div"))


def apply_operation(
    e: ExpressionText, args: list[Any], scope: LustreScope, declarations: LustreDeclarations
) -> TermOrTuple:
    """The value of a strict operation for the values of its operands."""
    op = e.op
    if op == "number":
        return _number(e.value)
    if op == "bool":
        return TRUE if e.value else FALSE
    if op == "tuple":
        return tuple(part for a in args for part in (a if isinstance(a, tuple) else (a,)))
    if op in ("if", "lazy", "arrow", "merge"):
        return _choose(e, args, scope)
    if op in ("eq", "ne") and isinstance(args[0], tuple):
        return _equal_tuples(op, args, declarations)
    for a in args:
        if isinstance(a, tuple):
            raise TypeRule(f"expected one value, found {len(a)}")
    return _one_value(e, args, scope, declarations)


def _number(text: str) -> Term:
    if type_of_number(text) is INT:
        return constant(INT, int(text, 0 if text.startswith("0x") else 10))
    if not text.startswith("0x"):
        return constant(REAL, Fraction(text))
    digits, _, exponent = text[2:].partition("p")
    whole, _, part = digits.partition(".")
    mantissa = Fraction(int(f"{whole}{part}" or "0", 16), 16 ** len(part))
    return constant(REAL, mantissa * Fraction(2) ** int(exponent or 0))


def _choose(e: ExpressionText, args: list[Any], scope: LustreScope) -> TermOrTuple:
    if e.op == "arrow":
        return choose_each(scope.context.first, args[0], args[1])
    condition = args[0]
    if e.op == "merge":
        return _merge(e, condition, args[1:])
    if isinstance(condition, tuple):
        raise TypeRule(f"the condition: expected one value, found {len(condition)}")
    if condition.type is not BOOL:
        raise TypeRule(f"the condition: expected bool, found {condition.type}")
    return choose_each(condition, args[1], args[2])


def choose_each(condition: Term, a: TermOrTuple, b: TermOrTuple) -> TermOrTuple:
    if isinstance(a, tuple) or isinstance(b, tuple):
        if not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)):
            raise TypeRule("the two sides have different numbers of values")
        return tuple(_choice(condition, x, y) for x, y in zip(a, b, strict=True))
    return _choice(condition, a, b)


def _choice(condition: Term, a: Term, b: Term) -> Term:
    if a.type is not b.type:
        raise TypeRule(f"{a.type} and {b.type} are different types")
    return choice(condition, a, b)


def _merge(e: ExpressionText, clock: Term, values: list[Any]) -> TermOrTuple:
    members = e.value
    if clock.type is BOOL:
        branches = dict(zip(members, values, strict=True))
        if set(branches) != {"true", "false"}:
            raise TypeRule("a merge over a Boolean needs one branch for true and one for false")
        return choose_each(clock, branches["true"], branches["false"])
    if not isinstance(clock.type, EnumType):
        raise TypeRule(f"expected a clock of type bool or of an enum, found {clock.type}")
    codes = dict(clock.type.members)
    if sorted(members) != sorted(codes):
        raise TypeRule(f"a merge over {clock.type} needs one branch for each of {', '.join(codes)}")
    result = values[-1]
    for member, value in zip(members[-2::-1], values[-2::-1], strict=True):
        result = choose_each(equal(clock, constant(clock.type, codes[member])), value, result)
    return result  # type: ignore[no-any-return]


def _equal_tuples(op: str, args: list[Any], declarations: LustreDeclarations) -> Term:
    if not isinstance(args[1], tuple) or len(args[0]) != len(args[1]):
        raise TypeRule("the two sides have different numbers of values")
    result = TRUE
    for a, b in zip(*args, strict=True):
        result = logic("and", result, declarations.containers.equal(a, b))
    return result if op == "eq" else negation(result)


def _one_value(e: ExpressionText, args: list[Term], scope: LustreScope, declarations: LustreDeclarations) -> Term:
    op, containers = e.op, declarations.containers
    if op in LOGIC:
        return logic(op, args[0], args[1])
    if op in ("eq", "ne"):
        same = containers.equal(args[0], args[1])
        return negation(same) if op == "ne" else same
    if op in SET_OPERATIONS and containers.is_container(args[0].type):
        return containers.combine(SET_OPERATIONS[op], args[0], args[1])
    if op in COMPARISONS:
        return compare(op, args[0], args[1])
    if op in ARITHMETIC:
        return arithmetic(op, args[0], args[1])
    if op in DIVISIONS:
        if op == "div" and args[0].type is INT:
            op = "intdiv"
        return divide(op, args[0], args[1], declarations.variables.undefined_results(e, scope))
    if op in ("bitand", "bitor"):
        return _bits(op, args[0], args[1])
    if op in ("lsh", "rsh"):
        return _shift(op, args[0], args[1])
    if op == "concat":
        return _concat(args[0], args[1])
    if op == "bits":
        return _slice(args[0], *e.value)
    if op == "power":
        return _repeat(args[0], args[1], containers)
    if op in ("not", "neg", "bitnot") or op.startswith("to "):
        return _unary(e, args[0])
    return _composite(e, args, scope, declarations)


def _unary(e: ExpressionText, a: Term) -> Term:
    match e.op:
        case "not":
            require_kind(a.type, "bool", what="bool")
            return negation(a)
        case "neg":
            require_kind(a.type, *NUMBERS, what="numbers")
            return apply("neg", a)
        case "bitnot":
            require_kind(a.type, *WORDS, what="machine integers")
            return apply("bitnot", a)
        case "to int":
            return convert(INT, a)
        case "to real":
            return convert(REAL, a)
    width, signed = e.value
    return convert(machine(width, signed=signed), a)


def _repeat(value: Term, length: Term, containers: Containers) -> Term:
    if length.type is not INT or any(containers.moves(v) for v in variables([length])):
        raise TypeRule("the length of an array must be a constant")
    if not length.is_const:
        return containers.fill(value, length)
    if length.payload < 1:
        raise TypeRule("the length of an array must be at least 1")
    return term("array", *[value] * length.payload, payload=array_of(value.type, length.payload))


def _composite(e: ExpressionText, args: list[Term], scope: LustreScope, declarations: LustreDeclarations) -> Term:
    match e.op:
        case "array":
            if any(a.type is not args[0].type for a in args):
                raise TypeRule("the elements have different types")
            return term("array", *args, payload=array_of(args[0].type, len(args)))
        case "index" if declarations.containers.is_container(args[0].type):
            return declarations.containers.at(args[0], args[1])
        case "index":
            if declarations.file.is_jkind:
                return _element(args[0], args[1], _last_element)
            return _element(args[0], args[1], declarations.variables.undefined_results(e, scope))
        case "in":
            return _contains(args[0], args[1], declarations)
        case "set" | "map":
            return _container(e, args, scope, declarations)
        case "update" if declarations.containers.is_container(args[0].type):
            result = args[0]
            for key, value in zip(args[1::2], args[2::2], strict=True):
                result = declarations.containers.put(result, key, value)
            return result
        case "update":
            result = args[0]
            for index, value in zip(args[1::2], args[2::2], strict=True):
                result = _update(result, index, value)
            return result
        case "record":
            return _record(e, args, scope, declarations)
        case "field" if is_union(args[0].type):
            return selection(args[0], e.value, declarations.variables.undefined_results(e, scope))
        case "field":
            return _field(args[0], e.value)
        case "construct":
            type = declarations.union_type(e, scope, [a.type for a in args])
            assert isinstance(type, StructType)
            return construct(type, e.value[0], args)
        case "test":
            return has_constructor(args[0], e.value)
        case "tuple value":
            return term("struct", *args, payload=declarations.tuple_type([a.type for a in args]))
        case "ascribe":
            return _ascription(e, args[0], scope, declarations)
    raise AssertionError(e.op)


def _contains(key: Term, container: Term, declarations: LustreDeclarations) -> Term:
    if not declarations.containers.is_container(container.type) or declarations.containers.is_array(container.type):
        raise TypeRule(f"expected a set or a map, found {container.type}")
    return declarations.containers.has(container, key)


def _container(e: ExpressionText, args: list[Term], scope: LustreScope, declarations: LustreDeclarations) -> Term:
    """`{a, b}` or `map[a := v; b := w]`."""
    result = declarations.containers.empty(declarations.container_type(e, scope, [a.type for a in args]))
    keys, values = (args, [None] * len(args)) if e.op == "set" else (args[::2], args[1::2])
    for key, value in zip(keys, values, strict=True):
        result = declarations.containers.put(result, key, value)
    return result


def _ascription(e: ExpressionText, value: Term, scope: LustreScope, declarations: LustreDeclarations) -> Term:
    """The value, which must have the type here: what it restricts is a claim."""
    shape = declarations.shape(e.value, scope)
    if shape.type is not value.type:
        raise TypeRule(f"expected {shape.type}, found {value.type}")
    if shape.is_bounded:
        declarations.ascriptions[id(e), scope] = (shape, value, e.at)
    return value


def _field(record: Term, name: str) -> Term:
    if not isinstance(record.type, StructType) or record.type.form != "record" or name not in dict(record.type.fields):
        raise TypeRule(f"{record.type} has no field {name}")
    position = record.type.position(name)
    return record.args[position] if record.op == "struct" else term("field", record, payload=position)


def _record(e: ExpressionText, args: list[Term], scope: LustreScope, declarations: LustreDeclarations) -> Term:
    text, fields = e.value
    name = text.value if text.kind == "name" else text.value[0]
    type = declarations.record_type(e, scope, [a.type for a in args])
    if not isinstance(type, StructType) or type.form != "record":
        raise TypeRule(f"{name} is not a record type")
    given = dict(zip(fields, args, strict=True))
    if set(given) != {n for n, _ in type.fields} or len(given) != len(fields):
        raise TypeRule(f"{name} has the fields {', '.join(n for n, _ in type.fields)}")
    for n, t in type.fields:
        if given[n].type is not t:
            raise TypeRule(f"field {n}: expected {t}, found {given[n].type}")
    return term("struct", *(given[n] for n, _ in type.fields), payload=type)


def updated_record(record: Any, values: dict[str, Any]) -> Term:
    """The record with other values in some of its fields."""
    type = record.type
    fields = dict(type.fields)
    for name, value in values.items():
        if name not in fields:
            raise TypeRule(f"{type} has no field {name}")
        if isinstance(value, tuple) or value.type is not fields[name]:
            actual = "several values" if isinstance(value, tuple) else value.type
            raise TypeRule(f"field {name}: expected {fields[name]}, found {actual}")
    return term("struct", *(values.get(n) or struct_part(record, i) for i, n in enumerate(fields)), payload=type)


# Machine integers and arrays


def _bits(op: str, a: Term, b: Term) -> Term:
    require_same_type(a, b)
    require_kind(a.type, *WORDS, what="machine integers", hint="Booleans have `and` and `or`")
    return apply(op, a, b)


def _concat(a: Term, b: Term) -> Term:
    """The bits of a, then those of b."""
    require_kind(a.type, "unsigned", what="unsigned machine integers")
    require_kind(b.type, "unsigned", what="unsigned machine integers")
    assert isinstance(a.type, MachineType) and isinstance(b.type, MachineType)
    both = machine(a.type.width + b.type.width, signed=False)
    high = apply("shl", cast(both, a), constant(both, b.type.width))
    return apply("bitor", high, cast(both, b))


def _slice(a: Term, high: int, low: int) -> Term:
    """The bits from number high to number low; the lowest is number 0."""
    require_kind(a.type, "unsigned", what="an unsigned machine integer")
    assert isinstance(a.type, MachineType)
    if not low <= high < a.type.width:
        raise TypeRule(f"{a.type} has the bits {a.type.width - 1} to 0, not {high} to {low}")
    return cast(machine(high - low + 1, signed=False), apply("shr", a, constant(a.type, low)))


def _shift(op: str, a: Term, b: Term) -> Term:
    require_kind(a.type, *WORDS, what="machine integers")
    require_kind(b.type, *WORDS, what="machine integers")
    if isinstance(a.type, MachineType) and isinstance(b.type, MachineType) and a.type.width != b.type.width:
        raise TypeRule(f"{a.type} and {b.type} have different widths")
    if isinstance(b.type, MachineType) and b.type.signed:  # the amount's bits are read as unsigned
        b = cast(machine(b.type.width, signed=False), b)
    return apply("shl" if op == "lsh" else "shr", a, b)


def _element(array: Term, index: Term, unknown: UnknownMaker) -> Term:
    if isinstance(array.type, StructType) and array.type.form == "tuple":
        return _item(array, array.type, index)
    if not isinstance(array.type, ArrayType):
        raise TypeRule(f"expected an array or a tuple, found {array.type}")
    require_kind(index.type, *WHOLE_NUMBERS, what="an integer index")
    length = array.type.length
    if index.is_const:
        if not 0 <= index.payload < length:
            raise TypeRule(f"index {index.payload} is outside {array.type}, whose indices are 0 to {length - 1}")
        return array.args[index.payload] if array.op == "array" else term("index", array, index)
    inside = _inside(index, length)
    value = term("index", array, index)
    return value if inside is TRUE else choice(inside, value, unknown("index", array, index, array.type.element))


def _item(value: Term, type: StructType, index: Term) -> Term:
    """One value of a tuple."""
    if not index.is_const or index.type is not INT or not 0 <= index.payload < len(type.fields):
        raise TypeRule(
            f"the index of a tuple of {len(type.fields)} values is a number from 0 to {len(type.fields) - 1}"
        )
    return struct_part(value, index.payload)


def _last_element(_op: str, array: Term, _index: Term, _type: Type) -> Term:
    """The element at an index out of range, in JKind."""
    assert isinstance(array.type, ArrayType)
    return term("index", array, constant(INT, array.type.length - 1))


def _update(array: Term, index: Term, value: Term) -> Term:
    """The array with one element replaced; an update out of range changes nothing."""
    if not isinstance(array.type, ArrayType):
        raise TypeRule(f"expected an array, found {array.type}")
    require_kind(index.type, *WHOLE_NUMBERS, what="an integer index")
    if value.type is not array.type.element:
        raise TypeRule(f"an element of {array.type}: expected {array.type.element}, found {value.type}")
    return choice(_inside(index, array.type.length), term("update", array, index, value), array)


def _inside(index: Term, length: int) -> Term:
    type = index.type
    low = TRUE if isinstance(type, MachineType) and not type.signed else apply("ge", index, constant(type, 0))
    if isinstance(type, MachineType) and type.high < length:
        return low
    return conjunction(low, apply("lt", index, constant(type, length)))
