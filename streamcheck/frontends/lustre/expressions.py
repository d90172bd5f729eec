"""Expressions, by operator precedence with a stack of its own: generated files nest tens of thousands deep.

Precedences and associativity are Kind 2's: `not` and `pre` bind tighter than comparisons, `-x * y` is `-(x * y)`,
`int32 x + 1` converts the sum, and the branch after `else` reaches as far as it can.
"""

from __future__ import annotations

from typing import Any

from streamcheck.frontends.lustre.cursor import MACHINE, RESERVED, Cursor
from streamcheck.frontends.lustre.syntax import Activation, Expression
from streamcheck.frontends.lustre.tokens import DIGITS, NAME_START, Tokens

CONVERSION, WHEN, ELSE, ARROW, IMPLIES, OR, AND, COMPARE, SUM, PRODUCT = range(10)
BIT_OR, BIT_AND, SHIFT, PRE, CONVERT, NOT, BIT_NOT, POWER = range(10, 18)

# operator: (precedence, whether it is right-associative, the operation)
BINARY = {
    "->": (ARROW, True, "arrow"),
    "fby": (ARROW, True, "fby"),  # a fby b is a -> pre b
    "=>": (IMPLIES, True, "implies"),
    "==>": (IMPLIES, True, "implies"),
    "or": (OR, False, "or"),
    "xor": (OR, False, "xor"),
    "and": (AND, False, "and"),
    "<": (COMPARE, False, "lt"),
    "<=": (COMPARE, False, "le"),
    "=": (COMPARE, False, "eq"),
    "<>": (COMPARE, False, "ne"),
    ">=": (COMPARE, False, "ge"),
    ">": (COMPARE, False, "gt"),
    "+": (SUM, False, "add"),
    "-": (SUM, False, "sub"),
    "*": (PRODUCT, False, "mul"),
    "div": (PRODUCT, False, "intdiv"),
    "mod": (PRODUCT, False, "mod"),
    "/": (PRODUCT, False, "div"),
    "||": (BIT_OR, False, "bitor"),
    "&&": (BIT_AND, False, "bitand"),
    "lsh": (SHIFT, False, "lsh"),
    "rsh": (SHIFT, False, "rsh"),
    "^": (POWER, False, "power"),
    "when": (WHEN, False, "when"),
}
PREFIX = {
    "-": (SUM, "neg"),
    "not": (NOT, "not"),
    "!": (BIT_NOT, "bitnot"),
    "pre": (PRE, "pre"),
    "int": (CONVERT, "to int"),
    "real": (CONVERT, "to real"),
    **dict.fromkeys(MACHINE, (CONVERSION, "to machine")),
}
CLOSES = {"(": ")", "call": ")", "merge": ")", "array": "]", "index": "]", "record": "}"}
UNSUPPORTED = {
    "forall": "quantifiers are not supported",
    "exists": "quantifiers are not supported",
    "current": "`current` is not supported",
    "with": "recursive nodes are not supported",
    "#": "`#` is not supported",
    "any": "`any` is not supported",
    "choose": "`choose` is not supported",
    "match": "algebraic data types are not supported",
    "'": "tuple types are not supported",
    "{": "sets are not supported",
    "map": "maps are not supported",
}

OPERATORS_OR_ENDS = frozenset(BINARY) | frozenset((",", ";", ")", "]", "}", "then", "else", "."))


class Open:
    """A bracket, or an `if`, whose end has not come yet; `items` are the operands before the last separator."""

    __slots__ = ("at", "items", "kind", "names", "value")

    def __init__(self, kind: str, at: int, value: object = None) -> None:
        self.kind = kind
        self.at = at
        self.value = value
        self.items: list[Expression] = []
        self.names: list[str] = []


class Operator:
    """An operator whose right side has not come yet."""

    __slots__ = ("at", "op", "precedence", "unary", "value")

    def __init__(self, op: str, precedence: int, at: int, *, unary: bool, value: Any = None) -> None:
        self.op = op
        self.precedence = precedence
        self.at = at
        self.unary = unary
        self.value = value


