# The eleven definitions of the slides on structural abstraction: most of them do not matter for the property.
# Look at who depends on whom: streamcheck show specs/structural_abstraction.py --as graph | dot -Tpdf > graph.pdf
# A prover that starts from the property's own definitions brings back only the ones it needs.
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
