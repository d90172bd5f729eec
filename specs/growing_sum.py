# A property that is inductive only with a lemma: y sums a counter and never falls below 1.
# From x = -2, y = 1 one step would violate y >= 1; the lemma x >= 0 excludes that state.
# With both properties k-induction succeeds at k = 1; with `--prop y_positive` it fails, and IC3 finds the lemma.
from streamcheck import *


@stream(Int)
def x():
    return [0] ++ (1 + x)


@stream(Int)
def y():
    return [1] ++ (x + y)


spec = Spec("growing_sum")
spec.observer("x", x)
spec.observer("y", y)
spec.prop("x_not_negative", x >= 0)
spec.prop("y_positive", y >= 1)
