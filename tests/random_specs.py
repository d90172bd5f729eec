"""Random equations, of every type that compiles, and random inputs, extreme values favoured: the same for a seed."""

from __future__ import annotations

import random
import struct

from operator_cases import FLOAT_CORNERS, INTERNAL, MODE

from streamcheck.core.floats import f32
from streamcheck.core.location import Location
from streamcheck.core.operators import OPERATORS, TypeRule
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import (
    BOOL,
    SCALARS,
    ArrayType,
    EnumType,
    FloatType,
    MachineType,
    StructType,
    array_of,
    struct_of,
)
from streamcheck.problem.specification import Cell, Input, Named, Specification, Trigger

HERE = Location("random", 1)
MACHINE = [t for t in SCALARS.values() if isinstance(t, MachineType)]
FLOATS = [SCALARS["Float"], SCALARS["Double"]]
POINT = struct_of("Point", (("x", SCALARS["Float"]), ("at", SCALARS["Int16"]), ("ok", BOOL)))
NEST = struct_of("Nest", (("p", POINT), ("cells", array_of(SCALARS["Word16"], 3))))
COMPOSITE = [array_of(SCALARS["Word8"], 4), array_of(SCALARS["Double"], 2), array_of(POINT, 2), POINT, NEST]
COMPOSITE += [array_of(array_of(SCALARS["Int32"], 2), 3)]
NOT_EXACT = {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "atan2", "pow"}


def value(rng, type):
    match type:
        case MachineType():
            if rng.random() < 0.6:
                near = [0, 1, 2, 3, 7, 8, type.width - 1, type.width, type.low, type.low + 1, type.high, type.high - 1]
                return rng.choice([v for v in [*near, -1, -2, -7] if type.low <= v <= type.high])
            return rng.randint(type.low, type.high)
        case FloatType():
            if rng.random() < 0.6:
                v = rng.choice(FLOAT_CORNERS)
            elif rng.random() < 0.5:
                v = rng.uniform(-300, 300)
            else:
                v = struct.unpack("<d", rng.randbytes(8))[0]
            return f32(v) if type.width == 32 else v
        case ArrayType():
            return tuple(value(rng, type.element) for _ in range(type.length))
        case StructType():
            return tuple(value(rng, t) for _, t in type.fields)
        case EnumType():
            return rng.choice(type.codes)
    return rng.random() < 0.5


def random_equations(seed):
    rng = random.Random(seed)
    types = [BOOL, *rng.sample(MACHINE, 3), rng.choice(FLOATS), *rng.sample([*COMPOSITE, MODE], 2)]
    if rng.random() < 0.4:
        types = [t for t in types if not isinstance(t, ArrayType | StructType)]
    inputs = [Input(f"in{i}", rng.choice(types), True, "", "", HERE) for i in range(rng.randint(1, 4))]
    cells = [variable(f"s{i}", rng.choice(types)) for i in range(rng.randint(1, 5))]
    chain_types = [rng.choice(types)] * 2 if rng.random() < 0.5 else rng.choices(types, k=2)
    chains = [chain for i, type in enumerate(chain_types) if (chain := delay(rng, type, i))]
    pool = [i.var for i in inputs] + cells
    for chain in chains:
        pool += [c for c in chain if rng.random() < 0.3] + chain[:1]
    pool += [constant(t, value(rng, t)) for t in types for _ in range(2)]
    grow(rng, pool, rng.randint(4, 40))
    of_type = lambda t: rng.choice([n for n in pool if n.type is t][-4:])
    nexts = [Cell(c.payload, constant(c.type, value(rng, c.type)), of_type(c.type), HERE) for c in cells]
    for chain in chains:
        type = chain[0].type
        after = [*chain[1:], of_type(type)]
        first = value(rng, type)
        nexts += [
            Cell(c.payload, constant(type, first if seed % 2 else value(rng, type)), n, HERE)
            for c, n in zip(chain, after, strict=True)
        ]
    if len(chains) == 2 and chains[0][0].type is chains[1][0].type:  # a cell that reads both
        kept = variable("kept", chains[0][0].type)
        either = term("mux", of_type(BOOL), chains[0][0], chains[1][0])
        nexts.append(Cell("kept", constant(kept.type, value(rng, kept.type)), either, HERE))
        pool.append(kept)
    guards = [n for n in pool if n.type is BOOL][-4:]
    triggers = tuple(
        Trigger(f"call{i}", rng.choice(guards), tuple((None, n) for n in rng.sample(pool, rng.randint(0, 3))), HERE)
        for i in range(rng.randint(1, 3))
    )
    observers = tuple(Named(f"shown{i}", n, HERE) for i, n in enumerate(rng.sample(pool[-8:], 2)))
    wires = tuple(Named(f"wire{i}", n, HERE) for i, n in enumerate(dict.fromkeys(pool[-3:])) if n.args)
    return Specification(f"random_{seed}", tuple(inputs), (), tuple(nexts), wires, triggers, observers, (), (), HERE)


def delay(rng, type, number):
    """The cells of a delay, oldest first; a long one becomes a ring."""
    return [variable(f"delay{number}_{i}", type) for i in range(rng.choice([0, 2, 3, 5, 9, 17]))]


ROWS = [name for name in OPERATORS if name not in INTERNAL | set(NOT_EXACT)]


def grow(rng, pool, count):
    for _ in range(count * 30):
        if count == 0:
            return
        made = applied(rng, pool)
        if made is not None and made not in pool:
            pool.append(made)
            count -= 1


def applied(rng, pool):
    """One operator on nodes of the pool, where the types fit."""
    name = rng.choice(ROWS)
    a = rng.choice(pool[-12:] if rng.random() < 0.7 else pool)
    alike = [n for n in pool if n.type is a.type]
    try:
        if name == "cast":
            return term("cast", a, payload=rng.choice([*MACHINE, *FLOATS, BOOL]))
        if name in ("not", "neg", "abs", "bitnot", "sqrt", "ceil", "floor"):
            return term(name, a)
        if name == "mux":
            return term("mux", rng.choice([n for n in pool if n.type is BOOL]), a, rng.choice(alike))
        if name in ("shl", "shr"):
            return term(name, a, rng.choice([n for n in pool if n.type.is_integer]))
        if name in ("array", "struct"):
            return composed(rng, pool, rng.choice(COMPOSITE))
        if name in ("index", "update"):
            a = rng.choice([n for n in pool if isinstance(n.type, ArrayType)])
            at = rng.choice([n for n in pool if n.type.is_integer])
            if name == "index":
                return term("index", a, at)
            return term("update", a, at, rng.choice([n for n in pool if n.type is a.type.element]))
        if name in ("field", "with_field"):
            a = rng.choice([n for n in pool if isinstance(n.type, StructType)])
            at = rng.randrange(len(a.type.fields))
            if name == "field":
                return term("field", a, payload=at)
            new = rng.choice([n for n in pool if n.type is a.type.fields[at][1]])
            return term("with_field", a, new, payload=at)
        return term(name, a, rng.choice(alike))
    except (TypeRule, IndexError, AssertionError):
        return None


def composed(rng, pool, type):
    if isinstance(type, ArrayType):
        return term(
            "array",
            *(rng.choice([n for n in pool if n.type is type.element]) for _ in range(type.length)),
            payload=type,
        )
    return term("struct", *(rng.choice([n for n in pool if n.type is t]) for _, t in type.fields), payload=type)


def random_rows(seed, equations, count):
    rng = random.Random(seed)
    return [tuple(value(rng, i.type) for i in equations.inputs) for _ in range(count)]
