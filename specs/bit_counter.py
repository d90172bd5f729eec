# Python as the macro language: a binary counter of n bits, built by a recursive function, fastest bit first.
# Each bit flips if all lower ones are set; the name `bit` in a body means the stream being defined.
# Loops and functions make any number of streams: wires in hardware, a counter in a monitor.
from streamcheck import *


def bit_counter(n):
    if n == 0:
        return []
    low = bit_counter(n - 1)

    @stream(Bool)
    def bit():
        return [False] ++ mux(all_of(low), ~bit, bit)

    return [*low, bit]


s = bit_counter(4)

spec = Spec("bit_counter")
for i, bit in enumerate(s):
    spec.observer(f"s{i}", bit)
spec.prop("fastest_alternates", then(True, s[0] != pre(False, s[0])))
