"""Pointers as far as what they point into is known when the program is read.

A pointer is a place, or an array at a place and how far into it. The place never changes: a pointer that is assigned
may move within its array. This is what parameters of inlined functions and loops over an array need; a pointer into
different variables at different times is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import negation
from streamcheck.core.term import TRUE, Term, constant
from streamcheck.frontends.minic import kinds
from streamcheck.frontends.minic.arithmetic import SUMS, Value, folded
from streamcheck.frontends.minic.kinds import Array, Integer, Pointer
from streamcheck.frontends.minic.places import Place, Target
from streamcheck.frontends.minic.scopes import Pair, PointerVariable, Result

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions


def terms_of(result: Result) -> list[Term]:
    """What a value consists of that may change."""
    match result:
        case Value():
            return [result.term]
        case Place():
            return list(result.indices)
        case Target():
            return [*result.place.indices, *([result.offset.term] if result.offset else [])]
        case Pair():
            return [*terms_of(result.place), *terms_of(result.value)]
    return []


def with_terms(result: Result, terms: Sequence[Term]) -> Result:
    match result:
        case Value():
            return Value(result.kind, terms[0])
        case Place():
            return replace(result, indices=tuple(terms))
        case Target():
            count = len(result.place.indices)
            offset = Value(result.offset.kind, terms[count]) if result.offset else None
            return replace(result, place=replace(result.place, indices=tuple(terms[:count])), offset=offset)
        case Pair():
            count = len(result.place.indices)
            place = replace(result.place, indices=tuple(terms[:count]))
            return Pair(place, with_terms(result.value, terms[count:]))
    return None


def target_of(result: Result, to: Expressions, node: Any) -> Target:
    """A pointer; an array stands for one to its first element."""
    if isinstance(result, Place) and isinstance(result.kind, Array):
        return Target(result, to.arithmetic.number(kinds.LONG, 0))
    if not isinstance(result, Target):
        raise to.refused(f"{to.text(node)}: what this points to is not known when the program is read", node)
    return result


def pointed(result: Result, to: Expressions, node: Any) -> Place:
    """What it points to, with the index obliged to be in bounds."""
    target = target_of(result, to, node)
    if target.offset is None:
        return target.place
    if not isinstance(target.place.kind, Array):
        to.arithmetic.index(target.offset, 1)
        return target.place
    return target.place.element(to.arithmetic.index(target.offset, target.place.kind.length))


def address(place: Place, to: Expressions) -> Target:
    """&x; &a[i] is a pointer into a."""
    if not place.indices or isinstance(place.kind, Array):
        return Target(place)
    kind = place.kind
    outer = replace(place, kind=Array(kind, _length(place)), indices=place.indices[:-1])
    last, long = place.indices[-1], to.arithmetic.core(kinds.LONG)
    return Target(outer, Value(kinds.LONG, last if last.type is long else folded("cast", last, payload=long)))


def _length(place: Place) -> int:
    """The length of the array that the last index of a place is into."""
    from streamcheck.core.types import ArrayType

    fields = next(fields for fields, _ in place.object.parts if fields[: len(place.fields)] == place.fields)
    type = place.object.part(fields).type
    for _ in place.indices[:-1]:
        assert isinstance(type, ArrayType)
        type = type.element
    assert isinstance(type, ArrayType)
    return type.length


def moved(result: Result, by: Value, op: str, to: Expressions) -> Target:
    """A pointer some elements further."""
    if isinstance(result, Place) and isinstance(result.kind, Array):
        result = Target(result, to.arithmetic.number(kinds.LONG, 0))
    if not isinstance(result, Target):
        raise SpecError("what this points to is not known when the program is read", to.where)
    distance = to.arithmetic.converted(by, kinds.LONG).term
    if result.offset is None:
        if distance.is_const and distance.payload == 0:
            return result
        raise SpecError("a pointer to a single variable is moved", to.where)
    return replace(result, offset=Value(kinds.LONG, added(op, result.offset.term, distance)))


def not_null(pointer: Result, to: Expressions) -> Term:
    if isinstance(pointer, Target) and not pointer.sure:
        raise SpecError("whether it points anywhere yet is not known when the program is read", to.where)
    return TRUE


def added(op: str, a: Term, b: Term) -> Term:
    if op == "+" and a.is_const and a.payload == 0:
        return b
    return a if b.is_const and b.payload == 0 else folded(SUMS[op], a, b)


def binary(op: str, left: Result, right: Result, to: Expressions) -> Result:
    """p + n, p - n, p - q, and comparisons within one array or with the null pointer."""
    arithmetic = to.arithmetic
    if isinstance(left, Value) and op == "+":
        left, right = right, left
    if isinstance(right, Value) and op in ("+", "-") and isinstance(right.kind, Integer):
        return moved(left, right, op, to)
    for value in (left, right):
        if isinstance(value, Value) and op in ("==", "!=") and value.term is constant(value.term.type, 0):
            other = right if value is left else left
            return arithmetic.of_truth(negation(not_null(other, to)) if op == "==" else not_null(other, to))
    ends = [moved(side, arithmetic.number(kinds.INT, 0), "+", to) for side in (left, right)]
    a, b = ends
    if a.place != b.place or a.offset is None or b.offset is None:
        raise SpecError("pointers to different variables are compared", to.where)
    if op == "-":
        return Value(kinds.LONG, folded("sub", a.offset.term, b.offset.term))
    if op in ("+", "*", "/", "%", "&", "|", "^", "<<", ">>"):
        raise SpecError(f"{op} is not for pointers", to.where)
    return arithmetic.binary(op, a.offset, b.offset)


def cast(value: Result, kind: Pointer, to: Expressions, node: Any) -> Result:
    if isinstance(value, Value) and value.term.is_const and value.term.payload == 0:
        return value  # the null pointer
    target = target_of(value, to, node)
    if kind.target != target.kind:
        raise to.refused(f"{to.text(node)}: a pointer to {target.kind} is used as one to {kind.target}", node)
    return target


def value_of(variable: PointerVariable, to: Expressions, node: Any) -> Result:
    if variable.target is None:
        raise to.refused(f"what {variable.name} points to is not known when the program is read", node)
    if variable.offset is None:
        return variable.target
    return Target(variable.target.place, Value(kinds.LONG, variable.offset.read()), variable.sure)


def bind(
    variable: PointerVariable, new: Result, text: str, to: Expressions, node: Any
) -> tuple[tuple[Term, Term], ...]:
    """The pointer gets a value: what it points to now and for ever, or how far into it."""
    target = target_of(new, to, node)
    if variable.kind.target not in (target.kind, kinds.VOID):
        raise to.refused(f"{text}: a pointer to {target.kind} is used as one to {variable.kind.target}", node)
    if variable.target is None or variable.target.place != target.place:
        if variable.target is not None:
            raise to.refused(f"{text}: {variable.name} points into different variables", node)
        if not all(i.is_const for i in target.place.indices):
            raise to.refused(f"{text}: which element {variable.name} points to depends on the run", node)
        variable.target = target
    variable.sure &= target.sure
    if variable.offset is None and target.offset is not None and not target.offset.term.is_const:
        variable.offset = variable.moving()
    if variable.offset is None:
        return ()
    offset = target.offset or to.arithmetic.number(kinds.LONG, 0)
    return (variable.offset.written(to.arithmetic.converted(offset, kinds.LONG).term),)


def assign(variable: PointerVariable, node: Any, to: Expressions) -> Result:
    new = to.value(node.rvalue)
    if node.op in ("+=", "-="):
        if not isinstance(new, Value):
            raise to.refused(f"{to.text(node)}: not a number", node)
        new = moved(value_of(variable, to, node), new, node.op[0], to)
    elif node.op != "=":
        raise to.refused(f"{to.text(node)}: {node.op} is not for pointers", node)
    to.flow.step(to.where, to.text(node), *bind(variable, new, to.text(node), to, node))
    return value_of(variable, to, node)


def step(variable: PointerVariable, node: Any, to: Expressions) -> Result:
    """p++ and the like."""
    before = value_of(variable, to, node)
    one = to.arithmetic.number(kinds.INT, 1)
    after = moved(before, one, node.op[-1], to)
    updates = list(bind(variable, after, to.text(node), to, node))
    kept: Result = after
    if node.op.startswith("p"):
        assert isinstance(before, Target) and before.offset is not None
        saved = to.flow.temporary(before.offset.term.type, to.where)
        updates.append((saved, before.offset.term))
        kept = replace(before, offset=Value(kinds.LONG, saved))
    to.flow.step(to.where, to.text(node), *updates)
    return kept if node.op.startswith("p") else value_of(variable, to, node)
