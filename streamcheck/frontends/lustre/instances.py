"""The instances of nodes: one scope for every call that is reached, its parameters bound to the arguments.

An argument of a call is read when it is asked for, and each output on its own: that a call has one output depend on
another through the caller makes no causality cycle. A call that is activated or restarted has a context of its own, in
which its registers keep their values while it sleeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streamcheck.core.errors import SpecError
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.recursion_rules import recursive_groups
from streamcheck.frontends.lustre.scopes import LazyDefinition, LazyElements, LustreScope
from streamcheck.frontends.lustre.syntax import Equation, ExpressionText, NodeText, Variable, name_expression
from streamcheck.frontends.operations import has_function

UNFOLDED = 2  # calls of a recursive function in each other (heuristic)
MOST_CONSTANT_CALLS = 200  # in each other, of a recursive function of constants
MOST_INSTANCES = 1000  # of all nodes, beyond which calls of constants are not unfolded


class Instances:
    """`scopes` are the instances in the order of their creation, the main node first. Without `unfold`, the outputs of
    the nodes that it calls are unknowns."""

    def __init__(self, declarations: LustreDeclarations, *, unfold: bool) -> None:
        self.unfold = unfold
        self.declarations = declarations
        self.tokens = declarations.tokens
        self.variables = declarations.variables
        self.scopes: list[LustreScope] = []
        self.functions: dict[str, list[LustreScope]] = {}  # the instances of each imported function
        self.groups = recursive_groups(declarations.file)
        self.callers: dict[LustreScope, LustreScope] = {}
        self.places: dict[LustreScope, int] = {}  # the tokens of the calls
        self.open_calls: list[LustreScope] = []  # of recursive functions, deeper than they are unfolded
        self._of_call: dict[tuple[int, LustreScope], LustreScope] = {}

    def has(self, call: ExpressionText, scope: LustreScope) -> bool:
        return (id(call), scope) in self._of_call

    def of_call(self, call: ExpressionText, scope: LustreScope) -> LustreScope:
        return self._of_call[(id(call), scope)]

    def create(self, call: ExpressionText, scope: LustreScope, clock: Term, restart: Term) -> None:
        """Make the instance of a call, active while `clock` holds and restarted whenever `restart` does."""
        node = self.declarations.file.nodes.get(call.value.node)
        if node is None:
            raise self.tokens.error(call.at, f"node {call.value.node} is not declared")
        path = self.variables.fresh(f"{scope.path}{node.name}{self.tokens.place(call.at)}")
        context = scope.context
        if clock is not TRUE or restart is not FALSE:
            context = self.variables.context_on_clock(context, clock, restart, f"{path} first step")
        child = LustreScope(f"{path}.", context, self.declarations.globals, node, clock=clock)
        child.types = self.declarations.type_arguments(node, call.value.types, call.args, scope, call.at)
        self.callers[child] = scope
        self.places[child] = call.at
        self._bind(child, node, call, scope)
        if self.unfold and not self._is_deep(child, node):
            self.populate(child, node)
        else:
            self.scopes.append(child)
            self._declare(child, (*node.inputs, *node.outputs))
            self._leave_open(child, node)
        self._of_call[(id(call), scope)] = child

    def around(self, scope: LustreScope) -> Iterator[LustreScope]:
        """The instance that the scope belongs to, its caller, the caller of that …"""
        instance: LustreScope | None = scope
        while instance is not None:
            while instance not in self.callers and instance.parent not in (None, self.declarations.globals):
                assert instance.parent is not None
                instance = instance.parent
            yield instance
            instance = self.callers.get(instance)

    def _is_deep(self, child: LustreScope, node: NodeText) -> bool:
        """True if this call of a recursive function is not unfolded any more. One of constants always is."""
        if node.is_lemma:
            return True  # what its body needs is proved of the general instance
        group = self.groups.get(node.name)
        if not group:
            return False
        depth = sum(s.node is not None and s.node.name in group for s in self.around(child)) - 1
        if depth < UNFOLDED:
            return False
        if depth < MOST_CONSTANT_CALLS and len(self.scopes) < MOST_INSTANCES:
            term = self.declarations.term
            if all(term(name_expression(v.name, v.at), child).is_const for v in node.inputs):
                return False
        self.open_calls.append(child)
        return True

    def _bind(self, child: LustreScope, node: NodeText, call: ExpressionText, scope: LustreScope) -> None:
        given: list[tuple[ExpressionText, int | None]] = []
        for a in call.args:
            n = self.declarations.arity(a, scope)
            given += [(a, None)] if n == 1 else [(a, i) for i in range(n)]
        if len(given) != len(node.inputs):
            text = f"{node.name} has {len(node.inputs)} inputs, and {len(given)} values are given"
            raise self.tokens.error(call.at, text)
        for parameter, (value, part) in zip(node.inputs, given, strict=True):
            child.definitions[parameter.name] = LazyDefinition((parameter.name,), value, scope, value.at, part)

    def populate(self, scope: LustreScope, node: NodeText) -> None:
        """Add the declarations and equations of the node to its scope, to be read when asked for."""
        self.scopes.append(scope)
        self.declarations.declare_constants(scope, node.constants)
        self._declare(scope, (*node.inputs, *node.outputs, *node.locals))
        for equation in node.equations:
            self.add_equation(scope, equation)
        if node.imported or node.kind == "contract":
            self._leave_open(scope, node)
        if node.imported:
            if node.kind == "function":
                self.functions.setdefault(node.name, []).append(scope)
            self.variables.warn(node.at, f"{node.name} is imported: its outputs are any that its contract allows")

    def _declare(self, scope: LustreScope, variables: Iterable[Variable]) -> None:
        for v in variables:
            scope.shapes[v.name] = self.declarations.shape(v.type, scope)

    def _leave_open(self, scope: LustreScope, node: NodeText) -> None:
        for v in node.outputs:
            type = scope.shapes[v.name].type
            value = scope.values[v.name] = self.variables.unknown(f"{scope.path}{v.name}", type, v.at)
            if node.kind == "function" and has_function(type):
                self.declarations.containers.restricted.add(value)

    def add_equation(self, scope: LustreScope, equation: Equation) -> None:
        for name in equation.names:
            if name in scope.definitions:
                also = (("the first equation", self.tokens.where(scope.definitions[name].at)),)
                raise SpecError(f"{name} has two equations", self.tokens.where(equation.at), also=also)
        if equation.indices:
            (name,) = equation.names
            scope.definitions[name] = LazyElements(name, equation.indices, equation.value, equation.at)
            self.declarations.lengths(scope.shapes[name], len(equation.indices), equation.at)
            return
        value, names = equation.value, equation.names
        arity = self.declarations.arity
        if value.op == "tuple" and len(value.args) == len(names) and all(arity(a, scope) == 1 for a in value.args):
            for name, one in zip(names, value.args, strict=True):
                scope.definitions[name] = LazyDefinition((name,), one, scope, equation.at)
            return
        whole = LazyDefinition(names, value, scope, equation.at)
        for name in names:
            scope.definitions[name] = whole
