"""C expressions put together from the C column of the operator table, with no more casts and parentheses than needed.

A form such as `(uint8_t)((uint32_t)a + (uint32_t)b)` is parsed once. Filling it keeps track of the C type that the
text really has after C's promotions, so a cast to the type that is there already is left out, and so is one that
the usual arithmetic conversions make by themselves. An `int` is assumed to have 32 bits; the generated file checks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

# How tightly the operators bind.
TERNARY, OR, AND, BITS, EQUAL, ORDER, SHIFT, SUM, PRODUCT, UNARY, PRIMARY = range(11)
LEVELS = {"||": OR, "&&": AND, "|": BITS, "^": BITS, "&": BITS, "==": EQUAL, "!=": EQUAL}
LEVELS |= {"<": ORDER, "<=": ORDER, ">": ORDER, ">=": ORDER, "<<": SHIFT, ">>": SHIFT}
LEVELS |= {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}
SCALARS = ("bool", "float", "double")
SMALL_UNSIGNED = ("uint8_t", "uint16_t")


@dataclass(frozen=True, slots=True)
class Expression:
    """A C expression: its text, how tightly its outermost operator binds, and its C type."""

    text: str
    level: int
    type: str
    operator: str = ""
    reads: frozenset[str] = frozenset()  # the pieces of state that the text itself mentions
    number: int | None = None  # of an integer literal

    def inside(self, wanted: bool) -> str:
        return f"({self.text})" if wanted else self.text


@dataclass(frozen=True, slots=True)
class Hole:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    text: str


@dataclass(frozen=True, slots=True)
class Cast:
    type: str
    inner: Form


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    inner: Form


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Form
    right: Form


@dataclass(frozen=True, slots=True)
class Choice:
    condition: Form
    yes: Form
    no: Form


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    args: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Member:
    inner: Form
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    inner: Form
    index: Form


Form: TypeAlias = Hole | Number | Cast | Unary | Binary | Choice | Call | Member | Index


@cache
def parsed(text: str) -> Form:
    return _Parser(re.findall(r"\|\||&&|[=!<>]=|<<|>>|\d+\.\d+f?|\w+|\S", text)).choice()


class _Parser:
    """The C of the table: what it needs and no more."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, *wanted: str) -> bool:
        if self._peek() not in wanted or not self._peek():
            return False
        self.at += 1
        return True

    def choice(self) -> Form:
        condition = self.binary(OR)
        if not self._take("?"):
            return condition
        yes = self.choice()
        assert self._take(":")
        return Choice(condition, yes, self.choice())

    def binary(self, level: int) -> Form:
        if level > PRODUCT:
            return self.unary()
        left = self.binary(level + 1)
        while LEVELS.get(self._peek()) == level:
            operator = self._peek()
            self.at += 1
            left = Binary(operator, left, self.binary(level + 1))
        return left

    def unary(self) -> Form:
        for operator in "-~!":
            if self._take(operator):
                return Unary(operator, self.unary())
        if self._peek() == "(" and is_type(self.tokens[self.at + 1]) and self.tokens[self.at + 2] == ")":
            self.at += 3
            return Cast(self.tokens[self.at - 2], self.unary())
        return self.postfix()

    def postfix(self) -> Form:
        form = self.primary()
        while self._peek() in (".", "["):
            if self._take("."):
                form = Member(form, self.tokens[self.at])
                self.at += 1
            elif self._take("["):
                form = Index(form, self.choice())
                assert self._take("]")
        return form

    def primary(self) -> Form:
        if self._take("("):
            form = self.choice()
            assert self._take(")")
            return form
        word = self.tokens[self.at]
        self.at += 1
        if word[0].isdigit():
            return Number(word)
        if self._take("("):
            args = [self.choice()]
            while self._take(","):
                args.append(self.choice())
            assert self._take(")")
            return Call(word, tuple(args))
        return Hole(word)


def is_type(word: str) -> bool:
    return word.endswith("_t") or word in SCALARS


