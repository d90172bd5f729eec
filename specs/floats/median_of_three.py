# Three redundant sensors, and their median by `minimum` and `maximum`; a reading that is not a number is replaced.
# The median tolerates one sensor that says anything.
# Proved: it is one of the readings, has one on each side, and a single faulty sensor cannot take it out of their range.
from streamcheck import *

a, b, c = (extern(name, Double, [1.0, 2.0, 50.0], unit="bar") for name in "abc")
FALLBACK = 0.0


def number(x: Stream) -> Stream:
    return mux(x == x, x, FALLBACK)


x, y, z = number(a), number(b), number(c)
median = maximum(minimum(x, y), minimum(maximum(x, y), z))

spec = Spec("median_of_three")
spec.observer("median", median)
spec.prop("no_nan", median == median)
spec.prop("one_of_them", (median == x) | (median == y) | (median == z))
spec.prop("one_below_one_above", (median >= minimum(x, minimum(y, z))) & (median <= maximum(x, maximum(y, z))))
spec.prop("tolerates_one", implies((abs(x) <= 10.0) & (abs(y) <= 10.0), abs(median) <= 10.0))
spec.prop("any_order", median == maximum(minimum(z, x), minimum(maximum(z, x), y)))
