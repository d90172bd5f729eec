"""Random specs with few states and inputs of few values, whose properties can be decided by looking at every state."""

import random
from enum import Enum

from streamcheck import *


class Gear(Enum):
    PARK = 0
    DRIVE = 4
    REVERSE = -1


GEARS = EnumOf(Gear)
NUMBERS = (Word8, Int8, Word16, Int32, Int)


def small_spec(seed):
    """A spec, and the values of each input."""
    rng = random.Random(seed)
    flags = [extern(f"b{i}", Bool) for i in range(rng.randint(1, 3))]
    gear = extern("gear", GEARS)
    values = {f"b{i}": (False, True) for i in range(len(flags))}
    if rng.random() < 0.4:
        values["gear"] = (0, 4, -1)
        flags += [gear == rng.choice(list(Gear)), gear != rng.choice(list(Gear))]
    number = rng.choice(NUMBERS)
    most = rng.choice((2, 3, 5, 7, 12))
    conditions = list(flags)
    numbers = []
    for _ in range(rng.randint(1, 3)):
        numbers.append(cell(rng, number, most, conditions))
        conditions += [numbers[-1] >= rng.randint(0, most), numbers[-1] == rng.randint(0, most)]
    if rng.random() < 0.5:
        past = rng.choice((ptltl.always_been, ptltl.eventually_prev, ptltl.previous))
        conditions.append(past(rng.choice(conditions)))
    if rng.random() < 0.4:
        conditions.append(ptltl.since(rng.choice(conditions), rng.choice(conditions)))
    if rng.random() < 0.4:
        conditions.append(mtl.eventually_prev(0, rng.randint(1, 4), rng.choice(conditions)))
    if rng.random() < 0.4:
        kept = stream(Array(number, 2), lambda s, first=numbers[0]: [[0, 0]] + +s.set(cast(Word8, flags[0]), first))
        numbers.append(kept[0] + kept[1])
    spec = Spec(f"small_{seed}")
    for i in range(rng.randint(1, 4)):
        claim = property_of(rng, conditions, numbers, most)
        (spec.exists if rng.random() < 0.2 else spec.prop)(f"p{i}", claim)
    if rng.random() < 0.3:
        spec.assume("some", rng.choice(flags) | rng.choice(conditions))
    return spec, values


def cell(rng, number, most, conditions):
    """A number that moves within 0 and `most`, or wraps around a type of eight bits."""
    test, other = rng.choice(conditions), rng.choice(conditions)
    step = rng.randint(1, 3)
    moves = {
        "saturates": lambda n: mux(test & (n + step <= most), n + step, mux(other, 0, n)),
        "goes round": lambda n: mux(test, (n + step) % (most + 1), n),
        "swings": lambda n: mux(test & (n < most), n + 1, mux(other & (n > 0), n - 1, n)),
        "halves": lambda n: mux(test, n // 2, mux(other, most, n)),
    }
    after = moves[rng.choice(list(moves))]
    start = rng.randint(0, most)
    return stream(number, lambda n: [start] + +after(n))


def property_of(rng, conditions, numbers, most):
    a, b = rng.choice(conditions), rng.choice(conditions)
    n, m = rng.choice(numbers), rng.choice(numbers)
    return rng.choice(
        (
            implies(a, b),
            n <= rng.randint(0, most),
            n * m != rng.randint(0, min(most * most, 127)),
            implies(a & b, n >= m),
            n + m <= 2 * most - rng.randint(0, 2),
            (n % 2 == 0) | a,
            ~(a & ~b & (n == rng.randint(0, most))),
            quot(n - m, 2) <= most // 2,
        )
    )
