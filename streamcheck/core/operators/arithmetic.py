"""Rows: arithmetic, bits and shifts on numbers.

Division by zero and oversized shifts have a value: x // 0 is 0, x % 0 is x, a shift by the width or more (or by a
negative amount) gives 0, and the sign for a signed >>. The `sc_…` functions of the C column are in `c_helpers`.
"""

from __future__ import annotations

from functools import partial

from streamcheck.core.operators.c_helpers import division, shift
from streamcheck.core.operators.table import Operator, Signature, TypeRule, common_type, require
from streamcheck.core.types import MachineType, Type

NUMBERS = "unsigned signed float integer real"
INTEGERS = "unsigned signed integer"


def _number(args: tuple[Type, ...], _: object) -> Type:
    return require(common_type(args), NUMBERS, "numbers")


def _whole(args: tuple[Type, ...], _: object) -> Type:
    if args[0].kind in ("float", "real") and args[0] is args[-1]:
        raise TypeRule(f"expected integers, found {args[0]}; it has `/`")
    return require(common_type(args), INTEGERS, "integers")


def _fraction(args: tuple[Type, ...], _: object) -> Type:
    if args[0].is_integer:
        raise TypeRule(f"expected Float, Double or Real, found {args[0]}; it has `//` (floors) and `quot` (truncates)")
    return require(common_type(args), "float real", "Float, Double or Real")


def _words(args: tuple[Type, ...], _: object) -> Type:
    return require(common_type(args), "unsigned signed", "Bool streams or machine integers")


def _shift(args: tuple[Type, ...], _: object) -> Type:
    require(args[0], "unsigned signed", "machine integers")
    require(args[1], INTEGERS, "an integer amount")
    return args[0]


def _amount(signature: Signature, shifted: str, oversized: str) -> str:
    """The SMT text of a shift, its amount brought to the width of what is shifted."""
    left, right = signature.args
    assert isinstance(left, MachineType)
    w = left.width
    if not isinstance(right, MachineType):
        return f"(ite (and (<= 0 b) (< b {w})) ({shifted} a ((_ int_to_bv {w}) b)) {oversized})"
    if right.width > w:
        narrow = f"((_ extract {w - 1} 0) b)"
        return f"(ite (bvult b (_ bv{w} {right.width})) ({shifted} a {narrow}) {oversized})"
    extra = w - right.width
    return f"({shifted} a ((_ zero_extend {extra}) b))" if extra else f"({shifted} a b)"


SIGN = "(ite (bvslt a {zero}) (bvnot {zero}) {zero})"
DIFFERENT_SIGNS = "(xor (bvslt r! {zero}) (bvslt b {zero}))"
FLOOR_BV = (
    "(ite (= b {zero}) {zero} (let ((q! (bvsdiv a b)) (r! (bvsrem a b)))"
    " (ite (and (not (= r! {zero})) " + DIFFERENT_SIGNS + ") (bvadd q! (bvnot {zero})) q!)))"
)
# SMT-LIB's div and mod keep the remainder non-negative; floor and truncation follow from the signs.
FLOOR_INT = "(ite (= b 0) 0 (ite (> b 0) (div a b) (div (- a) (- b))))"
MOD_INT = "(ite (= b 0) a (ite (> b 0) (mod a b) (- (mod (- a) (- b)))))"
QUOT_INT = "(ite (= b 0) 0 (ite (>= a 0) (div a b) (- (div (- a) b))))"
REM_INT = "(ite (= b 0) a (ite (>= a 0) (mod a b) (- (mod (- a) b))))"


def _sum(name: str, symbol: str, bv: str, fp: str) -> Operator:
    return Operator(
        name,
        f"a {symbol} b",
        _number,
        f"a {symbol} b",
        {"unsigned": f"({bv} a b)", "signed": f"({bv} a b)", "float": f"({fp} RNE a b)", "*": f"({symbol} a b)"},
        {
            "unsigned": f"({{T}})(({{P}})a {symbol} ({{P}})b)",
            "signed": f"sc_{{t}}(({{P}})a {symbol} ({{P}})b)",
            "float": f"({{T}})(a {symbol} b)",
        },
        wraps=True,
    )


def _division(name: str, shown: str, python: str, unsigned: str, signed: str, integer: str) -> Operator:
    return Operator(
        name,
        shown,
        _whole,
        python,
        {"unsigned": unsigned, "signed": signed, "integer": integer},
        f"sc_{name}_{{t}}(a, b)",
        wraps=True,
        requires="no division by zero",
        c_function=partial(division, name),
    )


