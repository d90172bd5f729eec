"""Calls. Functions of the file are inlined, those of verifiers and of the standard library are interpreted, and
unknown ones return any value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from streamcheck.c import effects, kinds, pointers
from streamcheck.c.arithmetic import FUNCTIONS, CValue
from streamcheck.c.declarations import CResult, Function, NameScope, Pointee
from streamcheck.c.kinds import AnyKind, Array, Floating, Integer, Pointer, Struct
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import form
from streamcheck.core.errors import SpecError
from streamcheck.core.types import plural
from streamcheck.frontends.minic.expressions import Expressions
from streamcheck.frontends.minic.storage import Update

if TYPE_CHECKING:
    from streamcheck.frontends.minic.statements import Statements

ASSERTIONS = ("assert", "__VERIFIER_assert")
ERRORS = {"__VERIFIER_error": "error", "reach_error": "reach_error", "__assert_fail": "error"}
ASSUMPTIONS = ("__VERIFIER_assume", "assume", "assume_abort_if_not")
ENDS = ("abort", "exit", "_exit", "_Exit", "quick_exit")
PRINTS = ("printf", "puts", "fprintf", "putchar", "perror")
RESULTS: dict[str, AnyKind] = {  # what nondet functions give that the file does not declare
    "bool": kinds.BOOLEAN,
    "_Bool": kinds.BOOLEAN,
    "char": kinds.CHAR,
    "schar": kinds.CHAR,
    "uchar": kinds.UCHAR,
    "unsigned_char": kinds.UCHAR,
    "short": kinds.SHORT,
    "ushort": kinds.USHORT,
    "int": kinds.INT,
    "uint": kinds.UINT,
    "unsigned": kinds.UINT,
    "unsigned_int": kinds.UINT,
    "long": kinds.LONG,
    "ulong": kinds.ULONG,
    "longlong": kinds.LLONG,
    "ulonglong": kinds.ULLONG,
    "size_t": kinds.ULONG,
    "float": kinds.FLOAT,
    "double": kinds.DOUBLE,
    **{f"u{w}": kinds.UNSIGNED[kinds.SIGNED[w]] for w in kinds.SIGNED},
    **{f"s{w}": kinds.SIGNED[w] for w in kinds.SIGNED},
}


class Calls:
    def __init__(self, expressions: Expressions, endless: frozenset[str]) -> None:
        self.expressions = expressions
        self.endless = endless
        self.statements: Statements
        self.active: list[str] = []
        self.final = expressions.flow.place()
        self.results: dict[str, Lvalue | None] = {}

    def _function(self, node: Any) -> tuple[str, Function | None]:
        if form(node.name) != "ID":
            raise self.expressions.error("calls through pointers to functions are not supported", node)
        function = self.expressions.scope.meaning(node.name.name)
        if function is not None and not isinstance(function, Function):
            raise self.expressions.error(f"{node.name.name} is not a function", node)
        return node.name.name, function

    def result_kind(self, node: Any) -> AnyKind:
        name, function = self._function(node)
        if function is not None:
            return function.result
        if name in (*ASSERTIONS, *ERRORS, *ASSUMPTIONS, *ENDS):
            return kinds.VOID
        if name in FUNCTIONS or name.removesuffix("f") in FUNCTIONS:
            return kinds.DOUBLE if name in FUNCTIONS else kinds.FLOAT
        for prefix in effects.CHOOSERS:
            if name.startswith(prefix):
                return RESULTS.get(name.removeprefix(prefix), kinds.INT)
        return kinds.INT

    def call(self, node: Any) -> CResult:
        to, flow = self.expressions, self.expressions.flow
        name, function = self._function(node)
        arguments = list(node.args.exprs) if node.args else []
        has_body = function is not None and function.body is not None
        if name in ASSERTIONS and len(arguments) == 1:
            self._condition(arguments[0], node, flow.error("assert", to.where, implied=False))
        elif name in ERRORS:
            flow.jump(flow.error(ERRORS[name], to.where, implied=False), to.where, f"{name}()")
        elif name in ASSUMPTIONS and len(arguments) == 1 and (not has_body or name == "__VERIFIER_assume"):
            self._condition(arguments[0], node, None)
        elif has_body:
            assert function is not None
            return self._inline(function, arguments, node)
        elif name in ENDS or name in self.endless:
            for argument in arguments:
                to.effect(argument)
            flow.jump(self.final, to.where, to.text(node))
        else:
            return self._unknown(name, arguments, node)
        return None

    def _condition(self, argument: Any, node: Any, error: str | None) -> None:
        """The run continues if the condition holds. If not, it goes to `error`, or ends."""
        flow = self.expressions.flow
        yes = flow.place()
        self.expressions.condition(argument, yes, flow.place() if error is None else error)
        flow.at = yes

    def _unknown(self, name: str, arguments: list[Any], node: Any) -> CResult:
        to = self.expressions
        if name in ("asm", "__asm__", "__asm"):
            raise to.error("assembler is not supported", node)
        for argument in arguments:
            if form(argument) == "Constant" and argument.type == "string":
                continue
            given = to.value(argument)
            if isinstance(given, Pointee) or (isinstance(given, Lvalue) and isinstance(given.kind, Array)):
                raise to.error(f"{name} has no body and is passed a pointer: its effects are unknown", node)
        kind = self.result_kind(node)
        known = name.startswith(effects.CHOOSERS)
        if not known and name not in PRINTS:
            result = "" if kind == kinds.VOID else "return any value and to "
            to.flow.warn(f"{name} has no body: it is assumed to {result}change nothing", to.where)
        if kind == kinds.VOID:
            return None
        if not isinstance(kind, Integer | Floating):
            raise to.error(f"{name} has no body and returns {kind}: the result is unknown", node)
        return CValue(kind, to.unknown("nondet()" if known else f"{name}()", kind))

    # Functions of the file

    def _inline(self, function: Function, arguments: list[Any], node: Any) -> CResult:
        to, flow = self.expressions, self.expressions.flow
        if function.name in self.active:
            raise to.error(f"{function.name} calls itself: recursion is not supported", node)
        if len(arguments) != len(function.parameters):
            count = len(function.parameters)
            raise to.error(f"{function.name} takes {plural(count, 'argument')}, found {len(arguments)}", node)
        values = self._evaluate(arguments)
        caller, outer, where = to.scope, flow.function, to.where
        self.active.append(function.name)
        to.scope = NameScope(self.statements.globals)
        updates: list[Update] = []
        for (name, kind), value, argument in zip(function.parameters, values, arguments, strict=True):
            updates += self._bind(function, name, kind, value, argument)
        leave = flow.place()
        flow.step(where, to.text(node), *updates)
        flow.function = function.name
        self._body(function, leave)
        flow.function, to.scope, to.where = outer, caller, where
        self.active.pop()
        result = self.results.get(function.name)
        return None if result is None else to.read(result)

    def _evaluate(self, arguments: list[Any]) -> list[CResult]:
        """The values, left to right. Effects of later arguments do not change earlier values."""
        to = self.expressions
        kept: list[Any] = []
        for i, argument in enumerate(arguments):
            later = [a for a in arguments[i + 1 :] if effects.level(a, to.scope) == effects.ACTS]
            value = to.value(argument)
            if later and isinstance(value, Lvalue) and isinstance(value.kind, Struct):
                value = self._copy(value, argument)
            kept.append(to.after(argument, value, later[0]) if later else lambda value=value: value)
        values: list[CResult] = []
        for first in reversed(kept):
            values.append(first())
        return values[::-1]

    def _copy(self, struct: Lvalue, node: Any) -> Lvalue:
        to = self.expressions
        copy = to.storage.add(struct.kind, f"value, {to.flow.line(to.where)}", self.statements.term)
        to.store(node, f"value = {to.text(node)}", (copy, struct))
        return copy

    def _bind(self, function: Function, name: str, kind: AnyKind, value: CResult, argument: Any) -> Iterator[Update]:
        to = self.expressions
        if isinstance(kind, Pointer):
            pointer = self.statements.pointer(name, kind, (function.name, name), function.body, sure=True)
            to.scope.names[name] = pointer
            for offset, new in pointers.bind(pointer, value, name, to, argument):
                yield from to.updates(offset, new, argument)
            return
        place = self.statements.variable(name, kind, (function.name, name))
        to.scope.names[name] = place
        yield from to.updates(place, value, argument)

    def _body(self, function: Function, leave: str) -> None:
        flow = self.expressions.flow
        result = None
        if function.result != kinds.VOID:
            if isinstance(function.result, Pointer):
                raise SpecError(f"{function.name} returns a pointer, which is not supported", function.where)
            result = self.statements.variable("return", function.result, (function.name, "return"))
        self.results[function.name] = result
        self.statements.run(function, result, leave)
        flow.at = leave
