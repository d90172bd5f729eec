"""Calls through pointers to functions: a choice among the functions of the pointer's type whose address is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from streamcheck.c import kinds, static
from streamcheck.c.arithmetic import SideCondition
from streamcheck.c.declarations import Address, CResult, Function
from streamcheck.c.kinds import AnyKind, Array, Floating, FunctionType, Integer, Pointer, Struct
from streamcheck.c.lvalues import Lvalue
from streamcheck.core.simplify import disjunction, simple_term
from streamcheck.core.term import Term
from streamcheck.core.types import plural
from streamcheck.frontends.minic.endings import UnorderedOperand
from streamcheck.frontends.minic.flow import Branch
from streamcheck.frontends.minic.places import number

if TYPE_CHECKING:
    from streamcheck.frontends.minic.calls import Calls


class PointedCalls:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.to = calls.expressions

    def code_of(self, node: Any) -> FunctionType:
        """The type of the function that a call calls."""
        kind = static.kind_of(self.to, node.name)
        target = kind.target if isinstance(kind, Pointer) else kind
        if not isinstance(target, FunctionType):
            raise self.to.error(f"{self.to.text(node.name)} is not a function", node)
        return target

    def call(self, node: Any) -> CResult:
        to, code = self.to, self.code_of(node)
        arguments = list(node.args.exprs) if node.args else []
        if code.parameters is not None and len(arguments) != len(code.parameters):
            count = plural(len(code.parameters), "argument")
            raise to.error(f"{to.text(node.name)} takes {count}, found {len(arguments)}", node)
        start, now = to.begin(node.name, *arguments), to.flow.endings.now()
        pointer = to.value(node.name)
        middle = to.accesses.mark()
        before: list[UnorderedOperand] = [to.operand(start, (), node.name, now)]
        if not isinstance(pointer, Address):
            raise to.error(f"{to.text(node.name)} is not a pointer to a function", node)
        kept = to.after(node.name, pointer, node.args) if arguments else lambda: pointer
        now = to.flow.endings.now()
        values = self.calls.evaluate(arguments)
        to.require_order(start, middle)
        if arguments:
            to.operand(start, before, node.args, now)
        kept_pointer = kept()
        assert isinstance(kept_pointer, Address)
        to.accesses.settle(start.mark)
        p = to.flow.constant_of(kept_pointer.term)
        return self._choose(p, code, values, arguments, node)

    def _choose(self, p: Term, code: FunctionType, values: list[CResult], arguments: list[Any], node: Any) -> CResult:
        """One branch for each function that it may be."""
        to, flow, where = self.to, self.to.flow, self.to.where
        found = [(simple_term("eq", p, number(at)), f) for at, f in self._functions(code, arguments)]
        if to.memory_plan.outside:
            to.numbers.limit_outside(p)
        to.arithmetic.oblige(SideCondition.FUNCTION, disjunction(*(holds for holds, _ in found)))
        unused = self.calls.unused is node
        if len(found) == 1:
            flow.settle(where, to.text(node))
            return self._call(found[0][1], values, arguments, node)
        result = self._result(code, node, unused=unused)
        join, places = flow.place(), [flow.place() for _ in found]
        text = to.text(node.name)
        branches = [Branch(at, h, (), f"{text} == {f.name}") for at, (h, f) in zip(places, found, strict=True)]
        flow.branch(branches, where)
        marks = to.accesses.mark()
        for at, (_, function) in zip(places, found, strict=True):
            flow.at = at
            self.calls.unused = node if unused else self.calls.unused
            value = self._call(function, values, arguments, node)
            if result is not None:
                to.flow.step(where, f"value = {to.text(node)}", *to.updates(result, value, node))
            flow.step(None, "skip", to=join)
        to.accesses.settle(marks)
        flow.at = join
        return None if result is None else to.read(result)

    def _call(self, function: Function, values: list[CResult], arguments: list[Any], node: Any) -> CResult:
        return self.calls.inline(function, values, arguments, node)

    def _result(self, code: FunctionType, node: Any, *, unused: bool) -> Lvalue | None:
        """The variable for the result of any of the functions."""
        kind = self.to.declarations.complete(code.result)
        if kind == kinds.VOID or unused:
            return None
        if isinstance(kind, Integer | Floating | Pointer):
            return self.to.temporary(kind)
        assert isinstance(kind, Struct)
        return self.to.storage.add(kind, f"value, {self.to.flow.line(self.to.where)}", self.calls.statements.term)

    def _functions(self, code: FunctionType, arguments: list[Any]) -> list[tuple[int, Function]]:
        """The functions that a call of this type may call (6.5.2.2), with their numbers."""
        to = self.to
        found = []
        for name, at in to.memory_plan.functions.items():
            function = self.calls.statements.globals.names.get(name)
            if not isinstance(function, Function) or not self._are_same(static.code_of(function), code):
                continue
            if code.parameters is not None or self._takes(function, arguments):
                found.append((at, function))
        return found

    def _are_same(self, a: FunctionType, b: FunctionType) -> bool:
        """The types are the same, also in what is const behind their pointers (6.7.5.1)."""
        same = self.to.declarations.are_same(a, b) and _are_qualified_alike(a.result, b.result)
        return same and all(
            _are_qualified_alike(x, y) for x, y in zip(a.parameters or (), b.parameters or (), strict=False)
        )

    def _takes(self, function: Function, arguments: list[Any]) -> bool:
        """The arguments of a call without a prototype have the types of the parameters."""
        if len(arguments) != len(function.parameters):
            return False
        for (_, wanted), argument in zip(function.parameters, arguments, strict=True):
            given = static.kind_of(self.to, argument)
            if isinstance(given, Integer):
                given = self.to.model.promote(given)
            given = self.to.model.DOUBLE if given == kinds.FLOAT else given
            if isinstance(wanted, Integer | Floating) and wanted != given:
                return False
        return True


def _are_qualified_alike(a: AnyKind, b: AnyKind) -> bool:
    """Two types that are the same but for qualifiers have the same ones behind their pointers."""
    if isinstance(a, Array) and isinstance(b, Array):
        return _are_qualified_alike(a.element, b.element)
    if isinstance(a, FunctionType) and isinstance(b, FunctionType):
        parameters = zip(a.parameters or (), b.parameters or (), strict=False)
        return _are_qualified_alike(a.result, b.result) and all(_are_qualified_alike(x, y) for x, y in parameters)
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        return a.constant == b.constant and _are_qualified_alike(a.target, b.target)
    return True