def _bits(name: str, symbol: str, bv: str) -> Operator:
    c = {"unsigned": f"({{T}})(a {symbol} b)", "signed": f"({{T}})(a {symbol} b)"}
    return Operator(name, f"a {symbol} b", _words, f"a {symbol} b", f"({bv} a b)", c)


def _extreme(name: str, shown: str, first_wins: str) -> Operator:
    smt = {
        "unsigned": f"(ite (bvult {first_wins}) b a)",
        "signed": f"(ite (bvslt {first_wins}) b a)",
        "float": f"(ite (fp.lt {first_wins}) b a)",
        "*": f"(ite (< {first_wins}) b a)",
    }
    condition = " < ".join(first_wins.split())
    return Operator(name, shown, _number, f"b if {condition} else a", smt, f"{condition} ? b : a")


UDIV = "(ite (= b {zero}) {zero} (bvudiv a b))"

ROWS = (
    _sum("add", "+", "bvadd", "fp.add"),
    _sum("sub", "-", "bvsub", "fp.sub"),
    _sum("mul", "*", "bvmul", "fp.mul"),
    Operator(
        "neg",
        "-a",
        _number,
        "-a",
        {"unsigned": "(bvneg a)", "signed": "(bvneg a)", "float": "(fp.neg a)", "*": "(- a)"},
        {"unsigned": "({T})(({P})0 - ({P})a)", "signed": "sc_{t}(({P})0 - ({P})a)", "float": "-a"},
        wraps=True,
    ),
    Operator(
        "abs",
        "abs(a)",
        _number,
        "abs(a)",
        {
            "unsigned": "a",
            "signed": "(ite (bvslt a {zero}) (bvneg a) a)",
            "float": "(fp.abs a)",
            "integer": "(ite (< a 0) (- a) a)",
            "real": "(ite (< a 0.0) (- a) a)",
        },
        {"unsigned": "a", "signed": "a < 0 ? sc_{t}(({P})0 - ({P})a) : a", "float": "fabs{f}(a)"},
        wraps=True,
    ),
    _extreme("min", "minimum(a, b)", "b a"),
    _extreme("max", "maximum(a, b)", "a b"),
    _division("floordiv", "a // b", "a // b if b else 0", UDIV, FLOOR_BV, FLOOR_INT),
    _division("mod", "a % b", "a % b if b else a", "(bvurem a b)", "(bvsmod a b)", MOD_INT),
    _division("quot", "quot(a, b)", "quot(a, b)", UDIV, "(ite (= b {zero}) {zero} (bvsdiv a b))", QUOT_INT),
    _division("rem", "rem(a, b)", "rem(a, b)", "(bvurem a b)", "(bvsrem a b)", REM_INT),
    Operator(
        "div",
        "a / b",
        _fraction,
        {"float": "fdiv(a, b)", "real": "a / b if b else a * 0"},
        {"float": "(fp.div RNE a b)", "real": "(ite (= b 0.0) 0.0 (/ a b))"},
        {"float": "({T})(a / b)"},
        wraps=True,
        requires="no division by zero",
    ),
    _bits("bitand", "&", "bvand"),
    _bits("bitor", "|", "bvor"),
    _bits("bitxor", "^", "bvxor"),
    Operator("bitnot", "~a", _words, "~a", "(bvnot a)", "({T})~a", wraps=True),
    Operator(
        "shl",
        "a << b",
        _shift,
        "a << b if 0 <= b < {w} else 0",
        lambda s: _amount(s, "bvshl", "{zero}"),
        "sc_shl_{t}(a, (uint64_t)b)",
        wraps=True,
        requires="shift in range",
        c_function=partial(shift, "shl"),
    ),
    Operator(
        "shr",
        "a >> b",
        _shift,
        {
            "unsigned": "a >> b if 0 <= b < {w} else 0",
            "signed": "a >> (b if 0 <= b < {w} else {w})",
        },
        {
            "unsigned": lambda s: _amount(s, "bvlshr", "{zero}"),
            "signed": lambda s: _amount(s, "bvashr", SIGN),
        },
        "sc_shr_{t}(a, (uint64_t)b)",
        requires="shift in range",
        c_function=partial(shift, "shr"),
    ),
)
