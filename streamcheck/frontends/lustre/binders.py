"""The names that an expression binds: those of quantifiers, of `any` and `choose`, and of the cases of a `match`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from streamcheck.frontends.lustre.cursor import Cursor
from streamcheck.frontends.lustre.syntax import AnyValue, CasePattern, ExpressionText, TypeText, Variable


class Binding:
    """The variables of a quantifier, by the names that they have in its operand; `open` until the operand ends."""

    __slots__ = ("names", "open", "variables")

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.open = True
        self.variables: list[Variable] = []


class BinderParser:
    """`bindings` are those of the quantifiers around, the innermost last. `expression` reads an expression, `part` one
    that an expression around it may guard. `type` reads a type, and `variables` reads `a, b: type`, once there are
    parsers of these."""

    def __init__(
        self,
        cursor: Cursor,
        expression: Callable[..., ExpressionText],
        part: Callable[[], ExpressionText],
        constructors: frozenset[str],
    ) -> None:
        self.cursor = cursor
        self.expression = expression
        self.part = part
        self.constructors = constructors
        self.bindings: list[Binding] = []
        self.type: Callable[[], TypeText] | None = None
        self.variables: Callable[[], list[Variable]] | None = None

    def quantified_variables(self) -> Binding:
        """`(i, j: int; x: T | condition)`. Each variable gets a name that nothing else has."""
        assert self.variables is not None
        binding = Binding()
        self.bindings = [b for b in self.bindings if b.open] + [binding]
        self.cursor.expect("(")
        while not self.cursor.take(")"):
            for v in self.variables():
                unique = f"{v.name} {self.cursor.tokens.place(v.at)}"
                binding.names[v.name] = unique
                binding.variables.append(replace(v, name=unique))
            if not self.cursor.take(";"):
                self.cursor.expect(")")
                break
        return binding

    def bound_name(self, word: str) -> str | None:
        """The name of a quantified variable if the word is one here."""
        for binding in reversed(self.bindings):
            if binding.open and word in binding.names:
                return binding.names[word]
        return None

    def condition(self, name: str) -> ExpressionText:
        """An expression in which `name` is no quantified variable. In Lustre V6 a clock may come after it."""
        own = Binding()
        own.names[name] = name
        self.bindings.append(own)
        condition = self.expression(frozenset(("when",)) if self.cursor.is_v6 else frozenset())
        own.open = False
        return condition

    def any_value(self, at: int, word: str) -> ExpressionText:
        """`any@<T>`, any value of the type at every step; `any { x: T | p }`; `choose` for `any`."""
        assert self.type is not None
        if self.cursor.take("@"):
            self.cursor.expect("<")
            type = self.type()
            self.cursor.expect(">")
            return ExpressionText("any", (), AnyValue(type, is_functional=word == "choose"), at)
        self.cursor.expect("{")
        own, name = Binding(), self.cursor.name()
        own.names[name] = f"{name} {self.cursor.tokens.place(at)}"
        self.cursor.expect(":")
        type = self.type()
        self.cursor.expect("|")
        self.bindings.append(own)
        condition = self.expression()
        own.open = False
        self.cursor.expect("}")
        return ExpressionText("any", (condition,), AnyValue(type, own.names[name], word == "choose"), at)

    def match(self, at: int) -> ExpressionText:
        """`match e with | pattern: value … end`. The variables of a pattern are no quantified ones in its case."""
        scrutinee = self.part()
        self.cursor.expect("with")
        patterns, values = [], []
        while self.cursor.take("|"):
            own = Binding()
            patterns.append(self._pattern(own))
            self.cursor.expect(":")
            self.bindings.append(own)
            values.append(self.part())
            own.open = False
        if not patterns:
            self.cursor.fail("`| pattern: value`")
        self.cursor.expect("end")
        return ExpressionText("match", (scrutinee, *values), tuple(patterns), at)

    def _pattern(self, own: Binding) -> CasePattern:
        at = self.cursor.at
        name = self.cursor.name()
        if not self.cursor.take("("):
            if name not in self.constructors:
                own.names[name] = name
            return CasePattern(name, None, at)
        parts = [self._pattern(own)]
        while self.cursor.take(","):
            parts.append(self._pattern(own))
        self.cursor.expect(")")
        return CasePattern(name, tuple(parts), at)
