# A property that is inductive only relative to a lemma: y adds up a counter, and never falls below 1.
# From x = -2, y = 1 one step would break it; x >= 0, proved first, rules that state out.
# Engines that find lemmas (IC3, templates) prove it; k-induction does not.
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
