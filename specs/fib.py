# The Fibonacci sequence: a stream that refers to itself, now and one step later.
# `[1, 1] ++ s` lists the first two values; `drop(1, fib)` is fib without its first value.
# Run it: streamcheck run specs/fib.py            Show its two cells: streamcheck show specs/fib.py
from streamcheck import *


@stream(Word64)
def fib():
    return [1, 1] ++ (fib + drop(1, fib))


spec = Spec("fib")
spec.trigger("fibout", True, fib)
spec.observer("fib", fib)
