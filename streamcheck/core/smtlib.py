"""Types, values and operations as SMT-LIB text."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterable
from fractions import Fraction

from streamcheck.core.operators import OPERATORS, fill
from streamcheck.core.term import Term
from streamcheck.core.types import EnumType, FloatType, MachineType, Type, Value


def sort(type: Type) -> str:
    match type:
        case MachineType(width=w):
            return f"(_ BitVec {w})"
        case EnumType():
            return "(_ BitVec 32)"
        case FloatType():
            return f"(_ FloatingPoint {type.exponent} {type.significand})"
    return {"bool": "Bool", "integer": "Int", "real": "Real"}[type.kind]


def literal(type: Type, value: Value) -> str:
    match type:
        case MachineType(width=w):
            return f"(_ bv{int(value) % (1 << w)} {w})"  # type: ignore[arg-type]
        case EnumType():
            return f"(_ bv{int(value) % (1 << 32)} 32)"  # type: ignore[arg-type]
        case FloatType():
            return _float(type, float(value))  # type: ignore[arg-type]
    if isinstance(value, bool):
        return "true" if value else "false"
    exact = Fraction(value)  # type: ignore[arg-type]
    if type.kind == "integer":
        return str(exact) if exact >= 0 else f"(- {-exact})"
    ratio = f"(/ {abs(exact.numerator)}.0 {exact.denominator}.0)"
    return ratio if exact >= 0 else f"(- {ratio})"


def _float(type: FloatType, value: float) -> str:
    if math.isnan(value):
        return f"(_ NaN {type.exponent} {type.significand})"
    packed = struct.pack(">f" if type.width == 32 else ">d", value)
    bits = "".join(f"{byte:08b}" for byte in packed)
    return f"(fp #b{bits[0]} #b{bits[1 : 1 + type.exponent]} #b{bits[1 + type.exponent :]})"


def application(node: Term, operands: Iterable[str]) -> str:
    """The node's operation on operands given as text."""
    form = OPERATORS[node.op].smt_form(node.signature)
    return fill(form, dict(zip("abc", operands, strict=False)))


RESERVED = frozenset(
    "true false and or not xor ite distinct let forall exists match par as assert Bool Int Real div mod abs select"
    " store to_real to_int is_int concat extract repeat RNE RNA RTP RTN RTZ fp pi exp sin cos tan _ push pop exit echo"
    " reset NUMERAL DECIMAL STRING BINARY HEXADECIMAL".split()
)


def symbols(names: Iterable[str]) -> dict[str, str]:
    """Different symbols for different names, none of them reserved in SMT-LIB or containing a `!` (left to writers)."""
    chosen: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        wish = re.sub(r"[|\\!]", "?", name) or "nameless"
        if wish in RESERVED or wish.startswith((".", "@", "bv", "fp.")):
            wish = f"_{wish}"
        while wish in taken:
            wish = f"_{wish}"
        taken.add(wish)
        chosen[name] = quote(wish)
    return chosen


def quote(name: str) -> str:
    """A name as an SMT-LIB symbol, in bars if necessary."""
    plain = re.fullmatch(r"[A-Za-z~!@$%^&*_+=<>.?/-][A-Za-z0-9~!@$%^&*_+=<>.?/-]*", name)
    return name if plain else f"|{name}|"
