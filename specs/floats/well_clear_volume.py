# The well-clear volume of two aircraft in binary32: modified tau horizontally, the altitude vertically.
# tau = (D² - s²) / (s·v), the time to the distance D at the present closing speed, where s·v < 0.
# Proved: within D it is violated, far above it is not, tau is positive while closing. Shown: squares that overflow.
from streamcheck import *

DTHR, TTHR, ZTHR = 1219.2, 35.0, 137.16
sx, sy, sz = (extern(name, Float, [9000.0 - 150.0 * n for n in range(20)], unit="m") for name in ("sx", "sy", "sz"))
vx, vy = (extern(name, Float, [-150.0] * 20, unit="m/s") for name in ("vx", "vy"))

s2 = sx * sx + sy * sy
sv = sx * vx + sy * vy
tau = mux(sv < 0.0, (DTHR * DTHR - s2) / sv, -1.0)
horizontal = (s2 <= DTHR * DTHR) | ((sv < 0.0) & (tau <= TTHR))
violated = horizontal & (abs(sz) <= ZTHR)

spec = Spec("well_clear_volume")
spec.assume("positions", (abs(sx) <= 1.0e5) & (abs(sy) <= 1.0e5) & (abs(sz) <= 2.0e4))
spec.assume("speeds", (abs(vx) <= 700.0) & (abs(vy) <= 700.0))
spec.trigger("violation", violated, {"tau": tau})
spec.prop("inside_is_violated", implies((s2 <= DTHR * DTHR) & (abs(sz) <= ZTHR), violated))
spec.prop("far_above_is_clear", implies(abs(sz) > ZTHR, ~violated))
spec.prop("tau_is_not_negative", implies((sv < 0.0) & (s2 > DTHR * DTHR), tau >= 0.0))
spec.prop("diverging_and_apart_is_clear", implies((sv >= 0.0) & (s2 > DTHR * DTHR), ~violated))

overflow = Spec("well_clear_overflow")
overflow.prop("tau_is_not_negative", implies((sv < 0.0) & (s2 > DTHR * DTHR), tau >= 0.0))
