"""The kinds of expressions that are not evaluated: operands of sizeof, branches of which only one is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamcheck.c.arithmetic import CValue
from streamcheck.c.declarations import ANONYMOUS, Function, NameScope, PointerVariable, Typedef
from streamcheck.c.initial import ArrayLiteral, string
from streamcheck.c.initial import kind_of as initial_kind
from streamcheck.c.kinds import VOID, AnyKind, Array, Floating, FunctionType, Integer, Pointer, Struct
from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.c.syntax import called_name, form, is_first_or_second

if TYPE_CHECKING:
    from streamcheck.c.expressions import Evaluator

STATEMENTS = (
    "Compound If While DoWhile For Switch Case Default Return Break Continue Goto Label Decl DeclList Typedef Pragma"
    " EmptyStatement StaticAssert"
).split()


def kind_of(to: Evaluator, node: Any) -> AnyKind:
    """The kind of the value of an expression, or of a type name."""
    match form(node):
        case "Typename":
            return to.declarations.kind_of(node, to.scope)
        case "CompoundLiteral":
            if form(node.type.type) == "ArrayDecl" and node.type.type.dim is None:
                return initial_kind(ArrayLiteral("the literal", node.type.type, node.init), to)
            return to.declarations.complete(to.declarations.kind_of(node.type, to.scope))
        case "Cast":
            return to.declarations.kind_of(node.to_type, to.scope)
        case "ID":
            meaning = to.scope.meaning(node.name)
            if isinstance(meaning, CValue | Lvalue | PointerVariable):
                return meaning.kind
            if isinstance(meaning, Function):
                return Pointer(code_of(meaning))
        case "Constant" if not node.value.startswith('"'):
            literal = to.value(node)
            assert isinstance(literal, CValue)
            return literal.kind
        case "Constant" if node.type == "string":
            return Array(to.model.CHAR, len(string(node, to)))
        case "Assignment":
            return kind_of(to, node.lvalue)
        case "ExprList":
            last = kind_of(to, node.exprs[-1])
            return Pointer(last.element) if isinstance(last, Array) else last  # 6.3.2.1
        case "Compound":
            return _of_statements(to, node)
        case "FuncCall" if called_name(node) == "offsetof":
            return to.model.size
        case "FuncCall":
            return to.result_kind(node)
        case "TernaryOp" if is_first_or_second(node):
            a, b = (kind_of(to, side) for side in (node.cond, node.iffalse))
            return (
                to.model.common(a, b) if isinstance(a, Integer | Floating) and isinstance(b, Integer | Floating) else a
            )
        case "BinaryOp" | "TernaryOp" | "UnaryOp":
            return _of_operation(to, node)
        case "ArrayRef":
            outer = kind_of(to, node.name)
            if isinstance(outer, Array | Pointer):
                return to.declarations.complete(outer.element if isinstance(outer, Array) else outer.target)
        case "StructRef":
            outer = kind_of(to, node.name)
            outer = to.declarations.complete(outer.target if isinstance(outer, Pointer) else outer)
            inner = outer.field(node.field.name) if isinstance(outer, Struct) else None
            if inner is None and isinstance(outer, Struct):
                parts = (k for n, k in outer.fields if n.startswith(ANONYMOUS) and isinstance(k, Struct))
                inner = next((k for part in parts if (k := part.field(node.field.name)) is not None), None)
            if inner is not None:
                return inner
    raise to.error(f"{to.text(node)} has no known type", node)


def code_of(function: Function) -> FunctionType:
    return FunctionType(function.result, tuple(kind for _, kind in function.parameters))


def _of_statements(to: Evaluator, node: Any) -> AnyKind:
    """The kind of ({ … }): that of its last expression, which reads variables that it declares."""
    outer, to.scope = to.scope, NameScope(to.scope)
    try:
        for part in node.block_items or ():
            if form(part) == "Typedef":
                to.scope.names[part.name] = Typedef(to.declarations.typedef_kind(part, to.scope))
            elif form(part) == "Decl" and form(part.type) != "FuncDecl":
                kind = initial_kind(part, to) if part.name is not None else to.declarations.kind_of(part, to.scope)
                if part.name is not None:
                    to.scope.names[part.name] = Lvalue(Object(part.name, kind), kind)
        last = node.block_items[-1] if node.block_items else None
        if form(last) in ("NoneType", *STATEMENTS):
            return VOID
        kind = kind_of(to, last)
        return Pointer(kind.element) if isinstance(kind, Array) else kind
    finally:
        to.scope = outer


def _of_operation(to: Evaluator, node: Any) -> AnyKind:
    shape = form(node)
    if shape == "UnaryOp":
        if node.op in ("sizeof", "_Alignof"):
            return to.model.size
        kind = kind_of(to, node.expr)
        if node.op == "*" and isinstance(kind, Array | Pointer):
            target = to.declarations.complete(kind.element if isinstance(kind, Array) else kind.target)
            return kind if isinstance(target, FunctionType) else target
        if node.op == "&":
            is_function = (
                isinstance(kind, Pointer) and isinstance(kind.target, FunctionType) and form(node.expr) == "ID"
            )
            if is_function and isinstance(to.scope.meaning(node.expr.name), Function):
                return kind
            return Pointer(kind)
        if "++" in node.op or "--" in node.op:
            return kind
        return to.model.INT if node.op == "!" else to.model.promote(kind) if isinstance(kind, Integer) else kind
    if shape == "BinaryOp" and node.op in ("&&", "||", "==", "!=", "<", "<=", ">", ">="):
        return to.model.INT
    sides = (node.left, node.right) if shape == "BinaryOp" else (node.iftrue, node.iffalse)
    a, b = (kind_of(to, side) for side in sides)
    if shape == "BinaryOp" and node.op in ("<<", ">>") and isinstance(a, Integer):
        return to.model.promote(a)
    if isinstance(a, Integer | Floating) and isinstance(b, Integer | Floating):
        return to.model.common(a, b)
    a, b = (Pointer(side.element) if isinstance(side, Array) else side for side in (a, b))  # 6.3.2.1
    if isinstance(a, Pointer) and isinstance(b, Pointer) and shape == "BinaryOp":
        return to.model.difference
    if isinstance(a, Pointer) and isinstance(b, Pointer) and a.target == VOID:
        return b
    return b if isinstance(b, Pointer) else a
