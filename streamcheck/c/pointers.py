"""Pointers whose object is known when the program is read.

A pointer is an lvalue, or an lvalue of an array and an offset into it. The lvalue never changes: a pointer that is
assigned may move within its array. This is what parameters of functions and loops over an array need; a pointer into
different variables at different times is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from streamcheck.c import kinds
from streamcheck.c.arithmetic import SUMS, CValue, SideCondition
from streamcheck.c.declarations import CResult, Pointee, PointerVariable, Updated
from streamcheck.c.kinds import Array, Integer, Pointer
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.terms import recast
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant

if TYPE_CHECKING:
    from streamcheck.c.expressions import Evaluator


def terms_of(operand: CResult) -> list[Term]:
    """The parts of an operand that side effects may change."""
    match operand:
        case CValue():
            return [operand.term]
        case Lvalue():
            return list(operand.indices)
        case Pointee():
            return [*operand.lvalue.indices, *([operand.offset.term] if operand.offset else [])]
        case Updated():
            return [*terms_of(operand.lvalue), *terms_of(operand.before)]
        case None:
            return []
    assert_never(operand)


def with_terms(operand: CResult, terms: Sequence[Term]) -> CResult:
    """The operand with other parts, in the order of `terms_of`."""
    match operand:
        case CValue():
            return CValue(operand.kind, terms[0])
        case Lvalue():
            return replace(operand, indices=tuple(terms))
        case Pointee():
            count = len(operand.lvalue.indices)
            offset = CValue(operand.offset.kind, terms[count]) if operand.offset else None
            return replace(operand, lvalue=replace(operand.lvalue, indices=tuple(terms[:count])), offset=offset)
        case Updated():
            count = len(operand.lvalue.indices)
            lvalue = replace(operand.lvalue, indices=tuple(terms[:count]))
            return Updated(lvalue, with_terms(operand.before, terms[count:]))
        case None:
            return None
    assert_never(operand)


def pointee_of(operand: CResult, to: Evaluator, node: Any) -> Pointee:
    """A pointer. An array stands for one to its first element (6.3.2.1)."""
    if isinstance(operand, Lvalue) and isinstance(operand.kind, Array):
        return Pointee(operand, to.arithmetic.number(kinds.LONG, 0))
    if not isinstance(operand, Pointee):
        raise to.error(f"{to.text(node)}: the target of this pointer is not known when the program is read", node)
    return operand


def dereference(operand: CResult, to: Evaluator, node: Any) -> Lvalue:
    """The lvalue that a pointer points to. Its index must be in bounds: any value stands for no target."""
    pointee = pointee_of(operand, to, node)
    to.require_alive(pointee.lvalue)
    if pointee.offset is None:
        return pointee.lvalue
    condition = SideCondition.INDEX if pointee.sure else SideCondition.TARGET
    if not isinstance(pointee.lvalue.kind, Array):
        to.arithmetic.index(pointee.offset, 1, condition)
        return pointee.lvalue
    return pointee.lvalue.element(to.arithmetic.require_element(pointee.offset, pointee.lvalue.kind, condition))


def address(lvalue: Lvalue, to: Evaluator) -> Pointee:
    """&x. &a[i] is a pointer into a."""
    if not lvalue.indices or isinstance(lvalue.kind, Array):
        return Pointee(lvalue)
    array, _ = lvalue.last_array()
    outer = replace(lvalue, kind=replace(array, element=lvalue.kind), indices=lvalue.indices[:-1])
    return Pointee(outer, CValue(kinds.LONG, recast(lvalue.indices[-1], to.arithmetic.type_of(kinds.LONG))))


def move(operand: CResult, by: CValue, op: str, to: Evaluator) -> Pointee:
    """A pointer some elements further, in its array or at its end (6.5.6)."""
    pointee = shift(operand, by, op, to)
    if pointee.offset is not None and pointee != operand:
        array = pointee.lvalue.kind if isinstance(pointee.lvalue.kind, Array) else Array(pointee.lvalue.kind, 1)
        to.arithmetic.require_element(pointee.offset, array, SideCondition.POINTER, end=True)
        old = operand.offset if isinstance(operand, Pointee) else None
        if old is not None:  # so that the sum has not wrapped around
            to.arithmetic.require_element(old, array, SideCondition.POINTER, end=True)
    return pointee


def element_at(operand: CResult, index: CValue, to: Evaluator, node: Any) -> Lvalue:
    """p[i]. Its index must be in bounds."""
    return dereference(shift(operand, index, "+", to), to, node)


def shift(operand: CResult, by: CValue, op: str, to: Evaluator) -> Pointee:
    """A pointer some elements further, which may be anywhere."""
    if isinstance(operand, Lvalue) and isinstance(operand.kind, Array):
        operand = Pointee(operand, to.arithmetic.number(kinds.LONG, 0))
    if not isinstance(operand, Pointee):
        raise SpecError("the target of this pointer is not known when the program is read", to.where)
    to.require_alive(operand.lvalue)
    distance = to.arithmetic.convert(by, kinds.LONG).term
    if isinstance(by.kind, Integer) and by.kind.high > kinds.LONG.high:
        to.arithmetic.require_range(SideCondition.POINTER, by, 0, kinds.LONG.high)
    if distance.is_const and distance.payload == 0:
        return operand
    if operand.offset is None or not is_in_array(operand.lvalue, operand.offset):
        raise SpecError("arithmetic on a pointer to a single variable is not supported", to.where)
    return replace(operand, offset=CValue(kinds.LONG, sum_of(op, operand.offset.term, distance)))


def is_in_array(lvalue: Lvalue, offset: CValue) -> bool:
    """A field of an element, as in &a[i].x, is no element: nothing follows it."""
    return not isinstance(lvalue.kind, Array) or lvalue.element(offset.term).last_array()[1]


def not_null(pointer: CResult, to: Evaluator) -> Term:
    if isinstance(pointer, Pointee) and not pointer.sure:
        what = f"whether a pointer is null that may point to {pointer.lvalue.object.name} or nowhere is not known"
        raise SpecError(f"{what} when the program is read; keep a flag of your own beside the pointer", to.where)
    if isinstance(pointer, Pointee):
        to.require_alive(pointer.lvalue)
    return TRUE


def sum_of(op: str, a: Term, b: Term) -> Term:
    if op == "+" and a.is_const and a.payload == 0:
        return b
    return a if b.is_const and b.payload == 0 else simple_term(SUMS[op], a, b)


def binary(op: str, left: CResult, right: CResult, to: Evaluator) -> CResult:
    """p + n, p - n, p - q, and comparisons within one array or with the null pointer."""
    arithmetic = to.arithmetic
    if isinstance(left, CValue) and op == "+":
        left, right = right, left
    if isinstance(right, CValue) and op in ("+", "-") and isinstance(right.kind, Integer):
        return move(left, right, op, to)
    for value in (left, right):
        if isinstance(value, CValue) and op in ("==", "!=") and value.term is constant(value.term.type, 0):
            other = right if value is left else left
            return arithmetic.of_truth(negation(not_null(other, to)) if op == "==" else not_null(other, to))
    a, b = (move(side, arithmetic.number(kinds.INT, 0), "+", to) for side in (left, right))
    a, b = _qualify(a, constant=False), _qualify(b, constant=False)
    if a.lvalue.object is not b.lvalue.object and op in ("-", "<", "<=", ">", ">="):
        arithmetic.oblige(SideCondition.SAME, FALSE)
        return arithmetic.number(to.model.difference if op == "-" else to.model.INT, 0)
    if a.lvalue != b.lvalue or a.offset is None or b.offset is None:
        raise SpecError("a comparison of pointers to different variables is not supported", to.where)
    if op == "-":
        distance = CValue(kinds.LONG, simple_term("sub", a.offset.term, b.offset.term))
        return arithmetic.convert(distance, to.model.difference)
    if op not in ("==", "!=", "<", "<=", ">", ">="):
        raise SpecError(f"{op} is not defined for pointers", to.where)
    return arithmetic.binary(op, a.offset, b.offset)


def cast(value: CResult, kind: Pointer, to: Evaluator, node: Any) -> CResult:
    if isinstance(value, CValue) and value.term.is_const and value.term.payload == 0:
        return value  # the null pointer
    pointee = pointee_of(value, to, node)
    if kind.target != pointee.kind:
        raise to.error(f"{to.text(node)}: a pointer to {pointee.kind} is used as one to {kind.target}", node)
    return _qualify(pointee, constant=kind.constant)


def _qualify(pointee: Pointee, *, constant: bool) -> Pointee:
    return replace(pointee, lvalue=replace(pointee.lvalue, constant=constant))


def value_of(variable: PointerVariable, to: Evaluator, node: Any) -> Pointee:
    if variable.target is None:
        raise to.error(f"the target of {variable.name} is not known when the program is read", node)
    pointee = _qualify(variable.target, constant=variable.kind.constant)
    if variable.offset is None:
        return pointee
    return Pointee(pointee.lvalue, to.read_scalar(variable.offset), variable.sure)


def bind(
    variable: PointerVariable, new: CResult, text: str, to: Evaluator, node: Any
) -> tuple[tuple[Lvalue, CValue], ...]:
    """Binds the pointer to what it points into. Returns the assignment to its offset, if it has one."""
    pointee = pointee_of(new, to, node)
    if variable.kind.target not in (pointee.kind, kinds.VOID):
        raise to.error(f"{text}: a pointer to {pointee.kind} is used as one to {variable.kind.target}", node)
    pointee = _qualify(pointee, constant=False)
    if variable.target is None:
        if not all(i.is_const for i in pointee.lvalue.indices):
            raise to.error(
                f"{text}: the element that {variable.name} points to is not known when the program is read", node
            )
        variable.target = pointee
        to.note_target(variable, pointee.lvalue)
    elif variable.target.lvalue != pointee.lvalue:
        raise to.error(f"{text}: {variable.name} points into different variables", node)
    variable.sure &= pointee.sure
    if variable.offset is None and pointee.offset is not None and not pointee.offset.term.is_const:
        variable.offset = variable.moving()
    if variable.offset is None:
        return ()
    offset = pointee.offset or to.arithmetic.number(kinds.LONG, 0)
    return ((variable.offset, to.arithmetic.convert(offset, kinds.LONG)),)


def assign(variable: PointerVariable, node: Any, to: Evaluator) -> CResult:
    if node.op not in ("=", "+=", "-="):
        raise to.error(f"{to.text(node)}: {node.op} is not defined for pointers", node)
    before, new = to.in_order(
        node.lvalue,
        lambda: None if node.op == "=" else value_of(variable, to, node),
        node.rvalue,
        lambda: to.value(node.rvalue),
    )
    if node.op != "=":
        if not isinstance(new, CValue):
            raise to.error(f"{to.text(node)}: not a number", node)
        new = move(before, new, node.op[0], to)
    to.assign(node, *bind(variable, new, to.text(node), to, node))
    return value_of(variable, to, node)


def step(variable: PointerVariable, node: Any, to: Evaluator) -> CResult:
    """p++ and the like."""
    before = value_of(variable, to, node)
    after = move(before, to.arithmetic.number(kinds.INT, 1), node.op[-1], to)
    updates: list[tuple[Lvalue, CValue]] = list(bind(variable, after, to.text(node), to, node))
    if not node.op.startswith("p"):
        to.assign(node, *updates)
        return value_of(variable, to, node)
    assert before.offset is not None
    saved = to.temporary(kinds.LONG)
    to.assign(node, *updates, (saved, before.offset))
    return replace(before, offset=to.read_scalar(saved))
