"""Blocks of equations: `if c then … elsif … else … fi`, `when c then … else … end`, `cond | c: … otherwise: … end`.

A block stands for one equation for each variable: `x = if c then a else b`, with `when` for the other two. Every branch
defines the same variables; Kind 2 gives others any value in an `if` block, and refuses them in the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from streamcheck.frontends.lustre.cursor import Cursor
from streamcheck.frontends.lustre.expressions import ExpressionParser
from streamcheck.frontends.lustre.syntax import Equation, ExpressionText
from streamcheck.frontends.lustre.walks import subexpressions

CASES = frozenset(("when", "cond"))
BLOCKS = CASES | {"if"}
BranchValues: TypeAlias = dict[tuple[tuple[str, ...], tuple[str, ...]], ExpressionText]  # by names and indices


class BlockParser:
    """`equation` reads an equation; `is_variable` is true if the next word is a variable and not a keyword."""

    def __init__(
        self,
        cursor: Cursor,
        expressions: ExpressionParser,
        equation: Callable[[], Equation],
        is_variable: Callable[[], bool],
    ) -> None:
        self.cursor = cursor
        self.expressions = expressions
        self.equation = equation
        self.is_variable = is_variable

    def begins(self) -> bool:
        """True if a block begins here."""
        return self.cursor.word in BLOCKS and not self.is_variable()

    def equations(self) -> list[Equation]:
        """The equations of the block that begins here."""
        at = self.cursor.at
        return [Equation(names, indices, value, at) for (names, indices), value in self._block().items()]

    def _block(self) -> BranchValues:
        match self.cursor.next():
            case "if":
                return self._if()
            case "when":
                return self._when()
        return self._cases()

    def _if(self) -> BranchValues:
        condition = self._condition("then")
        chosen = self._branch("elsif", "else", "fi")
        at = self.cursor.at
        if self.cursor.take("elsif"):
            return self._join("if", condition, chosen, self._if(), at)
        other = self._branch("fi") if self.cursor.take("else") else {}
        self.cursor.expect("fi")
        return self._join("if", condition, chosen, other, at)

    def _when(self) -> BranchValues:
        condition = self._condition("then")
        chosen = self._branch("else", "end")
        at = self.cursor.at
        other = self._branch("end") if self.cursor.take("else") else {}
        self.cursor.expect("end")
        return self._join("lazy", condition, chosen, other, at)

    def _cases(self) -> BranchValues:
        """The cases of a `cond` that are left."""
        at = self.cursor.at
        if self.cursor.take("|"):
            condition = self._condition(":")
            chosen = self._branch("|", "otherwise", "end")
            return self._join("lazy", condition, chosen, self._cases(), at)
        other: BranchValues = {}
        if self.cursor.take("otherwise"):
            self.cursor.expect(":")
            other = self._branch("end")
        self.cursor.expect("end")
        return other

    def _condition(self, end: str) -> ExpressionText:
        condition = self.expressions.expression(frozenset((end,)))
        self.cursor.expect(end)
        return condition

    def _branch(self, *ends: str) -> BranchValues:
        branch: BranchValues = {}
        while self.cursor.word not in ends or self.is_variable():
            at = self.cursor.at
            for equation in self._inner_equations(ends) if self.begins() else [self.equation()]:
                key = equation.names, equation.indices
                if not equation.names:
                    raise self.cursor.error(at, "an equation in a block defines a variable")
                if key in branch:
                    raise self.cursor.error(at, f"{', '.join(equation.names)} has two equations in this branch")
                branch[key] = equation.value
        return branch

    def _inner_equations(self, ends: tuple[str, ...]) -> list[Equation]:
        """The equations of a block in a branch with these ends."""
        word = self.cursor.word
        if (word in CASES) != ("end" in ends):
            text = "`if` blocks in `when` and `cond` blocks are not supported, nor these in `if` blocks"
            raise self.cursor.error(self.cursor.at, text, write="equations with `if … then … else`")
        return self.equations()

    def _join(
        self, op: str, condition: ExpressionText, chosen: BranchValues, other: BranchValues, at: int
    ) -> BranchValues:
        """One expression for each variable. The branch after the token `at` is the other one."""
        for names, _ in [*chosen, *other]:
            if (names, _) not in chosen or (names, _) not in other:
                text = f"{', '.join(names)} has no equation in one of the branches"
                raise self.cursor.error(at, text, write="the same variables in each branch")
        if len(chosen) > 1:
            self._require_one_value(condition)
        return {
            key: ExpressionText(op, (condition, value, other[key]), None, condition.at) for key, value in chosen.items()
        }

    def _require_one_value(self, condition: ExpressionText) -> None:
        """Each variable has a condition of its own, and each unguarded `pre` in it, and each call, its own values."""
        for e in subexpressions(condition):
            if e.op == "call" or id(e) in self.expressions.unguarded:
                what = "a call" if e.op == "call" else "`pre` without `->`"
                text = f"the condition of a block of several variables has {what} in it, which is not supported"
                raise self.cursor.error(e.at, text, write="a variable for the condition")
