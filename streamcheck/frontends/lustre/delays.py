"""The registers of `pre`, with initial values from `->`.

    pre e          a register; each `pre e` that no `->` guards has one, with a first value of its own
    c -> pre e     a register that begins with the constant c
    a -> b         `a` while the context has taken no step, else `b`

The next value of a register is read later, so that it may depend on the register.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import choice
from streamcheck.core.term import FALSE, Term, constant, variable
from streamcheck.core.types import Type, default
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.scopes import Context, Delay, LustreScope, Shape, TermOrTuple
from streamcheck.frontends.lustre.syntax import ExpressionText
from streamcheck.frontends.lustre.walks import subexpressions


class Delays:
    """Makes registers. `pending` are those whose next values are not read yet, with the expressions they hold."""

    def __init__(self, declarations: LustreDeclarations) -> None:
        self.declarations = declarations
        self.tokens = declarations.tokens
        self.variables = declarations.variables
        self.pending: list[tuple[list[Delay], ExpressionText, LustreScope]] = []
        self.by_var: dict[Term, Delay] = {}
        self.ranged: list[tuple[Delay, Shape, LustreScope]] = []  # the registers of variables with ranges, in JKind
        self.moving: dict[LustreScope, tuple[str, ...]] = {}  # scopes with indices that change from step to step
        self._groups: dict[object, list[Delay]] = {}

    def __iter__(self) -> Iterator[Delay]:
        for group in self._groups.values():
            yield from group

    def present(self, e: ExpressionText, scope: LustreScope, initial: tuple[Term, ...] | None = None) -> TermOrTuple:
        """The present values of the registers of `pre …`, which are made at its first use."""
        held = e.args[0]
        owner = scope.owner(held.value) if held.op == "name" else None
        shared = owner is not None and id(e) not in self.declarations.file.unguarded
        named: object = (owner, held.value) if shared else (scope, id(held))
        context = self._context(scope)
        key = (context, named, initial)
        delays = self._groups.get(key)
        if delays is None and self.moving and self._has_moving_index(held, scope):
            return self._any_value(e, scope)
        if delays is None:
            delays = self._make(e, scope, initial, context)
            self.by_var |= {d.var: d for d in delays}
            self._groups[key] = delays
            self.pending.append((delays, held, scope))
        values = tuple(present(d) for d in delays)
        return values[0] if len(values) == 1 else values

    def _has_moving_index(self, held: ExpressionText, scope: LustreScope) -> bool:
        """True if what is held depends on an index that was another one at the step before."""
        names = {name for around in _around(scope) for name in self.moving.get(around, ())}
        return any(part.op == "name" and part.value in names for part in subexpressions(held))

    def _context(self, scope: LustreScope) -> Context:
        """The context of registers: what they hold in the element at an index that changes is the same at each index,
        so they take steps with the array."""
        for around in _around(scope):
            if around in self.moving:
                assert around.parent is not None
                return around.parent.context
        return scope.context

    def _indices(self, scope: LustreScope) -> tuple[Term, ...]:
        scopes = self.declarations.containers.index_scopes
        return tuple(index for around in _around(scope) for index in scopes.get(around, ()))

    def _any_value(self, e: ExpressionText, scope: LustreScope) -> TermOrTuple:
        """Any value, for what `pre` was at the present index: that is not kept."""
        wish = f"{scope.path}pre {self.tokens.place(e.at)}"
        types = self.declarations.types_of(e.args[0], scope)
        values = tuple(self.variables.unknown(wish, type, e.at) for type in types)
        for value in values:
            self.declarations.containers.not_tracked(value, wish)
            self.declarations.containers.sources[value] = self._indices(scope)
        return values[0] if len(values) == 1 else values

    def _make(
        self, e: ExpressionText, scope: LustreScope, initial: tuple[Term, ...] | None, context: Context
    ) -> list[Delay]:
        held = e.args[0]
        owner = scope.owner(held.value) if held.op == "name" else None
        types = self.declarations.types_of(held, scope)
        if initial is not None and [i.type for i in initial] != types:
            shown = ", ".join(map(str, types))
            raise self.tokens.error(e.at, f"the two sides of `->` differ in type: on the right, {shown}")
        wish = f"pre {owner.path}{held.value}" if owner is not None else f"pre {scope.path}{self.tokens.place(e.at)}"
        where, shown = self.tokens.where(e.at), self.tokens.token_text(e.at)
        delays = []
        for i, type in enumerate(types):
            first = None if initial is None else initial[i]
            delays.append(Delay(variable(self.variables.fresh(wish), type), first, context, where, e.at, shown))
        declared = owner.shapes.get(held.value) if owner is not None else None
        if self.declarations.file.is_jkind and declared is not None and declared.is_bounded and initial is None:
            self.ranged.append((delays[0], declared, scope))
        return delays

    def held_output(self, scope: LustreScope, child: LustreScope, i: int, start: Term, output: Term, at: int) -> Term:
        """`if clock then output else (start -> pre of all this)`, for output i of an instance that is activated."""
        assert child.node is not None
        if i not in child.held:
            initial = start if is_constant(start) else None
            var = variable(self.variables.fresh(f"pre {child.path}{child.node.outputs[i].name} held"), output.type)
            delay = Delay(var, initial, scope.context, self.tokens.where(at), at, "condact")
            self._groups[("held", child, i)] = [delay]
            self.by_var[delay.var] = delay
            before = present(delay)
            if initial is None:
                before = choice(scope.context.first, start, before)
            child.held[i] = choice(child.clock, output, before)
            define(delay, child.held[i])
        return child.held[i]

    def held_since(self, e: ExpressionText, scope: LustreScope, chosen: Term, values: tuple[Term, ...]) -> TermOrTuple:
        """`current …`: the operand's values while `chosen` holds, else those that they had then last."""
        key = ("current", scope, id(e))
        if key not in self._groups:
            wish = f"{scope.path}current {self.tokens.place(e.at)}"
            where, shown = self.tokens.where(e.at), self.tokens.token_text(e.at)
            self._groups[key] = []
            for value in values:
                var = variable(self.variables.fresh(wish), value.type)
                delay = Delay(var, None, scope.context, where, e.at, shown)
                self._groups[key].append(delay)
                self.by_var[var] = delay
                define(delay, choice(chosen, value, present(delay)))
        held = tuple(delay.value for delay in self._groups[key] if delay.value is not None)
        return held[0] if len(held) == 1 else held

    def beside(self, delay: Delay, wish: str, type: Type) -> Delay:
        """Another register that takes steps with this one."""
        var = variable(self.variables.fresh(wish), type)
        own = Delay(var, None, delay.context, delay.where, delay.at, delay.shown)
        self._groups[var] = [own]
        self.by_var[var] = own
        return own


