# A counter that runs 4, 6, 8, 10, 0, 2, 4 … and stays below 11.
# Over Int no k-induction step succeeds (… 7, 9, 11 is not excluded); the reachable states repeat after six steps,
# which the completeness test of path compression detects.
from streamcheck import *


@stream(Int)
def x():
    return [4] ++ mux(x == 10, 0, x + 2)


spec = Spec("period_counter")
spec.observer("x", x)
spec.prop("ok", x < 11)
