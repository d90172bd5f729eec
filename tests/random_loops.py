"""Random specs with equal work: arrays, groups of streams made by a loop, folds over them, windows."""

from __future__ import annotations

import random
from functools import reduce

from streamcheck import *
from streamcheck.lang.flatten import flatten


@struct
class Sample:
    valid: Bool
    level: Int16
    ratio: Float


def random_loops(seed):
    """A flattened spec; equal for equal seeds."""
    rng = random.Random(seed)
    count = rng.randrange(3, 9)
    spec = Spec("loops")
    sources = Sources(rng, count)
    for k in range(rng.randrange(1, 3)):
        streams = sources.streams()
        name = f"out{k}"
        total = folded(rng, streams)
        if rng.randrange(2):
            spec.trigger(name, total != 0 if total is not None else True, [total, streams[0]])
        else:
            spec.observer(name, total)
        if rng.randrange(3) == 0:
            spec.observer(f"one{k}", rng.choice(streams))
    spec.trigger("always", sources.on, [sources.level])
    spec.observer("count", stream(Word8, lambda n: [0] + +(n + 1)))
    return flatten(spec)


class Sources:
    def __init__(self, rng, count):
        self.rng, self.count = rng, count
        self.on, self.level = extern("on", Bool), extern("level", Int16)
        self.flags = [extern(f"flag{i}", Bool) for i in range(count)]
        self.values = [extern(f"value{i}", Int16) for i in range(count)]
        self.cells = extern("cells", Array(Int16, count))
        self.samples = extern("samples", Array(Sample, count))
        self.numbers = extern("numbers", Array(Float, count))

    def streams(self):
        """Streams of Int16 or Float, one for each number."""
        ways = [self._levels, self._levels, self._state, self._state, self._pairs, self._floats, self._window]
        return self.rng.choice(ways)()

    def _operands(self):
        """Something of each number: an input, an element, a field."""
        kind = self.rng.randrange(4)
        if kind == 0:
            return list(self.values)
        if kind == 1:
            return [self.cells[i] for i in range(self.count)]
        if kind == 2:
            return [self.samples[i].level for i in range(self.count)]
        limits = [self.rng.randrange(-9, 9) for _ in range(self.count)]
        return [self.cells[i] + limits[i] for i in range(self.count)]

    def _conditions(self):
        kind = self.rng.randrange(3)
        if kind == 0:
            return list(self.flags)
        if kind == 1:
            return [self.samples[i].valid for i in range(self.count)]
        step = self.rng.choice([0, 3])
        return [x > self.level + step * i for i, x in enumerate(self._operands())]

    def _levels(self):
        a, b, c = self._operands(), self._operands(), self._conditions()
        shape = self.rng.randrange(3)
        if shape == 0:
            return [mux(z, x - y, y) for x, y, z in zip(a, b, c, strict=True)]
        if shape == 1:
            return [maximum(x, y) * 3 for x, y in zip(a, b, strict=True)]
        return [mux(z & self.on, x, self.level) for x, z in zip(a, c, strict=True)]

    def _state(self):
        a, c = self._operands(), self._conditions()
        start = self.rng.choice([0, 5])
        first = [start + (i if self.rng.randrange(2) else 0) for i in range(self.count)]
        limit = [self.rng.choice([50, 50 + 10 * i]) for i in range(self.count)]

        def age(i):
            return stream(Int16, lambda n: [first[i]] + +mux(c[i], 0, mux(n < limit[i], n + 1, minimum(n, a[i]))))

        ages = [age(i) for i in range(self.count)]
        return ages if self.rng.randrange(2) else [mux(c[i], 0, ages[i] + 1) for i in range(self.count)]

    def _pairs(self):
        """Two cells of each number that read each other."""
        c = self._conditions()
        result = []
        for i in range(self.count):
            held = stream(Int16, lambda h, i=i: [0] + +mux(c[i], self.values[i], h))
            lag = stream(Int16, lambda n, h=held: [1] + +(n * 2 + h))
            result.append(lag + held)
        return result

    def _floats(self):
        parts = [self.numbers[i] for i in range(self.count)]
        if self.rng.randrange(2):
            return [x * self.samples[i].ratio + 0.25 for i, x in enumerate(parts)]
        return parts

    def _window(self):
        n = self.rng.choice([4, 7, 11, 17, 33])
        late = [0] * n + +(self.values[0] if self.rng.randrange(2) else self.level)
        order = range(n) if self.rng.randrange(2) else range(n - 1, -1, -1)
        return [drop(i, late) for i in order]


def folded(rng, streams):
    """One value from all: a sum, an extreme, a count, a quantifier as a number, a pair of accumulators."""
    is_float = str(streams[0]._node.type) == "Float"
    kind = rng.randrange(6)
    if kind == 0:
        return reduce(lambda a, b: a + b, streams)
    if kind == 1:
        return reduce(maximum if rng.randrange(2) else minimum, streams)
    if kind == 2:
        return reduce(lambda n, x: n + mux(x > 5, Word8(1), 0), streams, Word8(0))
    if kind == 3:
        tests = [x < 100 for x in streams]
        return mux(reduce(lambda a, b: a & b, tests), Word8(1), mux(reduce(lambda a, b: a | b, tests), Word8(2), 0))
    if kind == 4 and not is_float:
        most, times = streams[0], Word8(1)
        for x in streams[1:]:
            times, most = mux(x == most, times + 1, times), mux(x > most, x, most)
        return most + unsafe_cast(Int16, times)
    least = streams[0]
    for i, x in enumerate(streams[1:], 1):
        least = mux(x < least, x + (0.0 if is_float else i), least)
    return least