def _around(scope: LustreScope) -> Iterator[LustreScope]:
    """The scope and those whose names it sees."""
    around: LustreScope | None = scope
    while around is not None:
        yield around
        around = around.parent


def present(delay: Delay) -> Term:
    context = delay.context
    if context.reset is not FALSE and delay.initial is not None:
        return choice(context.reset, delay.initial, delay.var)
    return delay.var  # if its first value can be seen, `registers` puts any value there


def define(delay: Delay, value: Term) -> None:
    """Set what the register holds next: the value if its context takes a step."""
    if value.type is not delay.var.type:
        raise SpecError(f"the operand of `pre`: expected {delay.var.type}, found {value.type}", delay.where)
    delay.value = value
    delay.next = next_of(delay, value, delay.var)


def next_of(delay: Delay, value: Term, kept: Term) -> Term:
    """The next value of the register: the value if its context takes a step, else what is kept."""
    start = delay.initial if delay.initial is not None else constant(value.type, default(value.type))
    return choice(delay.context.tick, value, choice(delay.context.hard, start, kept))


def is_constant(value: TermOrTuple) -> bool:
    """True if the value is one constant, or an array or record of constants."""
    return isinstance(value, Term) and (
        value.is_const or (value.op in ("array", "struct") and all(is_constant(a) for a in value.args))
    )
