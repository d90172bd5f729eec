"""Blocks of equations: `if c then … elsif … else … fi`, `when c then … else … end`, `cond | c: … otherwise: … end`.

A block stands for one equation for each variable: `x = if c then a else b`, with `when` for the other two. Every branch
defines the same variables; Kind 2 gives others any value in an `if` block, and refuses them in the others. In a frame
they keep their value (`frames`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from streamcheck.frontends.lustre.cursor import Cursor
from streamcheck.frontends.lustre.expressions import ExpressionParser
from streamcheck.frontends.lustre.syntax import Equation, ExpressionText, TypeText, Variable, name_expression
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
        self.framed: frozenset[str] = frozenset()  # the variables of the frame around, which keep their values
        self.conditions: list[Variable] = []  # that stand for a condition which is evaluated once
        self.condition_equations: list[Equation] = []
        self._chosen: list[ExpressionText] = []  # the conditions of the `when` and `cond` branches around

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
        self._chosen.append(condition)
        chosen = self._branch("else", "end")
        at = self.cursor.at
        self._chosen[-1] = _negation(condition)
        other = self._branch("end") if self.cursor.take("else") else {}
        self._chosen.pop()
        self.cursor.expect("end")
        return self._join("lazy", condition, chosen, other, at)

    def _cases(self) -> BranchValues:
        """The cases of a `cond` that are left."""
        at = self.cursor.at
        if self.cursor.take("|"):
            condition = self._condition(":")
            self._chosen.append(condition)
            chosen = self._branch("|", "otherwise", "end")
            self._chosen[-1] = _negation(condition)
            others = self._cases()
            self._chosen.pop()
            return self._join("lazy", condition, chosen, others, at)
        other: BranchValues = {}
        if self.cursor.take("otherwise"):
            self.cursor.expect(":")
            other = self._branch("end")
        self.cursor.expect("end")
        return other

    def _condition(self, end: str) -> ExpressionText:
        """A condition, evaluated once for all variables of its block, if the branch around it is chosen. It is a
        variable if it has a call, or an unguarded `pre`, which would have another value each time."""
        condition = self.expressions.expression(frozenset((end,)))
        self.cursor.expect(end)
        if not any(e.op in ("call", "any") or id(e) in self.expressions.unguarded for e in subexpressions(condition)):
            return condition
        at = condition.at
        name = f"condition {self.cursor.tokens.place(at)}"
        for around in reversed(self._chosen):
            condition = ExpressionText("lazy", (around, condition, ExpressionText("bool", (), False, at)), None, at)
        self.conditions.append(Variable(name, TypeText("bool", None, at), at))
        self.condition_equations.append(Equation((name,), (), condition, at))
        return name_expression(name, at)

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
        chosen, other = _alike(chosen, other), _alike(other, chosen)
        keys = dict.fromkeys([*chosen, *other])
        for names, indices in keys:
            if not self.framed.issuperset(names) and not ((names, indices) in chosen and (names, indices) in other):
                text = f"{', '.join(names)} has no equation in one of the branches"
                raise self.cursor.error(at, text, write="the same variables in each branch")
        return {
            key: ExpressionText(op, (condition, *(b.get(key) or _kept(*key, at) for b in (chosen, other))), None, at)
            for key in keys
        }


def _negation(condition: ExpressionText) -> ExpressionText:
    return ExpressionText("not", (condition,), None, condition.at)


def _alike(branch: BranchValues, other: BranchValues) -> BranchValues:
    """The branch with an equation for each variable, where the other one has no equation for the same variables."""
    values: BranchValues = {}
    for (names, indices), value in branch.items():
        if (names, indices) in other or len(names) == 1:
            values[names, indices] = value
        elif value.op == "tuple" and len(value.args) == len(names):
            values |= {((name,), ()): one for name, one in zip(names, value.args, strict=True)}
        elif value.op == "call":
            outputs = (ExpressionText("output", (value,), i, value.at) for i in range(len(names)))
            values |= {((name,), ()): one for name, one in zip(names, outputs, strict=True)}
        else:
            values[names, indices] = value
    return values


def _kept(names: tuple[str, ...], indices: tuple[str, ...], at: int) -> ExpressionText:
    """The values before: those of framed variables."""
    values = tuple(name_expression(f"last {name}", at) for name in names)
    for index in indices:  # of one array
        values = (ExpressionText("index", (*values, name_expression(index, at)), None, at),)
    return values[0] if len(values) == 1 else ExpressionText("tuple", values, None, at)
