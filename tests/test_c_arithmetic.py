"""C's operators on every pair of integer types: when they are defined, and their values, in exact arithmetic."""

from __future__ import annotations

import itertools
import operator

import pytest

from streamcheck.c.arithmetic import CValue, Dialect
from streamcheck.c.declarations import Typedef
from streamcheck.c.expressions import Evaluator
from streamcheck.c.kinds import BOOLEAN, INT, LLONG, LONG, SHORT, UCHAR, UINT, ULLONG, ULONG
from streamcheck.c.models import LP64
from streamcheck.c.syntax import parse
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import term, variable

KINDS = {"b": BOOLEAN, "c": UCHAR, "s": SHORT, "i": INT, "u": UINT, "l": LONG, "m": ULONG}
SIGNED = {"s": 16, "i": 32, "l": 64}
UNSIGNED = {"b": 1, "c": 8, "u": 32, "m": 64}
COMPARED = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
SUMS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
BITS = {"&": operator.and_, "|": operator.or_, "^": operator.xor}


class Expression(Evaluator):
    def __init__(self, dialect):
        super().__init__("a.c", dialect)
        self.conditions = []
        for name, kind in KINDS.items():
            self.scope.names[name] = CValue(kind, variable(name, self.arithmetic.type_of(kind)))
        if dialect is Dialect.PORTABLE:
            self.scope.names |= {name: Typedef(kind) for name, kind in LP64.typedefs.items()}

    def oblige(self, condition, premise, holds):
        self.conditions.append(term("implies", premise, holds))

    def evaluate(self, text):
        (function,) = parse(f"int f(void) {{ return {text}; }}", "a.c")
        return self.scalar(function.body.block_items[0].expr)


