"""`match e with | Circle(r): … | Point: … end`: a case is evaluated only if its pattern is the first that matches.

As with `when … then … else`, registers and calls in a case take steps with the case. `e` is evaluated once, so it must
not have memory: Kind 2 reads it again in each case, with the steps of the case (`lustreDesugarADTs.ml`, `desugar_arm`).
"""

from __future__ import annotations

from functools import partial

from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.frontends.lustre.apply import choose_each
from streamcheck.frontends.lustre.datatypes import constraints_of, is_union, missing_case
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.scopes import Action, LustreScope, Run
from streamcheck.frontends.lustre.syntax import ExpressionText
from streamcheck.frontends.lustre.walks import has_steps, subexpressions


class Matches:
    """Evaluates matches; `start` evaluates an expression."""

    def __init__(self, declarations: LustreDeclarations, start: Action) -> None:
        self.declarations = declarations
        self.tokens = declarations.tokens
        self.start = start
        self._checked: set[int] = set()
        self._scopes: dict[tuple[int, int, LustreScope], LustreScope] = {}

    def cases(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """The value has been read: read the value of each case."""
        value = run.results.pop()
        if isinstance(value, tuple) or not is_union(value.type):
            shown = "several values" if isinstance(value, tuple) else value.type
            raise self.tokens.error(e.at, f"`match` is about a value of a data type, and this is {shown}")
        if id(e) not in self._checked:
            self._check(e, value)
        conditions: list[Term] = []
        before = TRUE  # no earlier pattern matches
        cases = []
        for i, pattern in enumerate(e.value, 1):
            try:
                needed, names = constraints_of(pattern, value, self.declarations.file.constructors)
            except TypeRule as why:
                raise self.tokens.error(pattern.at, str(why)) from None
            matches = conjunction(*needed)
            cases.append(self._case_scope(e, i, scope, conjunction(before, matches), names))
            conditions.append(matches)
            before = conjunction(before, negation(matches))
        run.later(partial(self._join, conditions), e, scope)
        for i in reversed(range(1, len(e.args))):
            run.later(self.start, e.args[i], cases[i - 1])

    def _case_scope(
        self, e: ExpressionText, i: int, scope: LustreScope, clock: Term, names: dict[str, Term]
    ) -> LustreScope:
        key = (id(e), i, scope)
        if key not in self._scopes:
            context = scope.context
            if has_steps(e.args[i]) and clock is not TRUE:
                wish = f"{scope.path}{self.tokens.place(e.args[i].at)} first step"
                context = self.declarations.variables.context_on_clock(context, clock, FALSE, wish)
            self._scopes[key] = LustreScope(scope.path, context, scope, scope.node, names)
        return self._scopes[key]

    def _join(self, conditions: list[Term], e: ExpressionText, scope: LustreScope, run: Run) -> None:
        values = run.take(len(conditions))
        result = values[-1]
        try:
            for condition, value in zip(conditions[-2::-1], values[-2::-1], strict=True):
                result = choose_each(condition, value, result)
        except TypeRule as why:
            raise self.tokens.error(e.at, f"the cases of this match: {why}") from None
        run.results.append(result)

    def _check(self, e: ExpressionText, value: Term) -> None:
        """Check that each value has a case, that each case has values, and that the value has no memory."""
        self._checked.add(id(e))
        constructors = self.declarations.file.constructors
        for pattern in e.value:
            try:
                constraints_of(pattern, value, constructors)
            except TypeRule as why:
                raise self.tokens.error(pattern.at, str(why)) from None
        missing = missing_case(e.value, value.type, constructors)
        if missing is not None:
            raise self.tokens.error(e.at, f"no case of this match is for {missing}", write=f"| {missing}: …")
        for i in range(1, len(e.value)):
            if missing_case(e.value[:i], value.type, constructors) is None:
                raise self.tokens.error(e.value[i].at, "this case is never chosen: those above are for all values")
        self._require_no_memory(e.args[0])

    def _require_no_memory(self, root: ExpressionText) -> None:
        for e in subexpressions(root):
            node = self.declarations.file.nodes.get(e.value.node) if e.op == "call" else None
            if e.op in ("pre", "arrow", "any") or (node is not None and node.kind == "node"):
                text = "what is matched has memory, or calls a node: this is not supported"
                raise self.tokens.error(e.at, text, write="a variable with an equation of its own")
