"""Values that the file leaves open: `any@<T>`, `any { x: T | p }`, and `choose`, a function of the names in p and T.

Each is an unknown, at each place in each instance. It is assumed to be of its type and to meet its condition at the
steps at which it is evaluated, as an imported node with that guarantee would promise it.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term
from streamcheck.core.types import BOOL
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.scopes import LustreScope
from streamcheck.frontends.lustre.syntax import AnyValue, ExpressionText, name_expression
from streamcheck.frontends.lustre.walks import MEMORY, conditions, subexpressions
from streamcheck.frontends.operations import canonical, has_function
from streamcheck.problem.specification import FunctionCall


@dataclass(frozen=True, slots=True)
class Promise:
    """The condition of an open value, which holds while `scope` takes steps."""

    value: Term
    condition: Term
    scope: LustreScope
    at: int


class AnyValues:
    """`pending` are those whose conditions are not read yet. `calls` are those of each `choose`, with the paths of
    their instances."""

    def __init__(self, declarations: LustreDeclarations) -> None:
        self.declarations = declarations
        self.tokens = declarations.tokens
        self.pending: list[tuple[ExpressionText, LustreScope]] = []
        self.promises: list[Promise] = []
        self.calls: dict[str, list[tuple[str, FunctionCall, int]]] = {}
        self._values: dict[tuple[int, LustreScope], Term] = {}

    def value(self, e: ExpressionText, scope: LustreScope) -> Term:
        key = (id(e), scope)
        if key not in self._values:
            open_value: AnyValue = e.value
            type = self.declarations.shape(open_value.type, scope).type
            word = "choose" if open_value.is_functional else "any"
            wish = f"{scope.path}{word}{self.tokens.place(e.at)}"
            value = self._values[key] = self.declarations.variables.unknown(wish, type, e.at)
            if open_value.is_functional and has_function(type):
                self.declarations.containers.restricted.add(value)
            self.pending.append((e, scope))
        return self._values[key]

    def read_condition(self, e: ExpressionText, scope: LustreScope) -> None:
        """Read what the value has to meet, once the names in it may be read."""
        open_value: AnyValue = e.value
        value = self._values[(id(e), scope)]
        shape = self.declarations.shape(open_value.type, scope)
        inner = LustreScope(scope.path, scope.context, scope, scope.node, {open_value.name: value})
        inner.shapes[open_value.name] = shape
        condition = conjunction(
            self.declarations.within(shape, value, inner),
            *(self.declarations.term(part, inner, BOOL) for part in e.args),
        )
        if condition is not TRUE:
            self.promises.append(Promise(value, condition, scope, e.at))
        if open_value.is_functional:
            self._add_call(e, inner, value)

    def _add_call(self, e: ExpressionText, inner: LustreScope, value: Term) -> None:
        names: dict[str, ExpressionText] = {}
        in_type = conditions(e.value.type)
        for own, condition in (*((e.value.name, c) for c in e.args), *in_type):
            for part in subexpressions(condition):
                if part.op in MEMORY:
                    text = f"the condition of `choose` has {MEMORY[part.op]} in it: it has no memory"
                    raise self.tokens.error(part.at, text, write="any { x: T | p }")
                called = self.declarations.file.nodes.get(part.value.node) if part.op == "call" else None
                if called is not None and called.kind == "node":
                    text = f"the condition of `choose` calls {called.name}, which is a node: it has no memory"
                    raise self.tokens.error(part.at, text, write="any { x: T | p }, or a function")
                if part.op in ("name", "bound") and part.value != own and inner.owner(part.value) is not None:
                    names[part.value] = name_expression(part.value, part.at)
        inputs = tuple(canonical(self.declarations.term(name, inner)) for name in names.values())
        types = "".join(f" {t.type}" for t in (*inputs, value))  # those of a node with type parameters are several
        place = f"choose{self.tokens.place(e.at)}{types}"
        call = FunctionCall(place, inner.context.tick, inputs, (canonical(value),))
        self.calls.setdefault(place, []).append((inner.path, call, e.at))
