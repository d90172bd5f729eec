# k-induction needs k = 2 here: two cells swap 0 and 1 at every step, and each is always 0 or 1.
# One step of history is not enough, because x = 0, y = 2 leads to x = 2; two steps are.
# A pattern for properties that hold because of a short history.
from streamcheck import *


@stream(Int)
def x():
    return [1] ++ y


@stream(Int)
def y():
    return [0] ++ x


spec = Spec("swapping_pair")
spec.observer("x", x)
spec.observer("y", y)
spec.prop("ok", (x == 0) | (x == 1))