class ExpressionParser(Cursor):
    def __init__(self, tokens: Tokens) -> None:
        super().__init__(tokens)
        self.calls: set[str] = set()  # the nodes called since the last node began

    def expression(self) -> Expression:
        operands: list[Expression] = []
        pending: list[Open | Operator] = []
        while True:
            if self._operand(operands, pending):
                continue
            while True:  # an operand is complete: operators, closing brackets, or the end
                goes_on = self._operator(operands, pending)
                if goes_on is None:
                    return operands.pop()
                if goes_on:
                    break

    def _operand(self, operands: list[Expression], pending: list[Open | Operator]) -> bool:
        """Read a prefix or an opening (True), or a whole operand (False)."""
        at, word = self.at, self.texts[self.at]
        self.at += 1
        if word in PREFIX:
            precedence, op = PREFIX[word]
            pending.append(Operator(op, precedence, at, unary=True, value=MACHINE.get(word)))
            return True
        if word == "(":
            if self.texts[self.at] in ("activate", "restart") and self._names_at(self.at + 1):
                operands.append(self._activated(at))
                return False
            pending.append(Open("(", at))
            return True
        if word == "if" or word == "when":
            pending.append(Open("if", at))
            return True
        if word == "[":
            pending.append(Open("array", at))
            return True
        return self._leaf(at, word, operands, pending)

    def _leaf(self, at: int, word: str, operands: list[Expression], pending: list[Open | Operator]) -> bool:
        if word[:1] in DIGITS and word:
            operands.append(Expression("number", (), word, at))
        elif word in ("true", "false"):
            operands.append(Expression("bool", (), word == "true", at))
        elif word == "condact":
            operands.append(self._condact(at))
        elif word == "merge":
            if self.texts[self.at] == "(" and self.texts[self.at + 2] == ";":
                self.at += 1
                pending.append(Open("merge", at))
                return True
            operands.append(self._merge(at))
        elif word == "::":
            operands.append(Expression("mode", (), "::".join(self.separated("::")), at))
        elif word == "fby" and self.texts[self.at] == "(":
            operands.append(self._delayed(at))
        elif word in UNSUPPORTED and self.texts[self.at] not in OPERATORS_OR_ENDS:
            raise self.tokens.error(at, UNSUPPORTED[word])
        elif word[:1] in NAME_START and word and word not in RESERVED:
            return self._named(at, word, operands, pending)
        else:
            self.at = at
            self.fail("an expression")
        return False

    def _names_at(self, at: int) -> bool:
        """Whether a node is named there."""
        word = self.texts[at]
        return word == "(" or (word[:1] in NAME_START and bool(word) and word not in RESERVED and word != "every")

    def _named(self, at: int, word: str, operands: list[Expression], pending: list[Open | Operator]) -> bool:
        after = self.texts[self.at]
        if after == "(":
            self.at += 1
            self.calls.add(word)
            if self.take(")"):
                operands.append(Expression("call", (), Activation(word), at))
                return False
            pending.append(Open("call", at, Activation(word)))
            return True
        if after == "{":
            self.at += 1
            pending.append(self._field(Open("record", at, word)))
            return True
        operands.append(Expression("name", (), word, at))
        return False

    def _field(self, record: Open) -> Open:
        record.names.append(self.name())
        self.expect("=")
        return record

    def _operator(self, operands: list[Expression], pending: list[Open | Operator]) -> bool | None:
        """After an operand. True: another operand is due; False: an operand is complete again; None: the end."""
        word = self.texts[self.at]
        found = BINARY.get(word)
        if found is not None:
            precedence, right, op = found
            reduced(operands, pending, precedence + right)
            pending.append(Operator(op, precedence, self.at, unary=False))
            self.at += 1
            if (word, self.texts[self.at]) in (("and", "then"), ("or", "else")):
                self.at += 1  # the lazy forms mean the same where everything has a value
            return True
        if word == "[":
            self.at += 1
            pending.append(Open("index", self.at - 1))
            return True
        if word == ".":
            return self._projection(operands)
        reduced(operands, pending, CONVERSION)
        if not pending:
            return None
        top = pending[-1]
        assert isinstance(top, Open)
        if top.kind in ("if", "then"):
            return self._branch(top, operands, pending)
        return self._closing(top, operands, pending)

    def _projection(self, operands: list[Expression]) -> bool | None:
        if self.texts[self.at + 1][:1] not in NAME_START or not self.texts[self.at + 1]:
            self.fail("an operator")
        self.at += 2
        operands.append(Expression("field", (operands.pop(),), self.texts[self.at - 1], self.at - 1))
        return False

    def _branch(self, top: Open, operands: list[Expression], pending: list[Open | Operator]) -> bool:
        self.expect("then" if top.kind == "if" else "else")
        if top.kind == "if":
            top.kind = "then"
            top.items.append(operands.pop())
            return True
        pending[-1] = Operator("if", ELSE, top.at, unary=True, value=(top.items[0], operands.pop()))
        return True

    def _closing(self, top: Open, operands: list[Expression], pending: list[Open | Operator]) -> bool:
        word = self.texts[self.at]
        top.items.append(operands.pop())
        if word == "," and top.kind in ("(", "call", "array"):
            self.at += 1
            return True
        if word == ";" and top.kind in ("merge", "record"):
            self.at += 1
            if top.kind == "record" and self.texts[self.at] != "}":
                self._field(top)
                return True
            if top.kind == "merge":
                return True
        if top.kind == "index" and word in (":=", ";"):
            self.at += 1
            top.names.append(word)
            return True
        if top.kind == "index" and word in ("..", ":", "|"):
            raise self.tokens.error(self.at, "array slices are not supported")
        self.expect(CLOSES[top.kind])
        pending.pop()
        operands.append(self._closed(top, operands))
        return False

    def _closed(self, top: Open, operands: list[Expression]) -> Expression:
        items = tuple(top.items)
        match top.kind:
            case "(":
                return items[0] if len(items) == 1 else Expression("tuple", items, None, top.at)
            case "call":
                return Expression("call", items, top.value, top.at)
            case "array":
                return Expression("array", items, None, top.at)
            case "merge":
                if len(items) != 3:
                    raise self.tokens.error(top.at, "merge(clock; where it is true; where it is false)")
                return Expression("merge", items, ("true", "false"), top.at)
            case "record":
                return Expression("record", items, (top.value, tuple(top.names)), top.at)
        if not top.names:
            if len(items) != 1:
                raise self.tokens.error(top.at, "one index at a time: a[i][j]")
            return Expression("index", (operands.pop(), items[0]), None, top.at)
        if top.names != [":=", ";"] * (len(items) // 2 - 1) + [":="]:
            raise self.tokens.error(top.at, "an update is a[i := value; j := value]")
        return Expression("update", (operands.pop(), *items), None, top.at)

    # Forms with words in them: nested in each other a few deep at most, so these may recurse

    def _arguments(self) -> tuple[Expression, ...]:
        self.expect("(")
        if self.take(")"):
            return ()
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        self.expect(")")
        return tuple(found)

    def _restarted(self) -> tuple[str, Expression | None]:
        """`N`, or `(restart N every c)`."""
        if not self.take("("):
            return self._called(), None
        self.expect("restart")
        node = self._called()
        self.expect("every")
        restart = self.expression()
        self.expect(")")
        return node, restart

    def _called(self) -> str:
        node = self.name()
        self.calls.add(node)
        return node

    def _condact(self, at: int) -> Expression:
        self.expect("(")
        clock = self.expression()
        self.expect(",")
        node, restart = self._restarted()
        args = self._arguments()
        defaults = []
        while self.take(","):
            defaults.append(self.expression())
        self.expect(")")
        return Expression("call", args, Activation(node, clock, restart, tuple(defaults)), at)

    def _activated(self, at: int) -> Expression:
        """`(activate … every … [initial default …] [restart every …])(…)` and `(restart … every …)(…)`."""
        word = self.texts[self.at]
        self.at += 1
        clock: Expression | None = None
        restart: Expression | None = None
        defaults: tuple[Expression, ...] | None = None
        if word == "restart":
            node = self._called()
            self.expect("every")
            restart = self.expression()
        else:
            node, restart = self._restarted()
            self.expect("every")
            clock = self.expression()
            if self.take("initial"):
                self.expect("default")
                found = [self.expression()]
                while self.take(","):
                    found.append(self.expression())
                defaults = tuple(found)
            if self.take("restart"):
                self.expect("every")
                restart = self.expression()
        self.expect(")")
        return Expression("call", self._arguments(), Activation(node, clock, restart, defaults), at)

    def _merge(self, at: int) -> Expression:
        """`merge clock (member -> value) …`."""
        clock = Expression("name", (), self.name(), at + 1)
        members, values = [], []
        while self.take("("):
            members.append(self.texts[self.at])
            self.at += 1
            self.expect("->")
            values.append(self.expression())
            self.expect(")")
        if not members:
            self.fail("`(member -> value)`")
        return Expression("merge", (clock, *values), tuple(members), at)

    def _delayed(self, at: int) -> Expression:
        """`fby(value, n, initial)`: the value n steps ago, the initial one before."""
        self.expect("(")
        value = self.expression()
        self.expect(",")
        count = self.texts[self.at]
        self.at += 1
        if not count.isdigit():
            raise self.tokens.error(self.at - 1, "fby(value, n, initial) with a whole number n")
        self.expect(",")
        initial = self.expression()
        self.expect(")")
        for _ in range(int(count)):
            value = followed_by(initial, value, at)
        return value


def reduced(operands: list[Expression], pending: list[Open | Operator], precedence: int) -> None:
    """Apply every waiting operator that binds at least so tightly."""
    while pending:
        top = pending[-1]
        if isinstance(top, Open) or top.precedence < precedence:
            return
        pending.pop()
        right = operands.pop()
        if top.op == "if":
            operands.append(Expression("if", (*top.value, right), None, top.at))
        elif top.unary:
            operands.append(Expression(top.op, (right,), top.value, top.at))
        elif top.op == "fby":
            operands.append(followed_by(operands.pop(), right, top.at))
        else:
            operands.append(Expression(top.op, (operands.pop(), right), None, top.at))


def followed_by(initial: Expression, value: Expression, at: int) -> Expression:
    return Expression("arrow", (initial, Expression("pre", (value,), None, at)), None, at)
