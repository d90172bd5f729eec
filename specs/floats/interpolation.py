# A table of fuel flow with three breakpoints, interpolated linearly in binary32 and clamped at its ends.
# Between breakpoints the rounded slope may overshoot the next value by a bit; the last clamp removes that.
# Proved: in the table's range, exact at the breakpoints, clamped outside, never NaN for a number.
from streamcheck import *

POINTS = [(0.0, 10.0), (50.0, 42.0), (100.0, 120.0)]
lever = extern("lever", Float, [0.0, 25.0, 50.0, 75.0, 100.0, 130.0], doc="thrust lever", unit="%")


def segment(low: tuple[float, float], high: tuple[float, float]) -> Stream:
    """On the line through two breakpoints, but between them."""
    (x0, y0), (x1, y1) = low, high
    line = (lever - x0) * ((y1 - y0) / (x1 - x0)) + y0
    return mux(line > y1, y1, mux(line < y0, y0, line))


flow = mux(lever >= 100.0, 120.0, mux(lever >= 50.0, segment(POINTS[1], POINTS[2]), mux(lever >= 0.0, segment(POINTS[0], POINTS[1]), 10.0)))

spec = Spec("interpolation")
spec.observer("flow", flow)
spec.prop("in_range", (flow >= 10.0) & (flow <= 120.0))
spec.prop("exact_at_breakpoints", implies(lever == 50.0, flow == 42.0) & implies(lever == 0.0, flow == 10.0))
spec.prop("clamped", implies(lever > 100.0, flow == 120.0) & implies(lever < 0.0, flow == 10.0))
spec.prop("rises_between_halves", implies((lever >= 50.0) & (pre(0.0, lever) <= 50.0), flow >= pre(10.0, flow)))
