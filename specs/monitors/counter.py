# Two counters, one resetting the other: `reset` is true whenever the first has come to a multiple of 256.
# `counter` is a Python function that makes a stream; constant arguments are folded before C is generated.
# First written for Copilot; tests/bench/monitors.py measures the C of both, and hand-written C.
from streamcheck import *


def counter(inc, reset):
    return stream(Int32, lambda c: mux(reset, 0, mux(inc, pre(0, c) + 1, pre(0, c))))


ticks = counter(Bool(True), Bool(False))
bytecounter = counter(Bool(True), ticks % 256 == 0)

spec = Spec("counter")
spec.trigger("counter", True, bytecounter)
spec.prop("a_byte", implies((ticks >= 0) & (pre(0, ticks) % 256 == pre(0, bytecounter)), bytecounter < 256))
