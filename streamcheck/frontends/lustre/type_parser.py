"""Types."""

from __future__ import annotations

from streamcheck.frontends.lustre.cursor import MACHINE
from streamcheck.frontends.lustre.expressions import CONVERSION, ExpressionParser, Open, Operator, reduced
from streamcheck.frontends.lustre.syntax import Expression, TypeText


class TypeParser(ExpressionParser):
    def type(self) -> TypeText:
        at = self.at
        word = self.texts[at]
        self.at += 1
        if word in ("bool", "int", "real"):
            found = TypeText(word, None, at)
        elif word in MACHINE:
            found = TypeText("machine", MACHINE[word], at)
        elif word in ("sint", "uint") and self.take("<"):
            width = self.texts[self.at]
            if not width.isdigit() or not int(width):
                self.fail("a width")
            self.at += 1
            self.expect(">")
            found = TypeText("machine", (int(width), word == "sint"), at)
        elif word == "subrange":
            found = self._subrange(at)
        elif word == "enum":
            self.expect("{")
            found = TypeText("enum", tuple(self.separated()), at)
            self.expect("}")
        elif word in ("struct", "{"):
            if word == "struct":
                self.expect("{")
            found = self._record(at)
        elif word in ("[", "subtype", "history", "set", "map"):
            raise self.tokens.error(at, "tuple, refinement, history, set and map types are not supported")
        else:
            self.at = at
            found = TypeText("name", self.name(), at)
        while self.take("^"):
            found = TypeText("array", (found, self._size()), at)
        if self.texts[self.at] == "<":
            raise self.tokens.error(self.at, "type parameters are not supported")
        return found

    def _size(self) -> Expression:
        """An array's size: a number, a constant, or an expression of them without `^`."""
        operands: list[Expression] = []
        pending: list[Open | Operator] = []
        while True:
            if self._operand(operands, pending):
                continue
            while True:
                if self.texts[self.at] in ("^", "=", "when") and not any(isinstance(p, Open) for p in pending):
                    reduced(operands, pending, CONVERSION)
                    return operands.pop()
                goes_on = self._operator(operands, pending)
                if goes_on is None:
                    return operands.pop()
                if goes_on:
                    break

    def _subrange(self, at: int) -> TypeText:
        self.expect("[")
        low = None if self.take("*") else self.expression()
        self.expect(",")
        high = None if self.take("*") else self.expression()
        self.expect("]")
        self.expect("of")
        self.expect("int")
        return TypeText("subrange", (low, high), at)

    def _record(self, at: int) -> TypeText:
        fields: list[tuple[str, TypeText]] = []
        while not self.take("}"):
            names = self.separated()
            self.expect(":")
            type = self.type()
            fields += [(name, type) for name in names]
            if not self.take(";") and not self.take(","):
                self.expect("}")
                break
        return TypeText("record", tuple(fields), at)
