"""The variables made while a node is read: their names, those without a definition, and the cells besides registers."""

from __future__ import annotations

from streamcheck.core.names import FreshNames
from streamcheck.core.simplify import choice, conjunction, disjunction
from streamcheck.core.term import FALSE, TRUE, Term, variable
from streamcheck.core.types import BOOL, Type
from streamcheck.frontends.lustre.scopes import Context, LustreScope
from streamcheck.frontends.lustre.syntax import ExpressionText
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.operations import UnknownMaker, call_by_zero
from streamcheck.problem.specification import FunctionCall

UNDEFINED = {  # operations without a result, besides divisions
    "index": "an index that may be out of range",
    "field": "a field of a value that may have another constructor",
}


class Variables:
    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.unknowns: dict[Term, int] = {}  # variables that may have any value, and their tokens
        self.cells: list[tuple[Term, Term, Term]] = []  # (variable, initial, next)
        self.calls: list[FunctionCall] = []  # of functions without a definition
        self.warnings: dict[str, None] = {}
        self._names = FreshNames()
        self._undefined_results: dict[object, Term] = {}

    def fresh(self, wish: str) -> str:
        """A name for a variable: the wish if it is free, else with a number."""
        return self._names.fresh(wish)

    def unknown(self, wish: str, type: Type, at: int) -> Term:
        """A new variable that may have any value at every step."""
        var = variable(self.fresh(wish), type)
        self.unknowns[var] = at
        return var

    def count(self) -> tuple[int, int]:
        """The numbers of unknowns and of cells so far."""
        return len(self.unknowns), len(self.cells)

    def made_since(self, before: tuple[int, int]) -> set[Term]:
        unknowns, cells = before
        new = set(list(self.unknowns)[unknowns:]) if len(self.unknowns) > unknowns else set()
        return new | {var for var, _, _ in self.cells[cells:]}

    def undefined_results(self, e: ExpressionText, scope: LustreScope) -> UnknownMaker:
        """Makes the result of an operation that Lustre leaves undefined: one unknown for each operation on the same
        operands."""

        def make(op: str, a: Term, b: Term, type: Type) -> Term:
            key = (op, a, b)
            if key not in self._undefined_results:
                what = UNDEFINED.get(op, "a division by what may be zero")
                self.warn(e.at, f"{what} gives any value")
                place = self.tokens.place(e.at)
                result = self._undefined_results[key] = self.unknown(f"{scope.path}{op}{place}", type, e.at)
                if op not in UNDEFINED:
                    self.calls.append(call_by_zero(op, a, b, result))
            return self._undefined_results[key]

        return make

    def warn(self, at: int, text: str) -> None:
        self.warnings[f"{self.tokens.where(at).short}: {text}"] = None

    def context_on_clock(self, around: Context, clock: Term, restart: Term, wish: str) -> Context:
        """The context of what takes steps only while `clock` holds and begins anew whenever `restart` does."""
        hard = disjunction(conjunction(around.tick, around.reset), around.hard)
        return self.context(conjunction(around.tick, clock), disjunction(around.reset, restart), hard, wish)

    def context(self, tick: Term, reset: Term, hard: Term, wish: str) -> Context:
        """A context with a flag of its own, which is true until the context takes a step."""
        flag = variable(self.fresh(wish), BOOL)
        self.cells.append((flag, TRUE, choice(tick, FALSE, choice(hard, TRUE, flag))))
        return Context(disjunction(reset, flag), tick, reset, hard)
