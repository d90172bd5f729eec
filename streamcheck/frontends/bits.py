"""SMT-LIB's bit-vector operations on unsigned machine integers of any width.

The signed operations look at the same bits as signed numbers. Division by zero has SMT-LIB's value: all ones as an
unsigned quotient, the dividend as a remainder.
"""

from __future__ import annotations

from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import apply, choice
from streamcheck.core.term import Term, constant
from streamcheck.core.types import MOST_BITS, MachineType, machine
from streamcheck.frontends.operations import cast, compare, equal, word_quotient


def word_type(width: int) -> MachineType:
    """The type of bit-vectors of a width. TypeRule if there are none."""
    if not 1 <= width <= MOST_BITS:
        raise TypeRule(f"a bit-vector has 1 to {MOST_BITS} bits, not {width}")
    return machine(width, signed=False)


def word(width: int, value: int) -> Term:
    type = word_type(width)
    return constant(type, type.wrap(value))


def width(a: Term) -> int:
    assert isinstance(a.type, MachineType)
    return a.type.width


def as_signed(a: Term) -> Term:
    return cast(machine(width(a), signed=True), a)


def as_unsigned(a: Term) -> Term:
    return cast(machine(width(a), signed=False), a)


def concat(high: Term, low: Term) -> Term:
    whole = word_type(width(high) + width(low))
    shifted = apply("shl", cast(whole, high), constant(whole, width(low)))
    return apply("bitor", shifted, cast(whole, low))


def extract(a: Term, high: int, low: int) -> Term:
    shifted = apply("shr", a, constant(a.type, low)) if low else a
    return cast(word_type(high - low + 1), shifted)


def zero_extend(a: Term, by: int) -> Term:
    return cast(word_type(width(a) + by), a)


def sign_extend(a: Term, by: int) -> Term:
    return as_unsigned(cast(machine(word_type(width(a) + by).width, signed=True), as_signed(a)))


def rotate_left(a: Term, by: int) -> Term:
    by %= width(a)
    if not by:
        return a
    left = apply("shl", a, constant(a.type, by))
    return apply("bitor", left, apply("shr", a, constant(a.type, width(a) - by)))


def bit(truth: Term) -> Term:
    return choice(truth, word(1, 1), word(1, 0))


def binary(name: str, a: Term, b: Term) -> Term:
    """SMT-LIB's `bv…` of two operands, by the part of its name after `bv`; comparisons are Bool."""
    match name:
        case "add" | "sub" | "mul":
            return apply(name, a, b)
        case "and" | "or" | "xor":
            return apply(f"bit{name}", a, b)
        case "nand" | "nor" | "xnor":
            return apply("bitnot", apply({"nand": "bitand", "nor": "bitor", "xnor": "bitxor"}[name], a, b))
        case "udiv":
            return word_quotient(a, b)
        case "urem":
            return apply("rem", a, b)
        case "sdiv":
            return as_unsigned(word_quotient(as_signed(a), as_signed(b)))
        case "srem" | "smod":
            return as_unsigned(apply("rem" if name == "srem" else "mod", as_signed(a), as_signed(b)))
        case "shl":
            return apply("shl", a, b)
        case "lshr":
            return apply("shr", a, b)
        case "ashr":
            return as_unsigned(apply("shr", as_signed(a), b))
        case "comp":
            return bit(equal(a, b))
    if name[1:] in ("lt", "le", "gt", "ge") and name[0] in "us":
        return compare(name[1:], a, b) if name[0] == "u" else compare(name[1:], as_signed(a), as_signed(b))
    raise KeyError(name)
