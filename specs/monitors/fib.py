# A stream from its own past: two cells, and a trigger that fires at every step.
from streamcheck import *


@stream(Word64)
def fib():
    return [1, 1] ++ (fib + drop(1, fib))


spec = Spec("fib")
spec.trigger("fibout", True, fib)