def repeated(form: Form, name: str) -> bool:
    """Whether a form uses the operand more than once."""
    return _count(form, name) > 1


def _count(form: Form, name: str) -> int:
    match form:
        case Hole():
            return int(form.name == name)
        case Number():
            return 0
        case Cast() | Unary() | Member():
            return _count(form.inner, name)
        case Binary():
            return _count(form.left, name) + _count(form.right, name)
        case Choice():
            return sum(_count(part, name) for part in (form.condition, form.yes, form.no))
        case Call():
            return sum(_count(arg, name) for arg in form.args)
        case Index():
            return _count(form.inner, name) + _count(form.index, name)


def promoted(type: str) -> str:
    return "int32_t" if type in ("bool", "int8_t", "int16_t", "uint8_t", "uint16_t") else type


def common(a: str, b: str) -> str:
    """The usual arithmetic conversions."""
    a, b = promoted(a), promoted(b)
    order = ["int32_t", "uint32_t", "int64_t", "uint64_t", "float", "double"]
    return a if a == b or a not in order or order.index(a) > order.index(b) else b


def filled(form: Form, operands: Mapping[str, Expression], result: str) -> Expression:
    """The form with its operands put in; `result` is the type that a call in it gives."""
    match form:
        case Hole(name):
            return operands[name]
        case Number(text) if "." in text:
            return Expression(text, PRIMARY, "float" if text.endswith("f") else "double")
        case Number(text):
            return Expression(
                text, PRIMARY, "uint32_t" if text.endswith("u") else "int32_t", number=int(text.strip("u"))
            )
        case Cast(type, inner):
            return cast(type, filled(inner, operands, result))
        case Unary(operator, inner):
            return unary(operator, filled(inner, operands, result))
        case Binary(operator, left, right):
            return _binary(operator, left, right, operands, result)
        case Choice():
            parts = [filled(part, operands, result) for part in (form.condition, form.yes, form.no)]
            return choice(parts[0], parts[1], parts[2])
        case Call(function, args):
            given = [_passed(arg, operands, result) for arg in args]
            return call(function, given, result)
        case Member(inner, name):
            place = filled(inner, operands, result)
            return Expression(f"{place.inside(place.level < PRIMARY)}.{name}", PRIMARY, result, reads=place.reads)
        case Index(inner, index):
            return element(filled(inner, operands, result), filled(index, operands, result), result)


def _binary(op: str, left: Form, right: Form, operands: Mapping[str, Expression], result: str) -> Expression:
    if isinstance(left, Cast) and isinstance(right, Cast) and left.type == right.type:
        a, b = filled(left.inner, operands, result), filled(right.inner, operands, result)
        small = a.type in SMALL_UNSIGNED and b.type in SMALL_UNSIGNED  # no sum of these overflows an int
        if (small and op in "+-") or (op == "*" and a.type == b.type == "uint8_t"):
            return binary(op, a, b)
        if b.number is not None and b.number < 0 and op in "+-" and left.type.startswith("u"):
            op, b = ("-" if op == "+" else "+"), _literal(left.type, -b.number)
        wide = left.type
        a, b = _unsigned_literal(wide, a), _unsigned_literal(wide, b)
        by_itself = "uint32_t" in (a.type, b.type) and wide == "uint32_t" and (a.number is None) != (b.number is None)
        if by_itself and {a.type, b.type} & set(SMALL_UNSIGNED):  # a short word beside a literal
            return binary(op, a, b)
        if a.type == wide and _converts(b, wide):
            return binary(op, a, b)
        if b.type == wide and _converts(a, wide):
            return binary(op, a, b)
        return binary(op, cast(wide, a), cast(wide, b))
    return binary(op, filled(left, operands, result), filled(right, operands, result))