def corners(name):
    if name in UNSIGNED:
        width = UNSIGNED[name]
        return sorted(
            {0, 1, (1 << width) - 1, *([1 << (width - 1), (1 << (width // 2)) + 1, 7, 31, 32, 63] if width > 1 else [])}
        )
    half = 1 << (SIGNED[name] - 1)
    return [-half, -half + 1, -7, -1, 0, 1, 7, 31, 33, 1 << (SIGNED[name] // 2), half - 1]


def promoted(name):
    """Signed or not, and the width (6.3.1.1)."""
    return (True, 32) if name in "bcs" else (name in SIGNED, SIGNED.get(name) or UNSIGNED[name])


def common_type(a, b):
    """6.3.1.8, for 32 and 64 bits: the wider one, of two as wide the unsigned one."""
    (x, v), (y, w) = promoted(a), promoted(b)
    return (x, v) if v > w else (y, w) if w > v else (x and y, v)


def wrapped(value, type):
    signed, width = type
    value %= 1 << width
    return value - (1 << width) if signed and value >= 1 << (width - 1) else value


def is_in(value, type):
    return wrapped(value, type) == value


def truncated(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def expected(op, a, b, x, y, portable=False):
    """The value, None where C defines none."""
    if op in ("<<", ">>"):
        left, (signed, width) = promoted(a), promoted(a)
        y = wrapped(y, promoted(b))
        if not 0 <= y < width:
            return None
        if op == ">>":
            return None if portable and x < 0 else wrapped(x, left) >> y
        return wrapped(x << y, left) if not signed else x << y if x >= 0 and is_in(x << y, left) else None
    type = common_type(a, b)
    x, y = wrapped(x, type), wrapped(y, type)
    if op in COMPARED:
        return int(COMPARED[op](x, y))
    if op in BITS:
        return wrapped(BITS[op](x, y), type)
    if op in ("/", "%"):
        if y == 0 or (type[0] and not is_in(truncated(x, y), type)):
            return None
        return truncated(x, y) if op == "/" else x - y * truncated(x, y)
    exact = SUMS[op](x, y)
    return exact if is_in(exact, type) else None if type[0] else wrapped(exact, type)


OPERATORS = [*SUMS, "/", "%", *BITS, *COMPARED, "<<", ">>"]


def check(text, op, a, b, pairs, dialect):
    to = Expression(dialect)
    found = to.evaluate(text)
    variables = {name: variable(name, to.arithmetic.type_of(KINDS[name])) for name in (a, b)}
    for x, y in pairs:
        given = {variables[a]: bool(x) if a == "b" else x, variables[b]: bool(y) if b == "b" else y}
        value = expected(op, a, b, x, y, dialect is Dialect.PORTABLE)
        assert all(value_of(c, given) for c in to.conditions) == (value is not None), (text, x, y)
        assert value is None or value_of(found.term, given) == value, (text, x, y)


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dialect", [Dialect.COMPILED, Dialect.PORTABLE])
def test_operators_on_variables(op, dialect):
    for a, b in itertools.product(KINDS, KINDS):
        pairs = [(x, y) for x, y in itertools.product(corners(a), corners(b)) if a != b or x == y]
        check(f"{a} {op} {b}", op, a, b, pairs, dialect)


LITERALS = {
    "0": "i",
    "1": "i",
    "7": "i",
    "255": "i",
    "2147483647": "i",
    "3u": "u",
    "4294967295u": "u",
    "5000000000": "l",
}


@pytest.mark.parametrize("op", OPERATORS)
def test_operators_with_a_literal(op):
    for a, (literal, kind) in itertools.product(KINDS, LITERALS.items()):
        if a == kind:
            continue  # the name stands for the literal's type
        value = int(literal.rstrip("u"))
        for text, x, y in ((f"{a} {op} {literal}", a, kind), (f"{literal} {op} {a}", kind, a)):
            pairs = [(v, value) if x == a else (value, v) for v in corners(a)]
            check(text, op, x, y, pairs, Dialect.COMPILED)


@pytest.mark.parametrize("literal", ["-1", "-2", "-7", "-2147483647"])
@pytest.mark.parametrize("op", [*SUMS, "/", "%"])
def test_operators_with_a_negative_literal(op, literal):
    for a in ("c", "s", "l", "u"):
        check(f"{a} {op} {literal}", op, a, "i", [(v, int(literal)) for v in corners(a)], Dialect.COMPILED)
        check(f"{literal} {op} {a}", op, "i", a, [(int(literal), v) for v in corners(a)], Dialect.COMPILED)


CASTS = {
    "int8_t": (True, 8),
    "uint8_t": (False, 8),
    "int16_t": (True, 16),
    "uint32_t": (False, 32),
    "int64_t": (True, 64),
}


@pytest.mark.parametrize("dialect", [Dialect.COMPILED, Dialect.PORTABLE])
def test_casts_and_unary_operators(dialect):
    for a in KINDS:
        var = variable(a, Expression(dialect).arithmetic.type_of(KINDS[a]))
        texts = [*(f"({name}){a}" for name in CASTS), f"(bool){a}", f"-{a}", f"~{a}", f"!{a}", f"+{a}"]
        for text in texts:
            to = Expression(dialect)
            found = to.evaluate(text)
            for x in corners(a):
                given, value = {var: bool(x) if a == "b" else x}, of_one(text, a, x, dialect)
                assert all(value_of(c, given) for c in to.conditions) == (value is not None), (text, x)
                assert value is None or value_of(found.term, given) == value, (text, x)


def of_one(text, a, x, dialect):
    """The value of a cast or a unary operator, None where C defines none."""
    name, unary = text[1:].partition(")")[0], promoted(a)
    if name in CASTS:
        is_left_open = dialect is Dialect.PORTABLE and CASTS[name][0] and not is_in(x, CASTS[name])
        return None if is_left_open else wrapped(x, CASTS[name])
    if text[0] == "-":
        return wrapped(-x, unary) if not unary[0] or is_in(-x, unary) else None
    return {"(bool)": bool(x), "!": int(not x), "~": wrapped(~x, unary), "+": wrapped(x, unary)}[text[: -len(a)]]


def test_the_usual_arithmetic_conversions():
    for a, b in itertools.product(KINDS, KINDS):
        kind = LP64.common(KINDS[a], KINDS[b])
        assert (kind.signed, kind.width) == common_type(a, b)
    assert (
        LP64.common(LLONG, ULONG) == ULLONG and LP64.common(ULONG, LLONG) == ULLONG
    )  # of one width: its unsigned type
    assert (
        LP64.common(LLONG, LONG) == LLONG and LP64.common(ULLONG, LONG) == ULLONG and LP64.common(LLONG, UINT) == LLONG
    )
