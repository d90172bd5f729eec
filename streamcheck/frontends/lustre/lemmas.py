"""Lemmas: `lemma L(n: int) con guarantee p; decreases n; noc let when n > 0 then L(n - 1); else auto; end tel`.

A lemma is a function with one output, which is true: its contract is what it says, and its body has the calls whose
contracts its proof needs. `L(n);` as a statement of a node uses the lemma at n.
"""

from __future__ import annotations

from collections.abc import Callable

from streamcheck.frontends.lustre.cursor import Cursor
from streamcheck.frontends.lustre.expressions import ExpressionParser
from streamcheck.frontends.lustre.syntax import (
    Equation,
    ExpressionText,
    NodeText,
    TypeText,
    Variable,
)

HOLDS = "lemma holds"  # the output
CASES = {"when": ("lazy", "end"), "if": ("if", "fi")}  # the operation, and the last word


class LemmaParser:
    def __init__(
        self,
        cursor: Cursor,
        expressions: ExpressionParser,
        parameters: Callable[[], list[Variable]],
        contracts: Callable[[NodeText], None],
    ) -> None:
        self.cursor = cursor
        self.expressions = expressions
        self.parameters = parameters
        self.contracts = contracts

    def lemma(self, at: int) -> NodeText:
        """The lemma whose name comes next."""
        name = self.cursor.name()
        inputs = self.parameters()
        output = Variable(HOLDS, TypeText("bool", None, at), at)
        node = NodeText(name, "function", at, inputs, [output], recursive=True, is_lemma=True)
        node.calls, node.types = self.expressions.calls, self.expressions.type_names
        self.cursor.take(";")
        self.contracts(node)
        self.cursor.expect("let")
        node.equations.append(Equation((HOLDS,), (), self._statements("tel"), at))
        if not self.cursor.take("."):
            self.cursor.take(";")
        return node

    def add_statement(self, node: NodeText) -> None:
        """`L(n);` in the body of a node."""
        at = self.cursor.at
        call = self._call()
        name = f"lemma {self.cursor.tokens.place(at)}"
        node.locals.append(Variable(name, TypeText("bool", None, at), at, is_claimed=False))
        node.equations.append(Equation((name,), (), call, at))

    def _statements(self, *ends: str) -> ExpressionText:
        """The statements up to one of `ends`, as an expression that is true."""
        at = self.cursor.at
        result = ExpressionText("bool", (), True, at)
        while self.cursor.word not in ends:
            at = self.cursor.at
            if self.cursor.word == "auto" and self.cursor.after == ";":
                self.cursor.next()
                self.cursor.next()
                continue
            statement = self._cases() if self.cursor.word in CASES else self._call()
            result = ExpressionText("and", (result, statement), None, at)
        if ends == ("tel",):
            self.cursor.expect("tel")
        return result

    def _cases(self) -> ExpressionText:
        """`when c then … else … end`, or the same with `if` and `fi`."""
        at, op, end = self.cursor.at, *CASES[self.cursor.next()]
        condition = self.expressions.expression(frozenset(("then",)))
        self.cursor.expect("then")
        chosen = self._statements("else", end)
        other = self._statements(end) if self.cursor.take("else") else ExpressionText("bool", (), True, at)
        self.cursor.expect(end)
        return ExpressionText(op, (condition, chosen, other), None, at)

    def _call(self) -> ExpressionText:
        at = self.cursor.at
        call = self.expressions.expression()
        if call.op != "call":
            raise self.cursor.error(at, "expected the call of a lemma", write="L(n);")
        self.cursor.expect(";")
        return call
