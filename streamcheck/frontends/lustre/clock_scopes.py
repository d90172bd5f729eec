"""Scopes for the flows of Lustre V6: `pre`, `->` and calls in them take steps with the clock of the flow."""

from __future__ import annotations

from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, Term
from streamcheck.core.types import BOOL
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.scopes import LustreScope
from streamcheck.frontends.lustre.syntax import Clock, ClockText, ExpressionText, Variable, name_expression
from streamcheck.frontends.operations import equal


class ClockScopes:
    """The scopes of clocks, made when they are needed, one for each clock of an instance."""

    def __init__(self, declarations: LustreDeclarations) -> None:
        self.declarations = declarations
        self.variables = declarations.variables
        self._scopes: dict[tuple[LustreScope, Clock], LustreScope] = {}
        self._bases: dict[LustreScope, LustreScope] = {}  # of those: the instances on their base clocks

    def on_clock(self, read: ExpressionText | Variable, scope: LustreScope) -> LustreScope:
        """The scope of the clock of an expression or variable; the given one if it is on the same clock."""
        clock = self.declarations.file.clocks.get(id(read))
        if clock is None:
            return scope
        base = on = self._bases.get(scope, scope)
        for i, condition in enumerate(clock, 1):
            key = (base, clock[:i])
            if key not in self._scopes:
                wish = f"{base.path}{condition} first step"
                context = self.variables.context_on_clock(on.context, self.condition(condition, base), FALSE, wish)
                inner = self._scopes[key] = LustreScope(base.path, context, base, base.node)
                self._bases[inner] = base
            on = self._scopes[key]
        return on

    def condition(self, condition: ClockText, scope: LustreScope) -> Term:
        """True at the steps of the clock, if it is one of those of the clock that it samples."""
        term, tokens = self.declarations.term, self.declarations.tokens
        clock = term(name_expression(condition.name, condition.at), self._bases.get(scope, scope))
        if isinstance(condition.value, str):
            member = term(name_expression(condition.value, condition.at), self.declarations.globals)
            if member.type is not clock.type:
                text = f"{condition.value} is of type {member.type}, the clock {condition.name} of type {clock.type}"
                raise tokens.error(condition.at, text)
            return equal(clock, member)
        if clock.type is not BOOL:
            text = f"the clock {condition.name} is of type {clock.type}"
            raise tokens.error(condition.at, text, write=f"member({condition.name})")
        return clock if condition.value else negation(clock)
