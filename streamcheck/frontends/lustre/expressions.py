"""Expressions, by operator precedence, with an explicit stack: generated files nest tens of thousands deep.

Precedences and associativity are Kind 2's: `not` and `pre` bind tighter than comparisons, `-x * y` is `-(x * y)`,
`int32 x + 1` converts the sum, and the branch after `else` reaches as far as it can.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, TypeAlias

from streamcheck.core.notation import LUSTRE_WORD_TYPES
from streamcheck.frontends.lustre.binders import BinderParser, Binding
from streamcheck.frontends.lustre.cursor import Cursor, is_name
from streamcheck.frontends.lustre.syntax import Activation, ClockText, ExpressionText, TypeText, name_expression
from streamcheck.frontends.lustre.tokens import DIGITS, NAME_START
from streamcheck.frontends.lustre.walks import unguarded_pres

CONVERSION, WHEN, ELSE, ARROW, IMPLIES, OR, AND, IN, COMPARE, SUM, PRODUCT = range(11)
CONCAT, BIT_OR, BIT_AND, SHIFT, PRE, CONVERT, NOT, BIT_NOT, POWER = range(11, 20)

# operator: (precedence, whether it is right-associative, the operation)
BINARY = {
    "->": (ARROW, True, "arrow"),
    "fby": (ARROW, True, "fby"),  # a fby b is a -> pre b
    "=>": (IMPLIES, True, "implies"),
    "==>": (IMPLIES, True, "lazy implies"),
    "or": (OR, False, "or"),
    "xor": (OR, False, "xor"),
    "and": (AND, False, "and"),
    "in": (IN, False, "in"),
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
    "++": (CONCAT, False, "concat"),
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
    **dict.fromkeys(LUSTRE_WORD_TYPES, (CONVERSION, "to machine")),
}
# Lustre V6 has `when` and `fby` as operators that bind tightly, and a sign binds tighter than a product
SAMPLE, V6_FBY = SHIFT, POWER + 1
V6_BINARY = BINARY | {"fby": (V6_FBY, True, "fby")}
V6_PREFIX = PREFIX | {"-": (CONVERT, "neg"), "current": (PRE, "current")}
CLOSES = {"(": ")", "call": ")", "merge": ")", "array": "]", "index": "]", "record": "}", "field update": "}"}
CLOSES |= {"at most one": ")", "nor": ")"}
CLOSES |= dict.fromkeys(("construct", "test", "tuple value"), ")") | {"set": "}", "map": "]"}
LISTS = frozenset(
    ("(", "call", "array", "construct", "tuple value", "set", "at most one", "nor")
)  # of values with commas between them
QUANTIFIERS = frozenset(("forall", "exists"))
UNSUPPORTED = {  # the word: (the message, what to write instead)
    "with": ("recursive nodes are not supported", "an array that is defined element by element"),
    "last": ("`last` is only in the body of a `frame`", "pre x"),
}

OPERATORS_OR_ENDS = frozenset(BINARY) | frozenset((",", ";", ")", "]", "}", "then", "else", "."))


class OpenBracket:
    """A bracket, or an `if`, whose end has not come yet; `items` are the operands before the last separator."""

    __slots__ = ("at", "items", "kind", "names", "value")

    def __init__(self, kind: str, at: int, value: object = None) -> None:
        self.kind = kind
        self.at = at
        self.value = value
        self.items: list[ExpressionText] = []
        self.names: list[str] = []


class PendingOperator:
    """An operator whose right side has not come yet."""

    __slots__ = ("at", "op", "precedence", "unary", "value")

    def __init__(self, op: str, precedence: int, at: int, *, unary: bool, value: Any = None) -> None:
        self.op = op
        self.precedence = precedence
        self.at = at
        self.unary = unary
        self.value = value


OperandStack: TypeAlias = list[ExpressionText]
Unfinished: TypeAlias = list[OpenBracket | PendingOperator]


class ExpressionParser:
    def __init__(self, cursor: Cursor, constructors: frozenset[str] = frozenset()) -> None:
        self.cursor = cursor
        self.constructors = constructors  # of algebraic data types
        self.calls: set[str] = set()  # the nodes called since the last declaration began
        self.type_names: set[str] = set()  # the types named since then
        self.conditions: list[ExpressionText] = []  # of all types
        self.unguarded: set[int] = set()  # the identities of the `pre` that are not on the right of a `->`
        self.aliases: dict[str, str] = {}  # names that stand for others
        self.samples = 0  # the number of `when` so far that are no whole branch of a merge
        self.binary, self.prefix = (V6_BINARY, V6_PREFIX) if cursor.is_v6 else (BINARY, PREFIX)
        self.lasts: dict[str, int] | None = None  # in a frame: the variables whose value before is read, and where
        self.type_arguments: Callable[[], tuple[TypeText, ...]] | None = None  # reads `<T, U>`
        self.binders = BinderParser(cursor, self.expression, self._expression, constructors)

    def expression(self, ends: frozenset[str] = frozenset()) -> ExpressionText:
        """An expression as long as possible, or up to one of `ends` outside brackets."""
        first = self.cursor.at
        root = self._expression(ends)
        if "pre" in self.cursor.texts[first : self.cursor.at]:
            self.unguarded.update(id(pre) for pre in unguarded_pres(root, is_v6=self.cursor.is_v6))
        return root

    def _expression(self, ends: frozenset[str] = frozenset()) -> ExpressionText:
        operands: OperandStack = []
        pending: Unfinished = []
        while True:
            if self._operand(operands, pending):
                continue
            while True:  # an operand is complete: operators, closing brackets, or the end
                if ends and self.cursor.word in ends and not any(isinstance(p, OpenBracket) for p in pending):
                    apply_pending(operands, pending, CONVERSION)
                    return operands.pop()
                goes_on = self._operator(operands, pending)
                if goes_on is None:
                    return operands.pop()
                if goes_on:
                    break

    def _operand(self, operands: OperandStack, pending: Unfinished) -> bool:
        """Read a prefix or an opening (True), or a whole operand (False)."""
        at, word = self.cursor.at, self.cursor.next()
        if word == "current" and self.cursor.word not in OPERATORS_OR_ENDS:
            self.cursor.require_v6()
        if word in self.prefix and (word != "current" or self.cursor.word not in OPERATORS_OR_ENDS):
            precedence, op = self.prefix[word]
            pending.append(PendingOperator(op, precedence, at, unary=True, value=LUSTRE_WORD_TYPES.get(word)))
            return True
        if word in ("sint", "uint") and self.cursor.word == "@":
            pending.append(PendingOperator("to machine", CONVERSION, at, unary=True, value=self._width(word)))
            return True
        if word == "(":
            if self.cursor.word in ("activate", "restart") and _can_name_node(self.cursor.after):
                operands.append(self._activation(at))
                return False
            pending.append(OpenBracket("(", at))
            return True
        if self.cursor.word == "(" and (word == "#" or (word == "nor" and self.cursor.is_v6)):
            self.cursor.require_v6()
            self.cursor.next()
            pending.append(OpenBracket("nor" if word == "nor" else "at most one", at))
            return True
        if word == "if" or word == "when":
            pending.append(OpenBracket("if", at, "if" if word == "if" else "lazy"))
            return True
        if word == "[":
            pending.append(OpenBracket("array", at))
            return True
        if word == "{" or (word == "map" and self.cursor.word == "["):
            return self._container(at, word, operands, pending)
        if word == "'" and self.cursor.take("("):
            pending.append(OpenBracket("tuple value", at))
            return True
        if word in QUANTIFIERS and self.cursor.word == "(":
            pending.append(PendingOperator(word, IMPLIES, at, unary=True, value=self.binders.quantified_variables()))
            return True
        return self._leaf(at, word, operands, pending)

    def _leaf(self, at: int, word: str, operands: OperandStack, pending: Unfinished) -> bool:
        if word[:1] in DIGITS and word:
            operands.append(ExpressionText("number", (), word, at))
        elif word in ("true", "false"):
            if self.cursor.word == "(":
                self.cursor.require_v6()
            operands.append(ExpressionText("bool", (), word == "true", at))
        elif word == "condact":
            operands.append(self._condact(at))
        elif word == "merge":
            if self.cursor.word == "(" and self.cursor.texts[self.cursor.at + 2] == ";":
                self.cursor.next()
                pending.append(OpenBracket("merge", at))
                return True
            operands.append(self._merge(at))
        elif word == "::":
            operands.append(ExpressionText("mode", (), "::".join(self.cursor.names("::")), at))
        elif word == "fby" and self.cursor.word == "(":
            operands.append(self._fby(at))
        elif word in ("any", "choose") and self.cursor.word in ("@", "{"):
            operands.append(self.binders.any_value(at, word))
        elif word == "match" and (self.cursor.word == "(" or self.cursor.word not in OPERATORS_OR_ENDS):
            operands.append(self.binders.match(at))
        elif word == "last" and self.lasts is not None and is_name(self.cursor.word):
            name = self.cursor.name()
            self.lasts.setdefault(name, at)
            operands.append(name_expression(f"last {name}", at))
        elif word in UNSUPPORTED and self.cursor.word not in OPERATORS_OR_ENDS:
            message, write = UNSUPPORTED[word]
            raise self.cursor.error(at, message, write=write)
        elif is_name(word):
            return self._name_or_call(at, word, operands, pending)
        else:
            self.cursor.at = at
            self.cursor.fail("an expression")
        return False

    def _width(self, word: str) -> tuple[int, bool]:
        """`@<N>`, the width of a conversion, and whether it is signed."""
        self.cursor.expect("@")
        self.cursor.expect("<")
        if not self.cursor.word.isdigit() or not int(self.cursor.word):
            self.cursor.fail("a width")
        width = int(self.cursor.next())
        self.cursor.expect(">")
        return width, word == "sint"

    def _name_or_call(self, at: int, word: str, operands: OperandStack, pending: Unfinished) -> bool:
        if self.cursor.compound and self.cursor.word in (".", "["):
            self.cursor.at = at
            word = self.cursor.known_name()
        if self.cursor.word == "?" and self.cursor.after == "(":
            self.cursor.at += 2
            pending.append(OpenBracket("test", at, word))
            return True
        types = self.applied_types()
        if word in self.constructors:
            if self.cursor.take("("):
                pending.append(OpenBracket("construct", at, (word, types)))
                return True
            operands.append(ExpressionText("construct", (), (word, types), at))
            return False
        if self.cursor.take("("):
            self.calls.add(word)
            if self.cursor.take(")"):
                operands.append(ExpressionText("call", (), Activation(word, types=types), at))
                return False
            pending.append(OpenBracket("call", at, Activation(word, types=types)))
            return True
        if self.cursor.word == "{" and not self._update_begins():
            self.cursor.next()
            type = TypeText("applied", (word, types), at) if types else TypeText("name", word, at)
            pending.append(self._field(OpenBracket("record", at, type)))
            return True
        if types:
            raise self.cursor.error(at, f"{word} has type arguments: it is no node, record type or constructor")
        bound = self.binders.bound_name(word)
        if bound is not None and bound != word:
            operands.append(ExpressionText("bound", (), bound, at))
        else:
            operands.append(name_expression(self.aliases.get(word, word), at))
        return False

    def _update_begins(self) -> bool:
        """True if JKind's update of a record, `r{field := value}`, comes next."""
        return self.cursor.texts[self.cursor.at + 2] == ":="

    def _container(self, at: int, word: str, operands: OperandStack, pending: Unfinished) -> bool:
        """`{a, b}`, `map[a := v; b := w]`, `{}@<T>` or `map[]@<K, V>`."""
        kind = "set" if word == "{" else "map"
        if kind == "map":
            self.cursor.expect("[")
        if self.cursor.take(CLOSES[kind]):
            operands.append(ExpressionText(kind, (), self.applied_types(), at))
            return False
        pending.append(OpenBracket(kind, at, ()))
        return True

    def applied_types(self) -> tuple[TypeText, ...]:
        """The type arguments `@<T, U>`, if they are there."""
        if self.cursor.word != "@":
            return ()
        assert self.type_arguments is not None
        self.cursor.expect("@")
        return self.type_arguments()

    def _field(self, record: OpenBracket) -> OpenBracket:
        record.names.append(self.cursor.name())
        self.cursor.expect("=")
        return record

    def _operator(self, operands: OperandStack, pending: Unfinished) -> bool | None:
        """After an operand. True: another operand follows; False: an operand is complete again; None: the end."""
        word = self.cursor.word
        if word == self.cursor.after == "+":
            self.cursor.next()
            word = "++"
        if word == "when" and self.cursor.is_v6:
            apply_pending(operands, pending, SAMPLE)
            at = self.cursor.expect("when")
            operands.append(ExpressionText("when", (operands.pop(),), self.clock(), at))
            return False
        operator = self.binary.get(word)
        if operator is not None:
            precedence, right, op = operator
            apply_pending(operands, pending, precedence + right)
            at = self.cursor.at
            self.cursor.next()
            self.samples += word == "when"
            if (word, self.cursor.word) in (("and", "then"), ("or", "else")):
                self.cursor.next()
                op = f"lazy {op}"
            pending.append(PendingOperator(op, precedence, at, unary=False))
            return True
        if self.cursor.take("["):
            pending.append(OpenBracket("index", self.cursor.at - 1))
            return True
        if word == "{" and self._update_begins():
            self.cursor.is_jkind = True
            self.cursor.next()
            pending.append(OpenBracket("field update", self.cursor.at, self.cursor.next()))
            self.cursor.next()
            return True
        if word == ".":
            return self._projection(operands)
        apply_pending(operands, pending, CONVERSION)
        if not pending:
            return None
        top = pending[-1]
        assert isinstance(top, OpenBracket)
        if top.kind in ("if", "then"):
            return self._branch(top, operands, pending)
        return self._close(top, operands, pending)

    def clock(self) -> ClockText:
        """The condition after `when`: `c`, `not c`, `not (c)` or `member(c)`."""
        at = self.cursor.at
        value: bool | str = not self.cursor.take("not")
        if value and self.cursor.after == "(":
            word = self.cursor.next()
            value = {"true": True, "false": False}.get(word, word)
        bracketed = self.cursor.take("(")
        name = self.cursor.known_name()
        if bracketed:
            self.cursor.expect(")")
        return ClockText(name, value, at)

    def _projection(self, operands: OperandStack) -> bool | None:
        if self.cursor.after[:1] not in NAME_START:
            self.cursor.fail("an operator")
        self.cursor.expect(".")
        at = self.cursor.at
        operands.append(ExpressionText("field", (operands.pop(),), self.cursor.next(), at))
        return False

    def _branch(self, top: OpenBracket, operands: OperandStack, pending: Unfinished) -> bool:
        self.cursor.expect("then" if top.kind == "if" else "else")
        if top.kind == "if":
            top.kind = "then"
            top.items.append(operands.pop())
            return True
        pending[-1] = PendingOperator(str(top.value), ELSE, top.at, unary=True, value=(top.items[0], operands.pop()))
        return True

    def _close(self, top: OpenBracket, operands: OperandStack, pending: Unfinished) -> bool:
        word = self.cursor.word
        top.items.append(operands.pop())
        if word == "," and top.kind in LISTS:
            self.cursor.next()
            return True
        if word == ";" and top.kind in ("merge", "record"):
            self.cursor.next()
            if top.kind == "record" and self.cursor.word != "}":
                self._field(top)
                return True
            if top.kind == "merge":
                return True
        if top.kind in ("index", "map") and word in (":=", ";"):
            top.names.append(self.cursor.next())
            return True
        if top.kind == "index" and word == ":" and top.items[-1].op == "number":
            return self._bits(top, operands, pending)
        if top.kind == "index" and word in ("..", ":", "|"):
            write = "b[i] = a[low + i], or bits as x[7:0]"
            raise self.cursor.error(self.cursor.at, "slices of arrays are not supported", write=write)
        if top.kind == "(" and len(top.items) == 1 and self.cursor.take(":"):
            assert self.binders.type is not None
            top.kind, top.value = "ascribe", self.binders.type()
        self.cursor.expect(")" if top.kind == "ascribe" else CLOSES[top.kind])
        pending.pop()
        operands.append(self._bracket_contents(top, operands))
        return False

    def _bits(self, top: OpenBracket, operands: OperandStack, pending: Unfinished) -> bool:
        """`x[high:low]`."""
        self.cursor.expect(":")
        if not self.cursor.word.isdigit():
            self.cursor.fail("the number of the lowest bit")
        bits = int(top.items[0].value), int(self.cursor.next())
        self.cursor.expect("]")
        pending.pop()
        operands.append(ExpressionText("bits", (operands.pop(),), bits, top.at))
        return False

    def _bracket_contents(self, top: OpenBracket, operands: OperandStack) -> ExpressionText:
        items = tuple(top.items)
        if top.kind == "map" and top.names != [":=", ";"] * (len(items) // 2 - 1) + [":="]:
            raise self.cursor.error(top.at, "write a map as map[key := value; key := value]")
        match top.kind:
            case "(":
                return items[0] if len(items) == 1 else ExpressionText("tuple", items, None, top.at)
            case "call" | "construct" | "test" | "set" | "map" | "tuple value" | "ascribe":
                return ExpressionText(top.kind, items, top.value, top.at)
            case "at most one":
                return _none([ExpressionText("and", pair, None, top.at) for pair in combinations(items, 2)], top.at)
            case "nor":
                return _none(items, top.at)
            case "array":
                return ExpressionText("array", items, None, top.at)
            case "merge":
                if len(items) != 3:
                    raise self.cursor.error(top.at, "write merge(clock; value if it is true; value if it is false)")
                return self._make_merge(items, ("true", "false"), top.at)
            case "record":
                return ExpressionText("record", items, (top.value, tuple(top.names)), top.at)
            case "field update":
                field = name_expression(str(top.value), top.at)
                return ExpressionText("update", (operands.pop(), field, *items), None, top.at)
        if not top.names:
            if len(items) != 1:
                raise self.cursor.error(top.at, "write one index at a time: a[i][j]")
            return ExpressionText("index", (operands.pop(), items[0]), None, top.at)
        if top.names != [":=", ";"] * (len(items) // 2 - 1) + [":="]:
            raise self.cursor.error(top.at, "write an update as a[i := value; j := value]")
        return ExpressionText("update", (operands.pop(), *items), None, top.at)

    # Forms with words in them: nested in each other a few deep at most, so these may recurse

    def arguments(self) -> tuple[ExpressionText, ...]:
        """`(a, b, …)`."""
        self.cursor.expect("(")
        if self.cursor.take(")"):
            return ()
        values = self.expressions()
        self.cursor.expect(")")
        return values

    def expressions(self) -> tuple[ExpressionText, ...]:
        """One expression or more."""
        values = [self.expression()]
        while self.cursor.take(","):
            values.append(self.expression())
        return tuple(values)

    def _node_and_restart(self) -> tuple[str, ExpressionText | None]:
        """`N`, or `(restart N every c)`."""
        if not self.cursor.take("("):
            return self._node_name(), None
        self.cursor.expect("restart")
        node = self._node_name()
        self.cursor.expect("every")
        restart = self.expression()
        self.cursor.expect(")")
        return node, restart

    def _node_name(self) -> str:
        node = self.cursor.name()
        self.calls.add(node)
        return node

    def _condact(self, at: int) -> ExpressionText:
        self.cursor.expect("(")
        clock = self.expression()
        self.cursor.expect(",")
        node, restart = self._node_and_restart()
        args = self.arguments()
        defaults = []
        while self.cursor.take(","):
            defaults.append(self.expression())
        self.cursor.expect(")")
        return ExpressionText("call", args, Activation(node, clock, restart, tuple(defaults)), at)

    def _activation(self, at: int) -> ExpressionText:
        """`(activate … every … [initial default …] [restart every …])(…)` and `(restart … every …)(…)`."""
        word = self.cursor.next()
        clock: ExpressionText | None = None
        restart: ExpressionText | None = None
        defaults: tuple[ExpressionText, ...] | None = None
        if word == "restart":
            node = self._node_name()
            self.cursor.expect("every")
            restart = self.expression()
        else:
            node, restart = self._node_and_restart()
            self.cursor.expect("every")
            clock = self.expression()
            if self.cursor.take("initial"):
                self.cursor.expect("default")
                defaults = self.expressions()
            if self.cursor.take("restart"):
                self.cursor.expect("every")
                restart = self.expression()
        self.cursor.expect(")")
        return ExpressionText("call", self.arguments(), Activation(node, clock, restart, defaults), at)

    def _merge(self, at: int) -> ExpressionText:
        """`merge clock (member -> value) …`."""
        clock = ExpressionText("name", (), self.cursor.name(), at + 1)
        members, values = [], []
        while self.cursor.take("("):
            members.append(self.cursor.next())
            self.cursor.expect("->")
            values.append(self.expression())
            self.cursor.expect(")")
        if not members:
            self.cursor.fail("`(member -> value)`")
        return self._make_merge((clock, *values), tuple(members), at)

    def _make_merge(self, items: tuple[ExpressionText, ...], members: tuple[str, ...], at: int) -> ExpressionText:
        self.samples -= sum(branch.op == "when" for branch in items)
        return ExpressionText("merge", items, members, at)

    def _fby(self, at: int) -> ExpressionText:
        """`fby(value, n, initial)`: the value n steps ago, the initial one before."""
        self.cursor.expect("(")
        value = self.expression()
        self.cursor.expect(",")
        count = self.cursor.next()
        if not count.isdigit():
            raise self.cursor.error(self.cursor.at - 1, "write fby(value, n, initial) with a whole number n")
        self.cursor.expect(",")
        initial = self.expression()
        self.cursor.expect(")")
        for _ in range(int(count)):
            value = make_fby(initial, value, at)
        return value


def _can_name_node(word: str) -> bool:
    return word == "(" or (is_name(word) and word != "every")


def apply_pending(operands: OperandStack, pending: Unfinished, precedence: int) -> None:
    """Apply every waiting operator that binds at least so tightly."""
    while pending:
        top = pending[-1]
        if isinstance(top, OpenBracket) or top.precedence < precedence:
            return
        pending.pop()
        right = operands.pop()
        if top.op in ("if", "lazy"):
            operands.append(ExpressionText(top.op, (*top.value, right), None, top.at))
        elif isinstance(top.value, Binding):
            top.value.open = False
            operands.append(ExpressionText(top.op, (right,), tuple(top.value.variables), top.at))
        elif top.unary:
            operands.append(ExpressionText(top.op, (right,), top.value, top.at))
        elif top.op == "fby":
            operands.append(make_fby(operands.pop(), right, top.at))
        elif top.op.startswith("lazy "):
            operands.append(_make_lazy(top.op, operands.pop(), right, top.at))
        else:
            operands.append(ExpressionText(top.op, (operands.pop(), right), None, top.at))


def _make_lazy(op: str, left: ExpressionText, right: ExpressionText, at: int) -> ExpressionText:
    """`and then`, `or else` and `==>` as `when … then … else …`."""
    if op == "lazy or":
        return ExpressionText("lazy", (left, ExpressionText("bool", (), True, at), right), op, at)
    return ExpressionText("lazy", (left, right, ExpressionText("bool", (), op == "lazy implies", at)), op, at)


def _none(items: Sequence[ExpressionText], at: int) -> ExpressionText:
    """True if all these are false."""
    whole = items[0] if items else ExpressionText("bool", (), False, at)
    for e in items[1:]:
        whole = ExpressionText("or", (whole, e), None, at)
    return ExpressionText("not", (whole,), None, at)


def make_fby(initial: ExpressionText, value: ExpressionText, at: int) -> ExpressionText:
    return ExpressionText("arrow", (initial, ExpressionText("pre", (value,), None, at)), None, at)
