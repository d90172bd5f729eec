"""The types of expressions that are not evaluated: operands of sizeof, branches of which only one is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamcheck.frontends.minic import kinds
from streamcheck.frontends.minic.arithmetic import Value
from streamcheck.frontends.minic.kinds import Array, Floating, Integer, Kind, Pointer, Struct
from streamcheck.frontends.minic.places import Place
from streamcheck.frontends.minic.scopes import PointerVariable

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions


def type_of(to: Expressions, node: Any) -> Kind:
    match node.__class__.__name__:
        case "Typename":
            return to.types.of(node, to.scope)
        case "Cast":
            return to.types.of(node.to_type, to.scope)
        case "ID":
            found = to.scope.find(node.name)
            if isinstance(found, Value | Place | PointerVariable):
                return found.kind
        case "Constant" if not node.value.startswith('"'):
            literal = to.value(node)
            assert isinstance(literal, Value)
            return literal.kind
        case "Assignment":
            return type_of(to, node.lvalue)
        case "ExprList":
            return type_of(to, node.exprs[-1])
        case "FuncCall":
            return to.calls.result_of(node)
        case "BinaryOp" | "TernaryOp" | "UnaryOp":
            return _of_operation(to, node)
        case "ArrayRef":
            outer = type_of(to, node.name)
            if isinstance(outer, Array | Pointer):
                return outer.element if isinstance(outer, Array) else outer.target
        case "StructRef":
            outer = type_of(to, node.name)
            outer = outer.target if isinstance(outer, Pointer) else outer
            inner = outer.field(node.field.name) if isinstance(outer, Struct) else None
            if inner is not None:
                return inner
    raise to.refused(f"{to.text(node)} has no type that is known", node)


def _of_operation(to: Expressions, node: Any) -> Kind:
    form = node.__class__.__name__
    if form == "UnaryOp":
        if node.op == "sizeof":
            return kinds.ULONG
        kind = type_of(to, node.expr)
        if node.op == "*" and isinstance(kind, Array | Pointer):
            return kind.element if isinstance(kind, Array) else kind.target
        if node.op == "&":
            return Pointer(kind)
        if "++" in node.op or "--" in node.op:
            return kind
        return kinds.INT if node.op == "!" else kinds.promoted(kind) if isinstance(kind, Integer) else kind
    if form == "BinaryOp" and node.op in ("&&", "||", "==", "!=", "<", "<=", ">", ">="):
        return kinds.INT
    sides = (node.left, node.right) if form == "BinaryOp" else (node.iftrue, node.iffalse)
    a, b = (type_of(to, side) for side in sides)
    if form == "BinaryOp" and node.op in ("<<", ">>") and isinstance(a, Integer):
        return kinds.promoted(a)
    if isinstance(a, Integer | Floating) and isinstance(b, Integer | Floating):
        return kinds.common(a, b)
    return a
