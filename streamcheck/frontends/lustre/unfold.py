"""Nodes unfolded into terms: every instance of every node that the main one reaches.

An argument of a call is read when it is asked for, and each output on its own: that a call has one output depend on
another through the caller makes no loop. A call that is activated or restarted has a context of its own, in which its
registers hold what they have while it sleeps.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, variable
from streamcheck.core.types import BOOL
from streamcheck.frontends.lustre.delays import is_constant
from streamcheck.frontends.lustre.elements import Arrays
from streamcheck.frontends.lustre.machine import APPLY, EVALUATE, Work
from streamcheck.frontends.lustre.operators import equal
from streamcheck.frontends.lustre.scopes import Definition, Delay, Elements, Scope
from streamcheck.frontends.lustre.syntax import Activation, Equation, Expression, NodeText, Program, Variable
from streamcheck.frontends.lustre.tokens import Tokens

DEEPEST = 200  # instances inside each other: a node that calls itself goes on for ever


class Unfolding(Arrays):
    def __init__(self, program: Program, tokens: Tokens) -> None:
        super().__init__(program, tokens)
        self.instances: dict[tuple[int, Scope], Scope] = {}
        self.scopes: list[Scope] = []

    # Merges

    def _merge(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        """A branch may be on a clock, which is true where the branch is chosen: its other values do not matter."""
        work.append((APPLY, e, scope))
        for i in reversed(range(1, len(e.args))):
            branch = e.args[i]
            sampled = branch.args[0] if branch.op == "when" else branch
            if sampled.op == "call" and sampled.value.clock is not None and sampled.value.defaults is None:
                work.append((self._on_clock, (e, i, sampled), scope))
                work.append((self._outputs_of, sampled, scope))
                self._prepare(sampled, scope, work)
            else:
                if branch.op == "when":
                    work.append((self._on_clock, (e, i, branch), scope))
                work.append((EVALUATE, sampled, scope))
        work.append((EVALUATE, e.args[0], scope))

    def _on_clock(self, which: Any, scope: Scope, work: Work, results: list[Any]) -> None:
        """The i-th branch has just been read, the merge's clock before the first."""
        e, i, branch = which
        clock, member = results[-1 - i], e.value[i - 1]
        if isinstance(clock, tuple):
            return  # an error that is told where the branches are put together
        if member in ("true", "false") and clock.type is BOOL:
            chosen = clock if member == "true" else negation(clock)
        else:
            chosen = equal(clock, self.term(self.name(member, e.at), self.globals))
        own = self.instances[(id(branch), scope)].clock if branch.op == "call" else self._clock(branch.args[1], scope)
        if own is not chosen:
            text = f"this branch of the merge is on another clock than that of `{member}`"
            raise self.tokens.error(branch.at, text)

    def _clock(self, e: Expression, scope: Scope) -> Term:
        """`c`, `not c`, or `member(c)` of an enum."""
        if e.op == "call" and e.value.node in self.globals.values and len(e.args) == 1:
            return equal(self.term(e.args[0], scope), self.term(self.name(e.value.node, e.at), self.globals))
        return self.term(e, scope, BOOL)

    def _when(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        raise self.tokens.error(e.at, "`when` is supported as a branch of a merge only")

    # Calls

    def _call(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        self._needs_default(e)
        work.append((self._outputs_of, e, scope))
        self._prepare(e, scope, work)

    def _output_alone(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        call = e.args[0]
        self._needs_default(call)
        work.append((self._one_output, e, scope))
        self._prepare(call, scope, work)

    def _needs_default(self, e: Expression) -> None:
        if e.value.clock is not None and e.value.defaults is None:
            text = "`activate` without `initial default` is supported as a branch of a merge only"
            raise self.tokens.error(e.at, text)

    def _prepare(self, e: Expression, scope: Scope, work: Work) -> None:
        """See to it that the instance is there: its clock and restart are read first."""
        if (id(e), scope) in self.instances:
            return
        activation: Activation = e.value
        work.append((self._create, e, scope))
        for condition in (activation.restart, activation.clock):
            if condition is not None:
                work.append((EVALUATE, condition, scope))

    def _create(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        activation: Activation = e.value
        restart = FALSE if activation.restart is None else results.pop()
        clock = TRUE if activation.clock is None else results.pop()
        for condition in (clock, restart):
            if isinstance(condition, tuple) or condition.type is not BOOL:
                raise self.tokens.error(e.at, "a clock or restart condition is bool")
        if (id(e), scope) not in self.instances:  # the clock may have asked for it
            self.instances[(id(e), scope)] = self._instance(e, scope, clock, restart)

    def _instance(self, e: Expression, scope: Scope, clock: Term, restart: Term) -> Scope:
        node = self.program.nodes.get(e.value.node)
        if node is None:
            raise self.tokens.error(e.at, f"there is no node {e.value.node}")
        if scope.path.count(".") >= DEEPEST:
            raise self.tokens.error(e.at, f"{node.name} calls itself without end")
        path = self.fresh(f"{scope.path}{node.name}{self.place(e.at)}")
        context = scope.context
        if clock is not TRUE or restart is not FALSE:
            around = context
            hard = disjunction(conjunction(around.tick, around.reset), around.hard)
            tick = conjunction(around.tick, clock)
            context = self.context(tick, disjunction(around.reset, restart), hard, f"{path} first step")
        child = Scope(f"{path}.", context, self.globals, node, clock=clock)
        self._bind(child, node, e, scope)
        self.populate(child, node)
        return child

    def _bind(self, child: Scope, node: NodeText, e: Expression, scope: Scope) -> None:
        given: list[tuple[Expression, int | None]] = []
        for a in e.args:
            n = self.arity(a, scope)
            given += [(a, None)] if n == 1 else [(a, i) for i in range(n)]
        if len(given) != len(node.inputs):
            text = f"{node.name} has {len(node.inputs)} inputs, and {len(given)} values are given"
            raise self.tokens.error(e.at, text)
        for parameter, (value, part) in zip(node.inputs, given, strict=True):
            child.definitions[parameter.name] = Definition((parameter.name,), value, scope, value.at, part)

    def _outputs_of(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        child = self.instances[(id(e), scope)]
        assert child.node is not None
        n = len(child.node.outputs)
        if n != 1:
            work.append((_gather, n, scope))
        for i in reversed(range(n)):
            self._push_output(e, i, scope, child, work)

    def _one_output(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        call = e.args[0]
        child = self.instances[(id(call), scope)]
        assert child.node is not None
        if e.value >= len(child.node.outputs):
            raise self.tokens.error(e.at, f"{child.node.name} has {len(child.node.outputs)} outputs")
        self._push_output(call, e.value, scope, child, work)

    def _push_output(self, e: Expression, i: int, scope: Scope, child: Scope, work: Work) -> None:
        assert child.node is not None
        output = child.node.outputs[i]
        if e.value.defaults is not None and child.clock is not TRUE:
            defaults = e.value.defaults
            if len(defaults) != len(child.node.outputs):
                text = (
                    f"{child.node.name} has {len(child.node.outputs)} outputs, and {len(defaults)} defaults are given"
                )
                raise self.tokens.error(e.at, text)
            work.append((self._held, (e, i, child), scope))
            work.append((EVALUATE, defaults[i], scope))
        work.append((EVALUATE, self.name(output.name, e.at), child))

    def _held(self, which: Any, scope: Scope, work: Work, results: list[Any]) -> None:
        """`if clock then output else (default -> pre of all this)`, made once."""
        e, i, child = which
        start, present = results.pop(), results.pop()
        if i not in child.held:
            if isinstance(start, tuple) or start.type is not present.type:
                raise self.tokens.error(e.at, f"the default of output {i + 1} is not {present.type}")
            initial = start if is_constant(start) else None
            var = variable(self.fresh(f"pre {child.path}{child.node.outputs[i].name} held"), present.type)
            delay = Delay(var, initial, scope.context, self.tokens.where(e.at), e.at, "condact")
            self.delays[("held", child, i)] = [delay]
            before = self._present(delay)
            if initial is None:
                before = choice(scope.context.first, start, before)
            child.held[i] = choice(child.clock, present, before)
            self.define(delay, child.held[i])
        results.append(child.held[i])

    # Instances

    def populate(self, scope: Scope, node: NodeText) -> None:
        """The declarations and equations of the node, to be read when asked for."""
        self.scopes.append(scope)
        declared = {c.name for c in node.constants}
        for v in (*node.inputs, *node.outputs, *node.locals):
            if v.name in declared:
                raise self.tokens.error(v.at, f"{v.name} is declared a second time")
            declared.add(v.name)
        self.declare_constants(scope, node.constants)
        for v in (*node.inputs, *node.outputs, *node.locals):
            scope.shapes[v.name] = self.shape(v.type, scope)
        defined = {v.name for v in (*node.outputs, *node.locals)}
        for equation in node.equations:
            self.add_equation(scope, equation, defined)
        if node.imported:
            same = ", not always the same for the same arguments" if node.kind == "function" else ""
            self.warn(node.at, f"{node.name} is imported: it gives any value that its contract allows{same}")
        for v in (*node.outputs, *node.locals):
            if v.name not in scope.definitions:
                self._undefined(scope, node, v)

    def _undefined(self, scope: Scope, node: NodeText, v: Variable) -> None:
        if not node.imported:
            self.warn(v.at, f"{v.name} has no equation: it may have any value")
        shape = scope.shapes[v.name]
        scope.values[v.name] = self.unknown(f"{scope.path}{v.name}", shape.type, v.at)

    def add_equation(self, scope: Scope, equation: Equation, allowed: set[str]) -> None:
        for name in equation.names:
            if name not in allowed:
                raise self.tokens.error(equation.at, f"{name} is no output or local variable here")
            if name in scope.definitions:
                also = (("the first equation", self.tokens.where(scope.definitions[name].at)),)
                raise SpecError(f"{name} has a second equation", self.tokens.where(equation.at), also=also)
        if equation.indices:
            (name,) = equation.names
            scope.definitions[name] = Elements(name, equation.indices, equation.value, equation.at)
            return
        value, names = equation.value, equation.names
        if value.op == "tuple" and len(value.args) == len(names) and all(self.arity(a, scope) == 1 for a in value.args):
            for name, one in zip(names, value.args, strict=True):
                scope.definitions[name] = Definition((name,), one, scope, equation.at)
            return
        whole = Definition(names, value, scope, equation.at)
        for name in names:
            scope.definitions[name] = whole

    # Everything

    def finish(self, claims: Callable[[Scope], None]) -> None:
        """Read every equation of every instance, and what every register holds next."""
        done = 0
        while done < len(self.scopes) or self.pending:
            while self.pending:
                self.follow(self.pending.pop())
            if done < len(self.scopes):
                scope = self.scopes[done]
                done += 1
                for name in list(scope.definitions):
                    if name not in scope.values:
                        self.evaluate(self.name(name, scope.definitions[name].at), scope)
                claims(scope)

    special = MappingProxyType(
        {
            "name": Arrays._name,
            "if": Arrays._if,
            "arrow": Arrays._arrow,
            "pre": Arrays._pre,
            "index": Arrays._index,
            "merge": _merge,
            "when": _when,
            "call": _call,
            "output": _output_alone,
        }
    )


def _gather(n: int, scope: Scope, work: Work, results: list[Any]) -> None:
    parts = tuple(results[len(results) - n :]) if n else ()
    del results[len(results) - n :]
    results.append(parts)
