"""Every operator of the table at every combination of types its rule admits, with values that are apt to break it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from hypothesis import strategies as st

from streamcheck.core.floats import f32
from streamcheck.core.operators import OPERATORS, TypeRule
from streamcheck.core.types import (
    SCALARS,
    ArrayType,
    EnumType,
    FloatType,
    MachineType,
    StructType,
    array_of,
    enum_of,
    struct_of,
)

INTERNAL = frozenset(("same", "float_of_bits"))  # specs have no form for these
MODE = enum_of("Mode", (("IDLE", 0), ("RUN", 3), ("FAULT", -1)))
PAIR = struct_of("Pair", (("x", SCALARS["Float"]), ("y", SCALARS["Int8"])))
ARRAYS = [array_of(SCALARS["Word8"], 3), array_of(SCALARS["Double"], 2), array_of(PAIR, 2)]
SIMPLE = [*SCALARS.values(), MODE]


def cases():
    """(operator, argument types, payload) for every use the rules admit."""
    for name, row in OPERATORS.items():
        for args, payload in _candidates(name):
            try:
                row.rule(args, payload)
            except TypeRule:
                continue
            yield name, args, payload


def _candidates(name):
    if name == "cast":
        return (((a,), b) for a in SIMPLE for b in SCALARS.values())
    if name in ("shl", "shr"):
        return ((pair, None) for pair in itertools.product(SCALARS.values(), repeat=2))
    if name == "mux":
        return (((SCALARS["Bool"], t, t), None) for t in [*SIMPLE, *ARRAYS, PAIR])
    if name == "array":
        return (((a.element,) * a.length, a) for a in ARRAYS)
    if name == "struct":
        return ((tuple(t for _, t in PAIR.fields), PAIR) for _ in range(1))
    if name == "index":
        return (((a, i), None) for a in ARRAYS for i in SCALARS.values())
    if name == "update":
        return (((a, i, a.element), None) for a in ARRAYS for i in SCALARS.values())
    if name == "field":
        return (((PAIR,), i) for i in (0, 1))
    if name == "with_field":
        return (((PAIR, t), i) for i, (_, t) in enumerate(PAIR.fields))
    arity = {"not", "neg", "abs", "bitnot"} | {n for n, r in OPERATORS.items() if r.shown == f"{n}(a)"}
    count = 1 if name in arity else 2
    return (((t,) * count, None) for t in [*SIMPLE, *ARRAYS, PAIR])


def values(type):
    """Values of a type, its corners often."""
    match type:
        case MachineType():
            near = {0, 1, 2, 7, 8, type.width - 1, type.width, type.low, type.low + 1, type.high, type.high - 1, -1}
            corners = [v for v in near if type.low <= v <= type.high]
            return st.one_of(st.sampled_from(sorted(corners)), st.integers(type.low, type.high))
        case FloatType(width=32):
            return st.one_of(st.sampled_from([f32(v) for v in FLOAT_CORNERS]), st.floats(width=32))
        case FloatType():
            return st.one_of(st.sampled_from(FLOAT_CORNERS), st.floats())
        case ArrayType():
            return st.tuples(*[values(type.element)] * type.length)
        case StructType():
            return st.tuples(*(values(t) for _, t in type.fields))
        case EnumType():
            return st.sampled_from(type.codes)
    return {
        "bool": st.booleans(),
        "integer": st.one_of(st.integers(-9, 9), st.integers(-(1 << 70), 1 << 70)),
        "real": st.one_of(st.sampled_from([Fraction(0), Fraction(-7, 2), Fraction(5, 2)]), st.fractions()),
    }[type.kind]


FLOAT_CORNERS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 127.0, 127.5, 128.0, -128.5, -129.0, 255.5, 256.0, 1e10, -1e10,
    2.0**31, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 3.4028234663852886e38, 1.401298464324817e-45, 5e-324,
    1.7976931348623157e308, math.inf, -math.inf, math.nan,
]  # fmt: skip


def title(case):
    name, args, payload = case
    return f"{name}({', '.join(map(str, args))})" + ("" if payload is None else f" {payload}")
