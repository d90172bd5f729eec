"""Registers.

    pre e          a register; each different `e` of an instance has one
    c -> pre e     a register that begins with the constant c
    a -> b         `a` while the context has taken no step, else `b`

What a register holds next is read later, so that it may depend on the register.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import choice
from streamcheck.core.term import FALSE, Term, constant, variable
from streamcheck.core.types import default
from streamcheck.frontends.lustre.machine import APPLY, EVALUATE, Machine, Work
from streamcheck.frontends.lustre.scopes import Delay, Scope, Value
from streamcheck.frontends.lustre.syntax import Expression, Program
from streamcheck.frontends.lustre.tokens import Tokens


class Delays(Machine):
    def __init__(self, program: Program, tokens: Tokens) -> None:
        super().__init__(program, tokens)
        self.delays: dict[object, list[Delay]] = {}
        self.pending: list[list[Delay]] = []

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

    def follow(self, delays: list[Delay]) -> None:
        held, scope = delays[0].follows
        value = self.evaluate(held, scope)
        values = value if isinstance(value, tuple) else (value,)
        for delay, one in zip(delays, values, strict=True):
            self.define(delay, one)

    def all_delays(self) -> Iterator[Delay]:
        for group in self.delays.values():
            yield from group


def is_constant(term: Term) -> bool:
    """Whether the term is a constant, or an array or record of such."""
    return isinstance(term, Term) and (
        term.is_const or (term.op in ("array", "struct") and all(is_constant(a) for a in term.args))
    )
