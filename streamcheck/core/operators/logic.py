"""Rows: Booleans, comparisons, choice."""

from __future__ import annotations

from streamcheck.core.operators.table import Operator, Signature, TypeRule, common_type, require
from streamcheck.core.types import BOOL, ArrayType, StructType, Type, has_floats


def _booleans(args: tuple[Type, ...], _: object) -> Type:
    if BOOL in args and any(t is not BOOL for t in args):
        raise TypeRule(" and ".join(map(str, args)) + " are different types")
    for t in args:
        require(t, "bool", "Bool streams")
    return BOOL


def _comparable(args: tuple[Type, ...], _: object) -> Type:
    common_type(args)
    return BOOL


def _identical(args: tuple[Type, ...], _: object) -> Type:
    require(common_type(args), "bool unsigned signed float integer real enum", "scalars")
    return BOOL


def _ordering(args: tuple[Type, ...], _: object) -> Type:
    require(common_type(args), "unsigned signed float integer real", "numbers")
    return BOOL


def _choice(args: tuple[Type, ...], _: object) -> Type:
    if args[0] is not BOOL:
        raise TypeRule(f"the condition: expected Bool, found {args[0]}")
    return common_type(args[1:])


def _equal(signature: Signature) -> str:
    # Python's == on tuples treats an object as equal to itself, but NaN is not equal to itself.
    return "equal(a, b)" if has_floats(signature.args[0]) else "a == b"


def expand_equal(type: Type) -> bool:
    """True if == on this type is expanded into its elements before solvers and C see it."""
    return isinstance(type, ArrayType | StructType)


def _compare(name: str, mirrored: str, symbol: str, fp: str) -> Operator:
    smt = {
        "unsigned": f"(bvu{name} a b)",
        "signed": f"(bvs{name} a b)",
        "float": f"(fp.{fp} a b)",
        "*": f"({symbol} a b)",
    }
    return Operator(name, f"a {symbol} b", _ordering, f"a {symbol} b", smt, f"a {symbol} b", mirrored=mirrored)


ROWS = (
    Operator("not", "~a", _booleans, "not a", "(not a)", "!a"),
    Operator("and", "a & b", _booleans, "a and b", "(and a b)", "a && b"),
    Operator("or", "a | b", _booleans, "a or b", "(or a b)", "a || b"),
    Operator("xor", "a ^ b", _booleans, "a != b", "(xor a b)", "a != b"),
    Operator("implies", "implies(a, b)", _booleans, "not a or b", "(=> a b)", "!a || b"),
    Operator(
        "eq",
        "a == b",
        _comparable,
        {"array": _equal, "struct": _equal, "*": "a == b"},
        {"float": "(fp.eq a b)", "*": "(= a b)"},
        "a == b",
        mirrored="eq",
    ),
    Operator(
        "ne",
        "a != b",
        _comparable,
        {
            "array": lambda s: f"not {_equal(s)}",
            "struct": lambda s: f"not {_equal(s)}",
            "*": "a != b",
        },
        {"float": "(not (fp.eq a b))", "*": "(not (= a b))"},
        "a != b",
        mirrored="ne",
    ),
    # Identity of values, for equations between steps: NaN is itself, and -0.0 is not 0.0. No user writes it.
    Operator("same", "same(a, b)", _identical, {"float": "identical(a, b)", "*": "a == b"}, "(= a b)", None),
    _compare("lt", "gt", "<", "lt"),
    _compare("le", "ge", "<=", "leq"),
    _compare("gt", "lt", ">", "gt"),
    _compare("ge", "le", ">=", "geq"),
    Operator("mux", "mux(a, b, c)", _choice, "b if a else c", "(ite a b c)", "a ? b : c"),
)
