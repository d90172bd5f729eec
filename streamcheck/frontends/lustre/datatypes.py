"""Algebraic data types: constructors, testers, selectors and patterns, on terms.

    datatype Shape = Circle (radius: real) | Rectangle (width: real, height: real) | Point;

is a struct of the form `union`: the enum of the constructors, then a struct for each constructor with fields. The
fields of the other constructors may have any value; nothing reads them: equality compares those of the constructor
that both values have (`operations.equal`), and a selector of another constructor gives any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import choice
from streamcheck.core.term import TRUE, Term, constant, term
from streamcheck.core.types import EnumType, StructType, Type, default, enum_of, struct_of
from streamcheck.frontends.lustre.syntax import CasePattern
from streamcheck.frontends.operations import UnknownMaker, equal, struct_part


def union_of(name: str, constructors: Sequence[tuple[str, tuple[tuple[str, Type], ...]]]) -> StructType:
    """The type with these constructors, each with its fields."""
    names = [constructor for constructor, _ in constructors]
    tag = "tag"
    while tag in names:
        tag += "_"
    enum = enum_of(f"{name}_{tag}", tuple((constructor, i) for i, constructor in enumerate(names)))
    payloads = tuple((c, struct_of(f"{name}_{c}", fields)) for c, fields in constructors if fields)
    return struct_of(name, ((tag, enum), *payloads), "union")


def constructors_of(type: StructType) -> list[str]:
    enum = type.fields[0][1]
    assert isinstance(enum, EnumType)
    return [name for name, _ in enum.members]


def fields_of(type: StructType, constructor: str) -> tuple[tuple[str, Type], ...]:
    payload = dict(type.fields[1:]).get(constructor)
    return payload.fields if isinstance(payload, StructType) else ()


def is_union(type: Type) -> bool:
    return isinstance(type, StructType) and type.form == "union"


def construct(type: StructType, constructor: str, values: Sequence[Term]) -> Term:
    """The value with this constructor; fields of other constructors are zero."""
    fields = fields_of(type, constructor)
    if len(values) != len(fields):
        raise TypeRule(f"{constructor} has {len(fields)} fields, and {len(values)} values are given")
    for (name, due), value in zip(fields, values, strict=True):
        if value.type is not due:
            raise TypeRule(f"field {name} of {constructor}: expected {due}, found {value.type}")
    parts = [constant(type.fields[0][1], _code(type, constructor))]
    for name, payload in type.fields[1:]:
        parts.append(
            term("struct", *values, payload=payload) if name == constructor else constant(payload, default(payload))
        )
    return term("struct", *parts, payload=type)


def has_constructor(value: Term, constructor: str) -> Term:
    """True if the value was made with this constructor."""
    type = value.type
    if not isinstance(type, StructType) or type.form != "union":
        raise TypeRule(f"expected a data type, found {type}")
    if constructor not in constructors_of(type):
        raise TypeRule(f"{type} has no constructor {constructor}")
    if len(constructors_of(type)) == 1:
        return TRUE
    return equal(struct_part(value, 0), constant(type.fields[0][1], _code(type, constructor)))


def selection(value: Term, field: str, unknown: UnknownMaker) -> Term:
    """The field, of the one constructor that has it; any value if the value has another constructor."""
    assert isinstance(value.type, StructType)
    owner = _owner(value.type, field)
    names = [name for name, _ in fields_of(value.type, owner)]
    content = struct_part(_payload(value, owner), names.index(field))
    has_field = has_constructor(value, owner)
    if has_field is TRUE:
        return content
    return choice(has_field, content, unknown("field", value, content, content.type))


def field_type(type: Type, field: str) -> Type:
    assert isinstance(type, StructType)
    return dict(fields_of(type, _owner(type, field)))[field]


def _owner(type: StructType, field: str) -> str:
    """The constructor that has the field."""
    owners = [c for c in constructors_of(type) if field in dict(fields_of(type, c))]
    if not owners:
        raise TypeRule(f"no constructor of {type} has a field {field}")
    if len(owners) > 1:
        raise TypeRule(f"{field} is a field of {' and of '.join(owners)}: use `match`")
    return owners[0]


def _payload(value: Term, constructor: str) -> Term:
    assert isinstance(value.type, StructType)
    return struct_part(value, value.type.position(constructor))


def _code(type: StructType, constructor: str) -> int:
    return constructors_of(type).index(constructor)


# Patterns


def is_variable(pattern: CasePattern, constructors: dict[str, str]) -> bool:
    return pattern.parts is None and pattern.name not in constructors


def bound_names(pattern: CasePattern, constructors: dict[str, str]) -> Iterator[str]:
    if pattern.parts is not None:
        for part in pattern.parts:
            yield from bound_names(part, constructors)
    elif pattern.name not in constructors and pattern.name != "_":
        yield pattern.name


def constraints_of(
    pattern: CasePattern, value: Term, constructors: dict[str, str]
) -> tuple[list[Term], dict[str, Term]]:
    """The conditions on a value that the pattern matches, and the values of the variables in it."""
    if is_variable(pattern, constructors):
        return [], {} if pattern.name == "_" else {pattern.name: value}
    type, parts = value.type, pattern.parts or ()
    has_it = has_constructor(value, pattern.name)
    assert isinstance(type, StructType)
    fields = fields_of(type, pattern.name)
    if len(parts) != len(fields):
        raise TypeRule(f"{pattern.name} has {len(fields)} fields, and this pattern has {len(parts)}")
    conditions, names = [] if has_it is TRUE else [has_it], dict[str, Term]()
    for i, part in enumerate(parts):
        more, bound = constraints_of(part, struct_part(_payload(value, pattern.name), i), constructors)
        if twice := names.keys() & bound.keys():
            raise TypeRule(f"{min(twice)} is in the pattern twice")
        conditions += more
        names |= bound
    return conditions, names


def missing_case(patterns: Sequence[CasePattern], type: Type, constructors: dict[str, str]) -> str | None:
    """A value that no pattern matches, as text; None if there is none."""
    missing = _missing([[p] for p in patterns], [type], constructors)
    return None if missing is None else missing[0]


def _missing(rows: list[list[CasePattern]], types: list[Type], constructors: dict[str, str]) -> list[str] | None:
    """Values of these types that no row of patterns matches; None if there are none."""
    if not types:
        return None if rows else []
    type, rest = types[0], types[1:]
    if not isinstance(type, StructType) or all(is_variable(row[0], constructors) for row in rows):
        missing = _missing([row[1:] for row in rows], rest, constructors)
        return None if missing is None else ["_", *missing]
    any_value = CasePattern("_", None, 0)
    for constructor in constructors_of(type):
        fields = fields_of(type, constructor)
        inner = [
            [*([any_value] * len(fields) if is_variable(row[0], constructors) else row[0].parts or ()), *row[1:]]
            for row in rows
            if is_variable(row[0], constructors) or row[0].name == constructor
        ]
        missing = _missing(inner, [*(t for _, t in fields), *rest], constructors)
        if missing is not None:
            shown = f"{constructor}({', '.join(missing[: len(fields)])})" if fields else constructor
            return [shown, *missing[len(fields) :]]
    return None
