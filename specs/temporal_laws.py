# Laws of metric temporal logic by steps, each proved for all runs.
# The operators keep counters, so a law compares two ways of counting: an operator is unfolded by one step, follows
# from two others, or is the operator by a clock that counts the steps.
from streamcheck import *

p = extern("p", Bool)
q = extern("q", Bool)
clock = stream(Word8, lambda t: [0] ++ (t + 1))

spec = Spec("temporal_laws")
spec.prop("once_is_not_always_not", mtl.eventually_prev(0, 5, q) == ~mtl.always_been(0, 5, ~q))
spec.prop("trigger_is_the_dual", mtl.trigger(0, 3, p, q) == ~mtl.since(0, 3, ~p, ~q))
either = mtl.eventually_prev(0, 4, p) | mtl.eventually_prev(0, 4, q)
spec.prop("once_of_either", mtl.eventually_prev(0, 4, p | q) == either)
spec.prop("unfolded", mtl.since(0, 4, p, q) == (q | p & pre(False, mtl.since(0, 3, p, q))))
spec.prop("later", mtl.since(1, 4, p, q) == (p & pre(False, mtl.since(0, 3, p, q))))
spec.prop("joined", mtl.eventually_prev(0, 5, q) == (mtl.eventually_prev(0, 2, q) | mtl.eventually_prev(3, 5, q)))
spec.prop("nested", mtl.eventually_prev(1, 3, mtl.eventually_prev(1, 2, q)) == mtl.eventually_prev(2, 5, q))
spec.prop("wider", implies(mtl.since(1, 3, p, q), mtl.since(0, 6, p, q)))
spec.prop("unbounded", implies(mtl.since(2, 6, p, q), ptltl.since(p, q)))
spec.prop("matching", mtl.matching_since(0, 3, p, q) == mtl.since(0, 3, p, p & q))
spec.prop("by_a_clock", mtl.since(0, 6, p, q) == mtl.since(0, 6, clock, 1, p, q))
spec.prop("future_is_past", mtl.eventually_prev(0, 3, q) == mtl.eventually(0, 3, [False, False, False] ++ q))
