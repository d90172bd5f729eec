"""Loops that plainly end: they count a local variable, step by step, to a bound that they do not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from streamcheck.c import static
from streamcheck.c.arithmetic import CValue
from streamcheck.c.expressions import Evaluator
from streamcheck.c.kinds import Integer
from streamcheck.c.literals import whole_literal
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.models import DataModel
from streamcheck.c.syntax import form

STEPS = {"p++": 1, "++": 1, "p--": -1, "--": -1, "+=": 1, "-=": -1, "+": 1, "-": -1}
OPERATIONS = ("BinaryOp", "UnaryOp", "Cast", "Typename", "Constant", "ID")


@dataclass(frozen=True, slots=True)
class CountingLoop:
    """A loop, the body of its function, and whether a name is that of a local variable (not a static one)."""

    node: Any
    function: Any
    is_local: Callable[[str], bool]
    to: Evaluator

    @property
    def ends(self) -> bool:
        """The loop ends, or a claim fails in it: a signed counter would overflow."""
        condition = self.node.cond
        if condition is None or form(condition) != "BinaryOp" or condition.op not in ("<", "<=", ">", ">="):
            return False
        strict, up = len(condition.op) == 1, 1 if condition.op[0] == "<" else -1
        left, right = condition.left, condition.right
        return self._counts(left, right, up, strict) or self._counts(right, left, -up, strict)

    def _counts(self, counter: Any, bound: Any, direction: int, strict: bool) -> bool:
        if form(counter) != "ID" or not self._is_own(counter.name) or not self._is_fixed(bound):
            return False
        place, given = self.to.scope.meaning(counter.name), static.kind_of(self.to, bound)
        step = self._step(counter.name)
        if not isinstance(place, Lvalue) or not isinstance(place.kind, Integer) or not isinstance(given, Integer):
            return False
        if step is None or (step[0] > 0) != (direction > 0):
            return False
        kind = place.kind
        if kind.signed and kind.width >= self.to.model.INT.width and self.to.model.common(kind, step[1]) == kind:
            return given.signed or not self.to.arithmetic.mathematical
        if abs(step[0]) != 1:
            return False
        number = self._number(bound)
        if number is not None and kind.low <= number <= kind.high:
            return strict or number != (kind.high if direction > 0 else kind.low)
        return strict and kind in (given, self.to.model.common(kind, given))

    def _is_own(self, name: str) -> bool:
        """Only assignments that name the variable change it."""
        place = self.to.scope.meaning(name)
        if not isinstance(place, Lvalue) or place.object.volatile or not self.is_local(name):
            return False
        return not any(form(n) == "UnaryOp" and n.op == "&" and _is_id(n.expr, name) for n in _nodes(self.function))

    def _is_fixed(self, bound: Any) -> bool:
        """Nothing in the loop changes the value."""
        if form(bound) == "UnaryOp" and bound.op == "sizeof":
            return True
        if form(bound) not in OPERATIONS or (form(bound) == "UnaryOp" and bound.op not in ("-", "+", "~")):
            return False
        if form(bound) == "ID":
            place: object = self.to.scope.meaning(bound.name)
            if not isinstance(place, Lvalue):
                return isinstance(place, CValue)
            return (place.object.constant and not place.object.volatile) or (
                self._is_own(bound.name) and not any(_changes(n, bound.name) for n in _nodes(self.node))
            )
        return form(bound) == "Typename" or all(self._is_fixed(child) for _, child in bound.children())

    def _number(self, bound: Any) -> int | None:
        if any(isinstance(self.to.scope.meaning(n.name), Lvalue) for n in _nodes(bound) if form(n) == "ID"):
            return None
        return self.to.constant(bound)

    def _step(self, name: str) -> tuple[int, Integer] | None:
        """The number that each turn adds to the counter, and its kind. None if a turn may add nothing."""
        nodes = list(_nodes(self.node))
        body = getattr(self.node.stmt, "block_items", None) or [self.node.stmt]
        last: Any = getattr(self.node, "next", None)
        lasts = last.exprs if form(last) == "ExprList" else [last]
        if any(form(n) == "Decl" and n.name == name for item in body for n in _nodes(item)):
            return None
        jumps = any(form(n) in ("Continue", "Goto", "Label", "Case", "Default") for n in nodes)
        changes = [n for n in nodes if _changes(n, name) and n not in _nodes(getattr(self.node, "init", None))]
        if len(changes) != 1 or not any(changes[0] is n for n in (*lasts, *(() if jumps else body))):
            return None
        return _addition(changes[0], name, self.to.model)


def _nodes(node: Any) -> Iterator[Any]:
    if node is not None:
        yield node
        for _, child in node.children():
            yield from _nodes(child)


def _is_id(node: Any, name: str) -> bool:
    return form(node) == "ID" and bool(node.name == name)


def _changes(node: Any, name: str) -> bool:
    """The expression assigns to the variable itself."""
    if form(node) == "Assignment":
        return _is_id(node.lvalue, name)
    return form(node) == "UnaryOp" and node.op in ("p++", "p--", "++", "--") and _is_id(node.expr, name)


def _addition(node: Any, name: str, model: DataModel) -> tuple[int, Integer] | None:
    """The number that an expression adds to the variable."""
    if form(node) == "UnaryOp":
        return STEPS[node.op], model.INT
    op, number = node.op, node.rvalue
    if op == "=" and form(number) == "BinaryOp" and _is_id(number.left, name):
        op, number = number.op, number.right
    value = whole_literal(number.value, model) if form(number) == "Constant" else None
    if op not in STEPS or value is None or value[0] == 0:
        return None
    return STEPS[op] * value[0], value[1]
