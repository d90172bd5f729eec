# The eleven definitions of [Laurent, "Structural abstraction"]: each property depends on a few of them only.
# Dependencies: streamcheck show specs/structural_abstraction.py --as graph | dot -Tpdf > graph.pdf
# `--engine structural` keeps just the needed definitions: of b alone for the first, neither j nor k for the second.
from streamcheck import *

d = extern("d", Int, samples=lambda step: step % 5 - 2)
j = extern("j", Int, samples=lambda step: step * step)


@stream(Int)
def e():
    return [0] ++ g


@stream(Int)
def g():
    return [0] ++ e


k = -j
h = k + 1
i = k + 1
f = mux(h == i, Int(-1), 1)
c = e + f + 1
b = mux(d <= 0, 0, d)
a = (b == 0) | (c == 1)

spec = Spec("structural_abstraction")
spec.observer("b", b)
spec.observer("c", c)
spec.observer("a", a)
spec.prop("b_not_negative", b >= 0)
spec.prop("c_is_zero", c == 0)
