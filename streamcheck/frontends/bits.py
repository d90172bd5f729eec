"""SMT-LIB's bit-vector operations on unsigned machine integers of any width.

The signed operations look at the same bits as signed numbers. Division by zero has SMT-LIB's value: all ones as an
unsigned quotient, the dividend as a remainder.
"""

from __future__ import annotations

from streamcheck.core.simplify import choice
from streamcheck.core.term import Term, constant
from streamcheck.core.types import MachineType, machine
from streamcheck.frontends.lustre.operators import compare, divide, equal, folded, folded_cast, without_zero


def word(width: int, value: int) -> Term:
    type = machine(width, signed=False)
    return constant(type, type.wrap(value))


def width(a: Term) -> int:
    assert isinstance(a.type, MachineType)
    return a.type.width


def signed(a: Term) -> Term:
    return folded_cast(machine(width(a), signed=True), a)


def unsigned(a: Term) -> Term:
    return folded_cast(machine(width(a), signed=False), a)


def concat(high: Term, low: Term) -> Term:
    whole = machine(width(high) + width(low), signed=False)
    shifted = folded("shl", folded_cast(whole, high), constant(whole, width(low)))
    return folded("bitor", shifted, folded_cast(whole, low))


def extract(a: Term, high: int, low: int) -> Term:
    shifted = folded("shr", a, constant(a.type, low)) if low else a
    return folded_cast(machine(high - low + 1, signed=False), shifted)


def zero_extend(a: Term, by: int) -> Term:
    return folded_cast(machine(width(a) + by, signed=False), a)


def sign_extend(a: Term, by: int) -> Term:
    return unsigned(folded_cast(machine(width(a) + by, signed=True), signed(a)))


def rotate_left(a: Term, by: int) -> Term:
    by %= width(a)
    if not by:
        return a
    left = folded("shl", a, constant(a.type, by))
    return folded("bitor", left, folded("shr", a, constant(a.type, width(a) - by)))


def bit(truth: Term) -> Term:
    return choice(truth, word(1, 1), word(1, 0))


def binary(name: str, a: Term, b: Term) -> Term:
    """SMT-LIB's `bv…` of two operands, by the part of its name after `bv`; comparisons are Bool."""
    match name:
        case "add" | "sub" | "mul":
            return folded(name, a, b)
        case "and" | "or" | "xor":
            return folded(f"bit{name}", a, b)
        case "nand" | "nor" | "xnor":
            return folded("bitnot", folded({"nand": "bitand", "nor": "bitor", "xnor": "bitxor"}[name], a, b))
        case "udiv":
            return divide("intdiv", a, b, without_zero)
        case "urem":
            return folded("rem", a, b)
        case "sdiv":
            return unsigned(divide("intdiv", signed(a), signed(b), without_zero))
        case "srem" | "smod":
            return unsigned(folded("rem" if name == "srem" else "mod", signed(a), signed(b)))
        case "shl":
            return folded("shl", a, b)
        case "lshr":
            return folded("shr", a, b)
        case "ashr":
            return unsigned(folded("shr", signed(a), b))
        case "comp":
            return bit(equal(a, b))
    if name[1:] in ("lt", "le", "gt", "ge") and name[0] in "us":
        return compare(name[1:], a, b) if name[0] == "u" else compare(name[1:], signed(a), signed(b))
    raise KeyError(name)
