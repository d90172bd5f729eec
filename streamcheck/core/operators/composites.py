"""Rows: arrays and structs. An out-of-range index uses the nearest valid one.

Solvers and C statements see elements, not composites: these rows have no SMT form (`transform.scalars` expands
them), and only reading one element is a C expression.
"""

from __future__ import annotations

from streamcheck.core.c_names import member_name
from streamcheck.core.operators.table import Operator, Signature, TypeRule, require
from streamcheck.core.types import ArrayType, MachineType, StructType, Type, plural


def _array(args: tuple[Type, ...], target: object) -> Type:
    assert isinstance(target, ArrayType)
    if len(args) != target.length and len(args) != 1:  # one operand is every element
        raise TypeRule(f"expected {plural(target.length, 'element')} for {target}, found {len(args)}")
    for i, t in enumerate(args):
        if t is not target.element:
            raise TypeRule(f"element {i}: expected {target.element}, found {t}")
    return target


def _struct(args: tuple[Type, ...], target: object) -> Type:
    assert isinstance(target, StructType)
    for (name, wanted), t in zip(target.fields, args, strict=True):
        if t is not wanted:
            raise TypeRule(f"field `{name}`: expected {wanted}, found {t}")
    return target


def _tuple(s: Signature) -> str:
    raise TypeError("arrays and structs of any length are built by the evaluator itself")


def _element(args: tuple[Type, ...], _: object) -> Type:
    array = args[0]
    if not isinstance(array, ArrayType):
        raise TypeRule(f"expected an array, found {array}")
    require(args[1], "unsigned signed integer", "an integer index")
    return array.element


def _update(args: tuple[Type, ...], _: object) -> Type:
    element = _element(args[:2], None)
    if args[2] is not element:
        raise TypeRule(f"an element of {args[0]}: expected {element}, found {args[2]}")
    return args[0]


def _field(args: tuple[Type, ...], position: object) -> Type:
    assert isinstance(args[0], StructType) and isinstance(position, int)
    return args[0].fields[position][1]


def _with_field(args: tuple[Type, ...], position: object) -> Type:
    wanted = _field(args[:1], position)
    if args[1] is not wanted:
        assert isinstance(args[0], StructType) and isinstance(position, int)
        raise TypeRule(f"field `{args[0].fields[position][0]}`: expected {wanted}, found {args[1]}")
    return args[0]


def _position(s: Signature) -> int:
    assert isinstance(s.payload, int)
    return s.payload


def _field_c(s: Signature) -> str:
    assert isinstance(s.args[0], StructType)
    return f"a.{member_name(s.args[0].fields[_position(s)][0])}"


def _clamped_index(s: Signature) -> str:
    index = s.args[1]
    unsigned = isinstance(index, MachineType) and not index.signed
    return "min(b, {last})" if unsigned else "min(max(b, 0), {last})"


def _clamped_index_c(s: Signature) -> str:
    assert isinstance(s.args[0], ArrayType)
    last = s.args[0].length - 1
    index = s.args[1]
    if isinstance(index, MachineType) and not index.signed:
        return f"b < {last}u ? b : {last}u" if index.high > last else "b"
    return f"b < 0 ? 0 : b < {last} ? b : {last}"


ROWS = (
    Operator("array", "[…]", _array, _tuple, None, None),
    Operator("struct", "{…}", _struct, _tuple, None, None),
    Operator(
        "index",
        "a[b]",
        _element,
        lambda s: f"a[{_clamped_index(s)}]",
        None,
        lambda s: f"a[{_clamped_index_c(s)}]",
        requires="index in range",
    ),
    Operator(
        "update",
        "a.set(b, c)",
        _update,
        lambda s: f"with_element(a, {_clamped_index(s)}, c)",
        None,
        None,
        requires="index in range",
    ),
    Operator("field", "a.", _field, lambda s: f"a[{_position(s)}]", None, _field_c),
    Operator("with_field", "a.set(b)", _with_field, lambda s: f"with_element(a, {_position(s)}, b)", None, None),
)
