# A stream from its own past: two cells, and a trigger that fires at every step.
# First written for Copilot; tests/bench/monitors.py measures the C of both, and hand-written C.
# Turn it into C: streamcheck compile specs/monitors/fibonacci.py -o out
from streamcheck import *


@stream(Word64)
def fib():
    return [1, 1] ++ (fib + drop(1, fib))


spec = Spec("fib")
spec.trigger("fibout", True, fib)
