"""Random values of all types, their corners often."""

from fractions import Fraction

from random_specs import value

from streamcheck.core.types import ArrayType, StructType


def any_value(rng, type):
    match type:
        case ArrayType():
            return tuple(any_value(rng, type.element) for _ in range(type.length))
        case StructType():
            return tuple(any_value(rng, t) for _, t in type.fields)
    if type.kind == "integer":
        return rng.choice((rng.randint(-9, 9), rng.randint(-(1 << 70), 1 << 70)))
    if type.kind == "real":
        return Fraction(rng.randint(-99, 99), rng.choice((1, 2, 3, 8, 10, rng.randint(1, 1 << 40))))
    return value(rng, type)
