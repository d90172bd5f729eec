"""Nodes unfolded into terms: every instance of every node that the main one reaches.

Names are read on demand by a machine with a stack of its own (definitions chain tens of thousands deep), so that a
loop shows itself as a name met while it is being read. What stands under `pre`, and the arguments of a call, are read
later or when they are asked for: neither makes a loop of itself.

    pre e          a register; each different `e` of an instance has one
    c -> pre e     a register that begins with the constant c
    a -> b         `a` while the context has taken no step, else `b`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, variable
from streamcheck.core.types import BOOL, Type, default
from streamcheck.formats.lustre.apply import applied
from streamcheck.formats.lustre.operators import equal
from streamcheck.formats.lustre.scopes import (
    PENDING,
    Context,
    Definition,
    Delay,
    Elements,
    Scope,
    Value,
)
from streamcheck.formats.lustre.shapes import Shapes
from streamcheck.formats.lustre.syntax import Activation, Equation, Expression, NodeText, Program, Variable
from streamcheck.formats.lustre.tokens import Tokens

Work: TypeAlias = list[tuple[Any, Any, Scope]]
EVALUATE, APPLY = 0, 1
DEEPEST = 200  # instances inside each other: a node that calls itself goes on for ever


class Unfolding(Shapes):
    def __init__(self, program: Program, tokens: Tokens) -> None:
        super().__init__(program, tokens)
        self.cells: list[tuple[Term, Term, Term]] = []  # (variable, initial, next) of the flags of contexts
        self.delays: dict[object, list[Delay]] = {}
        self.pending: list[list[Delay]] = []
        self.instances: dict[tuple[int, Scope], Scope] = {}
        self.scopes: list[Scope] = []
        self.reading: list[tuple[Scope, str, int]] = []
        self.unknowns: dict[Term, int] = {}  # variables of which nobody says anything, and where they stand
        self._free: dict[object, Term] = {}
        self._names: set[str] = set()
        self._outputs: dict[tuple[int, int], Expression] = {}
        self.warnings: dict[str, None] = {}
        self.outermost = self.context(TRUE, FALSE, FALSE, "first step")

    # Names and variables

    def fresh(self, wish: str) -> str:
        names = (wish if i == 1 else f"{wish}_{i}" for i in count(1))
        name = next(n for n in names if n not in self._names)
        self._names.add(name)
        return name

    def unknown(self, wish: str, type: Type, at: int) -> Term:
        var = variable(self.fresh(wish), type)
        self.unknowns[var] = at
        return var

    def name(self, name: str, at: int) -> Expression:
        return Expression("name", (), name, at)

    def mode(self, path: str, at: int, scope: Scope) -> Term:
        raise NotImplementedError

    def place(self, at: int) -> str:
        return f"[l{self.tokens.line(at)}c{self.tokens.column(at)}]"

    def anything(self, e: Expression, scope: Scope) -> Callable[[str, Term, Term, Type], Term]:
        """What an operation gives where nobody says: one unknown for each operation and its operands."""

        def make(op: str, a: Term, b: Term, type: Type) -> Term:
            key = (op, a, b)
            if key not in self._free:
                what = "an index that may be out of range" if op == "index" else "a division by what may be zero"
                self.warn(e.at, f"{what} gives any value")
                self._free[key] = self.unknown(f"{scope.path}{op}{self.place(e.at)}", type, e.at)
            return self._free[key]

        return make

    def warn(self, at: int, text: str) -> None:
        self.warnings[f"{self.tokens.where(at).short}: {text}"] = None

    def context(self, tick: Term, reset: Term, hard: Term, wish: str) -> Context:
        flag = variable(self.fresh(wish), BOOL)
        self.cells.append((flag, TRUE, choice(tick, FALSE, choice(hard, TRUE, flag))))
        return Context(disjunction(reset, flag), tick, reset, hard)

    # The machine

    def evaluate(self, root: Expression, scope: Scope) -> Value:
        results: list[Any] = []
        work: Work = [(EVALUATE, root, scope)]
        while work:
            action, e, scope = work.pop()
            if action == EVALUATE:
                special = SPECIAL.get(e.op)
                if special is None:
                    work.append((APPLY, e, scope))
                    for a in reversed(e.args):
                        work.append((EVALUATE, a, scope))
                else:
                    special(self, e, scope, work, results)
            elif action == APPLY:
                n = len(e.args)
                args = results[len(results) - n :]
                del results[len(results) - n :]
                results.append(self._applied(e, args, scope))
            else:
                action(e, scope, work, results)
        return results[0]  # type: ignore[no-any-return]

    def _applied(self, e: Expression, args: list[Value], scope: Scope) -> Value:
        try:
            return applied(self, e, args, scope)
        except TypeRule as why:
            raise self.tokens.error(e.at, f"{self.tokens.shown(e.at)}: {why}") from None

    def term(self, e: Expression, scope: Scope, type: Type | None = None) -> Term:
        value = self.evaluate(e, scope)
        if isinstance(value, tuple):
            raise self.tokens.error(e.at, f"one value is due, and this is {len(value)}")
        if type is not None and value.type is not type:
            raise self.tokens.error(e.at, f"{type} is due, and this is {value.type}")
        return value

    # Names

    def _name(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        name = e.value
        owner: Scope | None = scope
        while owner is not None:
            known = owner.values.get(name)
            if known is not None:
                if known is PENDING:
                    raise self._loop(owner, name)
                results.append(known)
                return
            found = owner.definitions.get(name)
            if found is not None:
                self._read(e, scope, owner, found, work)
                return
            owner = owner.parent
        raise self.tokens.error(e.at, f"there is no {name} here")

    def _read(self, e: Expression, scope: Scope, owner: Scope, found: Definition | Elements, work: Work) -> None:
        """Read the definition, keep what it gives, and look again."""
        self.reading.append((owner, e.value, found.at))
        work.append((EVALUATE, e, scope))
        if isinstance(found, Elements):
            owner.values[e.value] = PENDING
            whole = self._whole(found, owner, self._shape_of(owner, found))
            work.append((self._store, Definition((e.value,), whole, owner, found.at), owner))
            work.append((EVALUATE, whole, owner))
            return
        value = found.value
        if len(found.names) > 1 and value.op == "call":  # each output on its own: one may depend on another
            position = found.names.index(e.value)
            owner.values[e.value] = PENDING
            work.append((self._store, Definition((e.value,), value, owner, found.at), owner))
            work.append((EVALUATE, self._output(value, position), found.scope))
            return
        for name in found.names:
            owner.values[name] = PENDING
        work.append((self._store, found, owner))
        work.append((EVALUATE, value, found.scope))

    def _output(self, call: Expression, position: int) -> Expression:
        key = (id(call), position)
        if key not in self._outputs:
            self._outputs[key] = Expression("output", (call,), position, call.at)
        return self._outputs[key]

    def _store(self, found: Definition, owner: Scope, work: Work, results: list[Any]) -> None:
        value = results.pop()
        self.reading.pop()
        values = value if isinstance(value, tuple) else (value,)
        if found.part is not None:
            values = (values[found.part],)
        if len(values) != len(found.names):
            raise self.tokens.error(found.at, f"{len(found.names)} values are due, and this gives {len(values)}")
        for name, one in zip(found.names, values, strict=True):
            shape = owner.shapes.get(name)
            if shape is not None and shape.type is not one.type:
                text = f"{name} is declared {shape.type}, and this is {one.type}"
                raise self.tokens.error(found.at, text)
            owner.values[name] = one

    def _loop(self, owner: Scope, name: str) -> SpecError:
        start = next(i for i, (s, n, _) in enumerate(self.reading) if s is owner and n == name)
        loop = self.reading[start:]
        also = tuple((f"{s.path}{n} is read here", self.tokens.where(at)) for s, n, at in loop[1:12])
        text = f"{owner.path}{name} depends on its own present value"
        return SpecError(text, self.tokens.where(loop[0][2]), also=also, write="pre, where the value before is meant")

    # Choices: where the condition is a constant, the other branch is not read

    def _if(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        work.append((self._branch, e, scope))
        work.append((EVALUATE, e.args[0], scope))

    def _branch(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        condition = results[-1]
        if isinstance(condition, Term) and condition.is_const and condition.type is BOOL:
            results.pop()
            work.append((EVALUATE, e.args[1 if condition is TRUE else 2], scope))
            return
        work.append((APPLY, e, scope))
        work.append((EVALUATE, e.args[2], scope))
        work.append((EVALUATE, e.args[1], scope))

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

    # Time

    def _arrow(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        if e.args[1].op == "pre":
            work.append((self._initialised, e, scope))
            work.append((EVALUATE, e.args[0], scope))
            return
        work.append((APPLY, e, scope))
        work.append((EVALUATE, e.args[1], scope))
        work.append((EVALUATE, e.args[0], scope))

    def _initialised(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        initial = results[-1]
        parts = initial if isinstance(initial, tuple) else (initial,)
        if not all(is_constant(p) for p in parts):
            work.append((APPLY, e, scope))
            work.append((EVALUATE, e.args[1], scope))
            return
        results[-1] = self._delayed(e.args[1], scope, parts)

    def _pre(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        results.append(self._delayed(e, scope, None))

    def _delayed(self, e: Expression, scope: Scope, initial: tuple[Term, ...] | None) -> Value:
        """The registers of `pre …` as they read now; made when first met."""
        held = e.args[0]
        owner = scope.owner(held.value) if held.op == "name" else None
        named: object = (owner, held.value) if owner is not None else (scope, id(held))
        key = (scope.context, named, initial)
        delays = self.delays.get(key)
        if delays is None:
            types = self.types_of(held, scope)
            if initial is not None and [i.type for i in initial] != types:
                shown = ", ".join(map(str, types))
                raise self.tokens.error(e.at, f"what comes before and after `->` differ in type: after, {shown}")
            wish = f"pre {owner.path}{held.value}" if owner is not None else f"pre {scope.path}{self.place(e.at)}"
            delays = [
                Delay(variable(self.fresh(wish), t), None if initial is None else initial[i], scope.context,
                      self.tokens.where(e.at), e.at, self.tokens.shown(e.at))
                for i, t in enumerate(types)
            ]  # fmt: skip
            if owner is not None:
                delays[0].shape = owner.shapes.get(held.value)
            delays[0].follows = (held, scope)
            self.delays[key] = delays
            self.pending.append(delays)
        read = tuple(self._present(d) for d in delays)
        return read[0] if len(read) == 1 else read

    def _present(self, delay: Delay) -> Term:
        context = delay.context
        if context.reset is FALSE:
            return delay.var
        if delay.initial is not None:
            return choice(context.reset, delay.initial, delay.var)
        return delay.var  # if its first value can be seen, `registers` puts any value there

    def define(self, delay: Delay, value: Term) -> None:
        context = delay.context
        if value.type is not delay.var.type:
            text = f"what `pre` holds is {value.type}, where {delay.var.type} is due"
            raise SpecError(text, delay.where)
        start = delay.initial if delay.initial is not None else constant(value.type, default(value.type))
        delay.value = value
        delay.next = choice(context.tick, value, choice(context.hard, start, delay.var))

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
        self.declare_constants(scope, node.constants)
        for v in node.inputs:
            scope.shapes[v.name] = self.shape(v.type, scope)
        for v in (*node.outputs, *node.locals):
            if v.name in scope.shapes or v.name in scope.definitions:
                raise self.tokens.error(v.at, f"{v.name} is declared a second time")
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

    # Arrays defined element by element

    def _index(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        """One element of an array that is defined element by element may be known before the others are."""
        indices: list[Expression] = []
        base = e
        while base.op == "index":
            indices.insert(0, base.args[1])
            base = base.args[0]
        owner = scope.owner(base.value) if base.op == "name" else None
        found = None if owner is None else owner.definitions.get(base.value)
        if owner is None or not isinstance(found, Elements) or len(indices) != len(found.indices):
            work.append((APPLY, e, scope))
            work.append((EVALUATE, e.args[1], scope))
            work.append((EVALUATE, e.args[0], scope))
            return
        work.append((self._element, (e, owner, found), scope))
        for i in reversed(indices):
            work.append((EVALUATE, i, scope))

    def _element(self, which: Any, scope: Scope, work: Work, results: list[Any]) -> None:
        e, owner, found = which
        n = len(found.indices)
        indices = results[len(results) - n :]
        if not all(isinstance(i, Term) and i.is_const for i in indices):
            del results[len(results) - n :]
            work.append((APPLY, e, scope))
            work.append((EVALUATE, e.args[1], scope))
            work.append((EVALUATE, e.args[0], scope))
            return
        del results[len(results) - n :]
        position = tuple(i.payload for i in indices)
        name = f"{found.name}{''.join(f'[{i}]' for i in position)}"
        if name not in owner.values and name not in owner.definitions:
            self._check_position(e, found, position, self._shape_of(owner, found))
            self._define_element(owner, found, name, position)
        work.append((EVALUATE, self.name(name, e.at), owner))

    def _define_element(self, owner: Scope, found: Elements, name: str, position: tuple[int, ...]) -> None:
        inner = Scope(owner.path, owner.context, owner, owner.node)
        for index, value in zip(found.indices, position, strict=True):
            inner.values[index] = constant(self.integer, value)
        owner.definitions[name] = Definition((name,), found.value, inner, found.at)

    def _check_position(self, e: Expression, found: Elements, position: tuple[int, ...], lengths: list[int]) -> None:
        for i, length in zip(position, lengths, strict=True):
            if not 0 <= i < length:
                raise self.tokens.error(e.at, f"index {i} of {found.name}, which has {length} elements there")

    def _shape_of(self, owner: Scope, found: Elements) -> list[int]:
        """The lengths, outermost first."""
        return self.lengths(owner.shapes[found.name], len(found.indices), found.at)

    def _whole(self, found: Elements, owner: Scope, lengths: list[int]) -> Expression:
        """The array as a literal of its elements."""

        def build(position: tuple[int, ...]) -> Expression:
            if len(position) == len(lengths):
                name = f"{found.name}{''.join(f'[{i}]' for i in position)}"
                if name not in owner.values and name not in owner.definitions:
                    self._define_element(owner, found, name, position)
                return self.name(name, found.at)
            n = lengths[len(position)]
            return Expression("array", tuple(build((*position, i)) for i in range(n)), None, found.at)

        return build(())

    # Everything

    def finish(self, claims: Callable[[Scope], None]) -> None:
        """Read every equation of every instance, and what every register holds next."""
        done = 0
        while done < len(self.scopes) or self.pending:
            while self.pending:
                self._follow(self.pending.pop())
            if done < len(self.scopes):
                scope = self.scopes[done]
                done += 1
                for name in list(scope.definitions):
                    if name not in scope.values:
                        self.evaluate(self.name(name, scope.definitions[name].at), scope)
                claims(scope)

    def _follow(self, delays: list[Delay]) -> None:
        held, scope = delays[0].follows
        value = self.evaluate(held, scope)
        values = value if isinstance(value, tuple) else (value,)
        for delay, one in zip(delays, values, strict=True):
            self.define(delay, one)

    def all_delays(self) -> Iterator[Delay]:
        for group in self.delays.values():
            yield from group


def _gather(n: int, scope: Scope, work: Work, results: list[Any]) -> None:
    parts = tuple(results[len(results) - n :]) if n else ()
    del results[len(results) - n :]
    results.append(parts)


def is_constant(term: Term) -> bool:
    """Whether the term is a constant, or an array or record of such."""
    return isinstance(term, Term) and (
        term.is_const or (term.op in ("array", "struct") and all(is_constant(a) for a in term.args))
    )


SPECIAL: dict[str, Callable[..., None]] = {
    "name": Unfolding._name,
    "if": Unfolding._if,
    "merge": Unfolding._merge,
    "when": Unfolding._when,
    "arrow": Unfolding._arrow,
    "pre": Unfolding._pre,
    "call": Unfolding._call,
    "output": Unfolding._output_alone,
    "index": Unfolding._index,
}
