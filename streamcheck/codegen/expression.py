"""C expressions put together from the C column of the operator table, with no more casts and parentheses than needed.

A form such as `(uint8_t)((uint32_t)a + (uint32_t)b)` is parsed once. Filling it tracks the C type of the text after
C's promotions, so a cast to the same type is left out, and so is a cast that the usual arithmetic conversions
perform. An `int` is assumed to have 32 bits; the generated file checks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias, assert_never

# How tightly the operators bind.
TERNARY, OR, AND, BITS, EQUAL, ORDER, SHIFT, SUM, PRODUCT, UNARY, PRIMARY = range(11)
LEVELS = {"||": OR, "&&": AND, "|": BITS, "^": BITS, "&": BITS, "==": EQUAL, "!=": EQUAL}
LEVELS |= {"<": ORDER, "<=": ORDER, ">": ORDER, ">=": ORDER, "<<": SHIFT, ">>": SHIFT}
LEVELS |= {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}
SCALARS = ("bool", "float", "double")
SMALL_UNSIGNED = ("uint8_t", "uint16_t")


@dataclass(frozen=True, slots=True)
class CExpression:
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
class Numeral:
    text: str


@dataclass(frozen=True, slots=True)
class Cast:
    type: str
    inner: CForm


@dataclass(frozen=True, slots=True)
class Unary:
    operator: str
    inner: CForm


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: CForm
    right: CForm


@dataclass(frozen=True, slots=True)
class Conditional:
    condition: CForm
    yes: CForm
    no: CForm


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    args: tuple[CForm, ...]


@dataclass(frozen=True, slots=True)
class Member:
    inner: CForm
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    inner: CForm
    index: CForm


CForm: TypeAlias = Hole | Numeral | Cast | Unary | Binary | Conditional | Call | Member | Index


@cache
def parse_form(text: str) -> CForm:
    return _Parser(re.findall(r"\|\||&&|[=!<>]=|<<|>>|\d+\.\d+f?|\w+|\S", text)).choice()


class _Parser:
    """A parser for the C forms of the operator table, no more."""

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

    def choice(self) -> CForm:
        condition = self.binary(OR)
        if not self._take("?"):
            return condition
        yes = self.choice()
        assert self._take(":")
        return Conditional(condition, yes, self.choice())

    def binary(self, level: int) -> CForm:
        if level > PRODUCT:
            return self.unary()
        left = self.binary(level + 1)
        while LEVELS.get(self._peek()) == level:
            operator = self._peek()
            self.at += 1
            left = Binary(operator, left, self.binary(level + 1))
        return left

    def unary(self) -> CForm:
        for operator in "-~!":
            if self._take(operator):
                return Unary(operator, self.unary())
        if self._peek() == "(" and is_type(self.tokens[self.at + 1]) and self.tokens[self.at + 2] == ")":
            self.at += 3
            return Cast(self.tokens[self.at - 2], self.unary())
        return self.postfix()

    def postfix(self) -> CForm:
        form = self.primary()
        while self._peek() in (".", "["):
            if self._take("."):
                form = Member(form, self.tokens[self.at])
                self.at += 1
            elif self._take("["):
                form = Index(form, self.choice())
                assert self._take("]")
        return form

    def primary(self) -> CForm:
        if self._take("("):
            form = self.choice()
            assert self._take(")")
            return form
        word = self.tokens[self.at]
        self.at += 1
        if word[0].isdigit():
            return Numeral(word)
        if self._take("("):
            args = [self.choice()]
            while self._take(","):
                args.append(self.choice())
            assert self._take(")")
            return Call(word, tuple(args))
        return Hole(word)


def is_type(word: str) -> bool:
    return word.endswith("_t") or word in SCALARS


def is_repeated(form: CForm, name: str) -> bool:
    """True if a form uses the operand more than once."""
    return _count(form, name) > 1


def _count(form: CForm, name: str) -> int:
    match form:
        case Hole():
            return int(form.name == name)
        case Numeral():
            return 0
        case Cast() | Unary() | Member():
            return _count(form.inner, name)
        case Binary():
            return _count(form.left, name) + _count(form.right, name)
        case Conditional():
            return sum(_count(part, name) for part in (form.condition, form.yes, form.no))
        case Call():
            return sum(_count(arg, name) for arg in form.args)
        case Index():
            return _count(form.inner, name) + _count(form.index, name)
    assert_never(form)


def promoted_type(type: str) -> str:
    return "int32_t" if type in ("bool", "int8_t", "int16_t", "uint8_t", "uint16_t") else type


def common_c_type(a: str, b: str) -> str:
    """The usual arithmetic conversions."""
    a, b = promoted_type(a), promoted_type(b)
    order = ["int32_t", "uint32_t", "int64_t", "uint64_t", "float", "double"]
    return a if a == b or a not in order or order.index(a) > order.index(b) else b


def fill_form(form: CForm, operands: Mapping[str, CExpression], result: str) -> CExpression:
    """The form with its operands put in; `result` is the type that a call in it gives."""
    match form:
        case Hole(name):
            return operands[name]
        case Numeral(text) if "." in text:
            return CExpression(text, PRIMARY, "float" if text.endswith("f") else "double")
        case Numeral(text):
            return CExpression(
                text, PRIMARY, "uint32_t" if text.endswith("u") else "int32_t", number=int(text.strip("u"))
            )
        case Cast(type, inner):
            return cast(type, fill_form(inner, operands, result))
        case Unary(operator, inner):
            return unary(operator, fill_form(inner, operands, result))
        case Binary(operator, left, right):
            return _binary(operator, left, right, operands, result)
        case Conditional():
            parts = [fill_form(part, operands, result) for part in (form.condition, form.yes, form.no)]
            return choice(parts[0], parts[1], parts[2])
        case Call(function, args):
            given = [_argument(arg, operands, result) for arg in args]
            return call(function, given, result)
        case Member(inner, name):
            place = fill_form(inner, operands, result)
            return CExpression(f"{place.inside(place.level < PRIMARY)}.{name}", PRIMARY, result, reads=place.reads)
        case Index(inner, index):
            return element(fill_form(inner, operands, result), fill_form(index, operands, result), result)
    assert_never(form)


def _binary(op: str, left: CForm, right: CForm, operands: Mapping[str, CExpression], result: str) -> CExpression:
    if isinstance(left, Cast) and isinstance(right, Cast) and left.type == right.type:
        a, b = fill_form(left.inner, operands, result), fill_form(right.inner, operands, result)
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
    return binary(op, fill_form(left, operands, result), fill_form(right, operands, result))


def _argument(arg: CForm, operands: Mapping[str, CExpression], result: str) -> CExpression:
    """An argument; a parameter of an unsigned type accepts an unsigned value without a cast."""
    if isinstance(arg, Cast) and arg.type == "uint64_t":
        inner = fill_form(arg.inner, operands, result)
        if inner.number is not None and 0 <= inner.number < 1 << 31:
            return _literal("uint64_t", inner.number)
        if inner.type.startswith("u"):
            return inner
    return fill_form(arg, operands, result)


def _unsigned_literal(wide: str, x: CExpression) -> CExpression:
    return x if x.number is None or not wide.startswith("u") else _literal(wide, x.number)


def _literal(wide: str, number: int) -> CExpression:
    width = int(wide[4:-2])
    number %= 1 << width
    if number < 1 << 32:
        return CExpression(f"{number}u", PRIMARY, "uint32_t", number=number)
    return CExpression(f"UINT64_C({number})", PRIMARY, "uint64_t", number=number)


def _converts(x: CExpression, wide: str) -> bool:
    """True if C converts the operand to the wide unsigned type implicitly, with the same value."""
    return wide.startswith("u") and x.type.startswith("u") and (x.number is not None or x.type == wide)


def cast(type: str, x: CExpression) -> CExpression:
    if x.type == type:
        return x
    if x.number is not None and type in ("uint32_t", "uint64_t"):
        literal = _literal(type, x.number)
        if literal.type == type:
            return literal
        return CExpression(f"UINT64_C({literal.number})", PRIMARY, "uint64_t", number=literal.number)
    return CExpression(f"({type}){x.inside(x.level < UNARY)}", UNARY, type, "cast", x.reads)


def unary(operator: str, x: CExpression) -> CExpression:
    inner = x.inside(x.level < UNARY or (x.operator == operator == "-"))
    return CExpression(
        f"{operator}{inner}", UNARY, "bool" if operator == "!" else promoted_type(x.type), operator, x.reads
    )


def binary(operator: str, a: CExpression, b: CExpression) -> CExpression:
    level = LEVELS[operator]
    left, right = _operand(operator, a), _operand(operator, b)
    if a.level == level and operator == a.operator and operator not in ("==", "!=", "<", "<=", ">", ">="):
        left = a.text
    if b.level == level and operator == b.operator and operator in ("&&", "||"):
        right = b.text
    if level in (OR, AND, EQUAL, ORDER):
        type = "bool"
    else:
        type = promoted_type(a.type) if level == SHIFT else common_c_type(a.type, b.type)
    return CExpression(f"{left} {operator} {right}", level, type, operator, a.reads | b.reads)


def _operand(operator: str, x: CExpression) -> str:
    """The operand, in parentheses if readers or compiler warnings want them."""
    level = LEVELS[operator]
    if operator in ("&&", "||"):
        return x.inside(x.level < EQUAL)
    if level in (EQUAL, ORDER):
        return x.inside(x.level < SUM)
    if level == SUM:
        return x.inside(x.level < PRODUCT)
    return x.inside(x.level < UNARY)


def choice(condition: CExpression, yes: CExpression, no: CExpression) -> CExpression:
    parts = [x.inside(x.level == TERNARY) for x in (condition, yes, no)]
    reads = condition.reads | yes.reads | no.reads
    return CExpression(f"{parts[0]} ? {parts[1]} : {parts[2]}", TERNARY, _type_of_either(yes, no), "?", reads)


def _type_of_either(yes: CExpression, no: CExpression) -> str:
    """The type that holds both; a literal takes the type of the operand beside it."""
    if yes.type == no.type:
        return yes.type
    if (yes.number is None) != (no.number is None):
        return no.type if no.number is None else yes.type
    return common_c_type(yes.type, no.type)


def call(function: str, args: list[CExpression], result: str) -> CExpression:
    reads = frozenset[str]().union(*(x.reads for x in args))
    return CExpression(f"{function}({', '.join(x.text for x in args)})", PRIMARY, result, "call", reads)


def element(place: CExpression, index: CExpression, result: str) -> CExpression:
    text = f"{place.inside(place.level < PRIMARY)}[{index.text}]"
    return CExpression(text, PRIMARY, result, "", place.reads | index.reads)
