"""Pointers whose object is known when the program is read.

A pointer is an lvalue, or an lvalue of an array and an offset into it. The lvalue never changes: a pointer that is
assigned may move within its array. This is what parameters of functions and loops over an array need. Any other
pointer (into different variables at different times, in a struct, null) is a number, an `Address`, if the room that
executes the program has `addresses`; a pointer variable of which that is found out as the program is read is
`ComputedPointer`, and the program is read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, assert_never

from streamcheck.c import kinds
from streamcheck.c.arithmetic import SUMS, CValue, SideCondition
from streamcheck.c.declarations import Address, CResult, Pointee, PointerVariable, Updated
from streamcheck.c.kinds import Array, Floating, Integer, Pointer
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.terms import recast
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant

if TYPE_CHECKING:
    from streamcheck.c.expressions import Evaluator


class ComputedPointer(SpecError):
    """The program must be read with this pointer variable as a number. `key`: that of its declaration."""

    def __init__(self, error: SpecError, key: Any) -> None:
        super().__init__(error.message, error.where, write=error.write, also=error.also)
        self.key = key


class AddressRules(Protocol):
    """Pointers that are numbers, as a room that executes programs has them."""

    def of(self, operand: CResult, node: Any, kind: Pointer | None = None) -> Address:
        """The number of a pointer. `kind`: its type, if the operand has none: the null pointer."""

    def of_function(self, name: str, node: Any) -> Address:
        """The number of a function."""

    def place_at(self, address: Address, node: Any) -> Lvalue:
        """The object that is pointed to. A claim that there is one."""

    def element_at(self, address: Address, by: CValue, node: Any) -> Lvalue: ...

    def move(self, address: Address, by: CValue, op: str) -> Address: ...

    def not_null(self, address: Address) -> Term: ...

    def compare(self, op: str, a: Address, b: Address) -> CValue:
        """A comparison, or the difference."""

    def has(self, lvalue: Lvalue) -> bool:
        """The lvalue is reached through a number."""


def refuse(variable: PointerVariable | None, message: str, to: Evaluator, node: Any) -> NoReturn:
    """This pointer is not known when the program is read."""
    error = SpecError(message, to.where if node is None else to.place_of(node))
    if to.addresses is None or variable is None or variable.key is None:
        raise error
    raise ComputedPointer(error, variable.key)


def is_null(operand: CResult) -> bool:
    """The null pointer, as a constant."""
    if not isinstance(operand, CValue | Address) or not operand.term.is_const:
        return False
    return not isinstance(operand.kind, Floating) and int(operand.term.payload) == 0


def is_pointer(operand: CResult) -> bool:
    is_array = isinstance(operand, Lvalue) and isinstance(operand.kind, Array)
    return is_array or isinstance(operand, Pointee | Address)


def terms_of(operand: CResult) -> list[Term]:
    """The parts of an operand that side effects may change."""
    match operand:
        case CValue() | Address():
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
        case Address():
            return Address(operand.kind, terms[0])
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
    if isinstance(operand, Address) and to.addresses is not None:
        return Pointee(to.addresses.place_at(operand, node))
    if not isinstance(operand, Pointee):
        raise to.error(f"{to.text(node)}: the target of this pointer is not known when the program is read", node)
    return operand


def dereference(operand: CResult, to: Evaluator, node: Any) -> Lvalue:
    """The lvalue that a pointer points to. Its index must be in bounds: any value stands for no target."""
    if isinstance(operand, Address) and to.addresses is not None:
        return to.addresses.place_at(operand, node)
    pointee = pointee_of(operand, to, node)
    to.require_alive(pointee.lvalue)
    if pointee.offset is None:
        return pointee.lvalue
    condition = SideCondition.INDEX if pointee.sure else SideCondition.TARGET
    if not isinstance(pointee.lvalue.kind, Array):
        to.arithmetic.index(pointee.offset, 1, condition)
        return pointee.lvalue
    return pointee.lvalue.element(to.arithmetic.require_element(pointee.offset, pointee.lvalue.kind, condition))


def address(lvalue: Lvalue, to: Evaluator) -> Pointee | Address:
    """&x. &a[i] is a pointer into a."""
    if to.addresses is not None and to.addresses.has(lvalue):
        return to.addresses.of(Pointee(lvalue), None)
    if not lvalue.indices or isinstance(lvalue.kind, Array):
        return Pointee(lvalue)
    array, _ = lvalue.last_array()
    outer = replace(lvalue, kind=replace(array, element=lvalue.kind), indices=lvalue.indices[:-1])
    return Pointee(outer, CValue(kinds.LONG, recast(lvalue.indices[-1], to.arithmetic.type_of(kinds.LONG))))


def move(operand: CResult, by: CValue, op: str, to: Evaluator) -> Pointee | Address:
    """A pointer some elements further, in its array or at its end (6.5.6)."""
    if to.addresses is not None and not is_pointer(operand):
        operand = to.addresses.of(operand, None)
    if isinstance(operand, Address) and to.addresses is not None:
        return to.addresses.move(operand, by, op)
    if isinstance(operand, Pointee) and operand.bytes and to.addresses is not None and not _is_zero(by):
        return to.addresses.move(to.addresses.of(operand, None), by, op)
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
    if isinstance(operand, Address) and to.addresses is not None:
        return to.addresses.element_at(operand, index, node)
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
    if operand.bytes:
        raise SpecError("arithmetic on a pointer to void is not supported", to.where)
    if operand.offset is None or not is_in_array(operand.lvalue, operand.offset):
        raise SpecError("arithmetic on a pointer to a single variable is not supported", to.where)
    return replace(operand, offset=CValue(kinds.LONG, sum_of(op, operand.offset.term, distance)))


def is_in_array(lvalue: Lvalue, offset: CValue) -> bool:
    """A field of an element, as in &a[i].x, is no element: nothing follows it."""
    return not isinstance(lvalue.kind, Array) or lvalue.element(offset.term).last_array()[1]


def _is_zero(value: CValue) -> bool:
    return value.term.is_const and value.term.payload == 0


def not_null(pointer: CResult, to: Evaluator) -> Term:
    if isinstance(pointer, Address) and to.addresses is not None:
        return to.addresses.not_null(pointer)
    if isinstance(pointer, Pointee) and not pointer.sure:
        what = f"whether a pointer is null that may point to {pointer.lvalue.object.name} or nowhere is not known"
        write = "when the program is read; keep a flag of your own beside the pointer"
        refuse(pointer.variable, f"{what} {write}", to, None)
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
    if to.addresses is not None and _needs_numbers(op, left, right):
        return to.addresses.compare(op, to.addresses.of(left, None), to.addresses.of(right, None))
    a, b = (shift(side, arithmetic.number(kinds.INT, 0), "+", to) for side in (left, right))
    a, b = _qualify(a, constant=False), _qualify(b, constant=False)
    if to.addresses is not None and a.lvalue == b.lvalue:
        zero = arithmetic.number(kinds.LONG, 0)
        a, b = (replace(side, offset=side.offset or zero) for side in (a, b))
    if a.lvalue.object is not b.lvalue.object and op in ("-", "<", "<=", ">", ">="):
        arithmetic.oblige(SideCondition.SAME, FALSE)
        return arithmetic.number(to.model.difference if op == "-" else to.model.INT, 0)
    if a.lvalue != b.lvalue or a.offset is None or b.offset is None:
        raise SpecError("a comparison of pointers to different variables is not supported", to.where)
    if op == "-":
        return difference(simple_term("sub", a.offset.term, b.offset.term), to)
    if op not in ("==", "!=", "<", "<=", ">", ">="):
        raise SpecError(f"{op} is not defined for pointers", to.where)
    return arithmetic.binary(op, a.offset, b.offset)


def difference(distance: Term, to: Evaluator) -> CValue:
    """p - q, so many elements. It must fit its type, `ptrdiff_t` (6.5.6)."""
    value, kind = CValue(kinds.LONG, distance), to.model.difference
    if kind.high < kinds.LONG.high:
        to.arithmetic.require_range(SideCondition.OVERFLOW, value, kind.low, kind.high)
    return to.arithmetic.convert(value, kind)


def _needs_numbers(op: str, left: CResult, right: CResult) -> bool:
    """One of two pointers is a number, or their comparison asks whether they have one target."""
    sides = [Pointee(s) if isinstance(s, Lvalue) else s for s in (left, right)]
    if any(not isinstance(s, Pointee) or s.bytes or (not s.sure and op in ("==", "!=")) for s in sides):
        return True
    a, b = (s.lvalue for s in sides if isinstance(s, Pointee))
    return op in ("==", "!=") and (a.object, a.fields, a.indices) != (b.object, b.fields, b.indices)


def cast(value: CResult, kind: Pointer, to: Evaluator, node: Any) -> CResult:
    if is_null(value):
        return value if to.addresses is None else to.addresses.of(value, node, kind)
    if to.addresses is not None and (isinstance(value, Address) or not is_pointer(value)):
        return to.addresses.of(value, node, kind)
    pointee = pointee_of(value, to, node)
    if to.addresses is not None and kind.target == kinds.VOID:
        return replace(_qualify(pointee, constant=kind.constant), bytes=True)
    if to.addresses is not None and not to.declarations.are_same(kind.target, pointee.kind):
        return to.addresses.of(to.addresses.of(value, node), node, kind)
    if to.addresses is not None:
        return replace(_qualify(pointee, constant=kind.constant), bytes=False)
    if kind.target != pointee.kind:
        raise to.error(f"{to.text(node)}: a pointer to {pointee.kind} is used as one to {kind.target}", node)
    return _qualify(pointee, constant=kind.constant)


def _qualify(pointee: Pointee, *, constant: bool) -> Pointee:
    return replace(pointee, lvalue=replace(pointee.lvalue, constant=constant))


def value_of(variable: PointerVariable, to: Evaluator, node: Any) -> Pointee:
    if variable.target is None:
        refuse(variable, f"the target of {variable.name} is not known when the program is read", to, node)
    pointee = _qualify(variable.target, constant=variable.kind.constant)
    offset = pointee.offset if variable.offset is None else to.read_scalar(variable.offset)
    assert not isinstance(offset, Address)
    sure = pointee.sure if variable.offset is None else variable.sure
    return Pointee(pointee.lvalue, offset, sure, variable.kind.target == kinds.VOID, variable)


def bind(
    variable: PointerVariable, new: CResult, text: str, to: Evaluator, node: Any
) -> tuple[tuple[Lvalue, CValue], ...]:
    """Binds the pointer to what it points into. Returns the assignment to its offset, if it has one."""
    if isinstance(new, CValue | Address):
        what = f"{text}: what {variable.name} points to is not known when the program is read"
        refuse(variable, what if is_null(new) or isinstance(new, Address) else f"{text}: not a pointer", to, node)
    pointee = pointee_of(new, to, node)
    if to.addresses is not None and pointee.bytes and variable.kind.target != kinds.VOID:
        refuse(variable, f"{text}: a pointer to void is used as one to {variable.kind.target}", to, node)
    if variable.kind.target != kinds.VOID and not to.declarations.are_same(variable.kind.target, pointee.kind):
        raise to.error(f"{text}: a pointer to {pointee.kind} is used as one to {variable.kind.target}", node)
    pointee = _qualify(pointee, constant=False)
    if variable.target is None:
        if not all(i.is_const for i in pointee.lvalue.indices):
            what = f"{text}: the element that {variable.name} points to is not known when the program is read"
            refuse(variable, what, to, node)
        variable.target = replace(pointee, bytes=False, variable=None)
        to.note_target(variable, pointee.lvalue)
    elif variable.target.lvalue != pointee.lvalue:
        refuse(variable, f"{text}: {variable.name} points into different variables", to, node)
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
    if isinstance(new, Pointee):
        new = replace(new, variable=None)
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
    offset = to.read_scalar(saved)
    assert isinstance(offset, CValue)
    return replace(before, offset=offset)
