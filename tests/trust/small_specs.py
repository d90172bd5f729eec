"""Random specs with few states and inputs of few values, whose properties can be decided by looking at every state."""

import random
from enum import Enum

from streamcheck import *


class Gear(Enum):
    PARK = 0
    DRIVE = 4
    REVERSE = -1


@struct
class Reading:
    valid: Bool
    level: Word8
    both: Array(Bool, 2)


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
    for _ in range(rng.randint(0, 3)):
        conditions.append(further(rng, conditions, numbers))
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


def further(rng, conditions, numbers):
    """A condition by another part of the library, or of another type."""
    a, b, c = (rng.choice(conditions) for _ in range(3))
    n, m, k = rng.choice(numbers), rng.choice(numbers), rng.randint(0, 9)
    ways = (
        lambda: voting.majority([a, b, c]),
        lambda: voting.has_majority(n, [n, m, rng.choice(numbers)]),
        lambda: voting.m_of_n(2, [a, b, c]),
        lambda: voting.mid_value([n, m, rng.choice(numbers)]) <= k,
        lambda: statistics.sum(2, [k] + +n) <= k,
        lambda: statistics.max(2, [k] + +n) > statistics.min(3, [0, k] + +m),
        lambda: statistics.mean(2, [0] + +n) != k,
        lambda: statistics.count(3, [False, True] + +a) >= 2,
        lambda: clocks.clk1(3, 1) & a,
        lambda: clocks.clk(2) | a,
        lambda: ltl.late(2, lambda p, q: ltl.until(2, p, q), a, b),
        lambda: ltl.late(1, lambda p: ltl.always(1, p), a),
        lambda: n**2 >= m**3,
        lambda: of_floats(rng, a, b),
        lambda: of_structs(rng, a, b),
    )
    return rng.choice(ways)()


def of_floats(rng, a, b):
    step, most = rng.choice((0.5, 0.75, 1.25)), rng.choice((1.5, 2.0, 3.0))
    f = stream(Float, lambda f: [0.0] + +mux(a & (f < most), f + step, mux(b, -f, f)))
    g = cast(Double, f)
    claims = (sqrt(f) <= most, f * f > 1.0, abs(f) <= most + 1.0, minimum(f, 1.0) >= 0.0, unsafe_cast(Int8, f) == 1)
    return rng.choice((*claims, g / 3.0 < 0.5))


def of_structs(rng, a, b):
    after = lambda r: Reading(valid=b, level=mux(r.level >= 3, 0, r.level + 1), both=r.both.set(1, r.both[0]).set(0, a))
    first = {"valid": False, "level": 0, "both": [True, False]}
    r = stream(Reading, lambda r: [first] + +mux(a, after(r), r))
    return rng.choice((r.valid, r.level == 2, r.both[0] & ~r.both[1], r.both[cast(Word8, b)], r == first))


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