def _passed(arg: Form, operands: Mapping[str, Expression], result: str) -> Expression:
    """An argument; a parameter without a sign takes what has none without a cast."""
    if isinstance(arg, Cast) and arg.type == "uint64_t":
        inner = filled(arg.inner, operands, result)
        if inner.number is not None and 0 <= inner.number < 1 << 31:
            return _literal("uint64_t", inner.number)
        if inner.type.startswith("u"):
            return inner
    return filled(arg, operands, result)


def _unsigned_literal(wide: str, x: Expression) -> Expression:
    return x if x.number is None or not wide.startswith("u") else _literal(wide, x.number)


def _literal(wide: str, number: int) -> Expression:
    width = int(wide[4:-2])
    number %= 1 << width
    if number < 1 << 32:
        return Expression(f"{number}u", PRIMARY, "uint32_t", number=number)
    return Expression(f"UINT64_C({number})", PRIMARY, "uint64_t", number=number)


def _converts(x: Expression, wide: str) -> bool:
    """Whether C brings the operand to the wide unsigned type by itself, its value kept."""
    return wide.startswith("u") and x.type.startswith("u") and (x.number is not None or x.type == wide)


def cast(type: str, x: Expression) -> Expression:
    if x.type == type:
        return x
    if x.number is not None and type in ("uint32_t", "uint64_t"):
        literal = _literal(type, x.number)
        if literal.type == type:
            return literal
        return Expression(f"UINT64_C({literal.number})", PRIMARY, "uint64_t", number=literal.number)
    return Expression(f"({type}){x.inside(x.level < UNARY)}", UNARY, type, "cast", x.reads)


def unary(operator: str, x: Expression) -> Expression:
    inner = x.inside(x.level < UNARY or (x.operator == operator == "-"))
    return Expression(f"{operator}{inner}", UNARY, "bool" if operator == "!" else promoted(x.type), operator, x.reads)


def binary(operator: str, a: Expression, b: Expression) -> Expression:
    level = LEVELS[operator]
    left, right = _operand(operator, a), _operand(operator, b)
    if a.level == level and operator == a.operator and operator not in ("==", "!=", "<", "<=", ">", ">="):
        left = a.text
    if b.level == level and operator == b.operator and operator in ("&&", "||"):
        right = b.text
    if level in (OR, AND, EQUAL, ORDER):
        type = "bool"
    else:
        type = promoted(a.type) if level == SHIFT else common(a.type, b.type)
    return Expression(f"{left} {operator} {right}", level, type, operator, a.reads | b.reads)


def _operand(operator: str, x: Expression) -> str:
    """Parentheses wherever a reader, or a compiler's warning, would ask for them."""
    level = LEVELS[operator]
    if operator in ("&&", "||"):
        return x.inside(x.level < EQUAL)
    if level in (EQUAL, ORDER):
        return x.inside(x.level < SUM)
    if level == SUM:
        return x.inside(x.level < PRODUCT)
    return x.inside(x.level < UNARY)


def choice(condition: Expression, yes: Expression, no: Expression) -> Expression:
    parts = [x.inside(x.level == TERNARY) for x in (condition, yes, no)]
    reads = condition.reads | yes.reads | no.reads
    return Expression(f"{parts[0]} ? {parts[1]} : {parts[2]}", TERNARY, _type_of_either(yes, no), "?", reads)


def _type_of_either(yes: Expression, no: Expression) -> str:
    """The type that holds both; a literal beside another operand is of that one's type as far as values go."""
    if yes.type == no.type:
        return yes.type
    if (yes.number is None) != (no.number is None):
        return no.type if no.number is None else yes.type
    return common(yes.type, no.type)


def call(function: str, args: list[Expression], result: str) -> Expression:
    reads = frozenset[str]().union(*(x.reads for x in args))
    return Expression(f"{function}({', '.join(x.text for x in args)})", PRIMARY, result, "call", reads)


def element(place: Expression, index: Expression, result: str) -> Expression:
    text = f"{place.inside(place.level < PRIMARY)}[{index.text}]"
    return Expression(text, PRIMARY, result, "", place.reads | index.reads)
