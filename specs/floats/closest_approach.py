# Two aircraft in the plane: the time to their closest approach, t = -(s·v) / (v·v), in binary32.
# The division is guarded: with no relative speed there is no such time, and it is 0.
# Proved: the time is never negative or NaN and is 0 unless they approach; nearness alerts, and nothing else but the time.
from streamcheck import *

DISTANCE, SECONDS = 1200.0, 35.0
sx, sy = (extern(name, Float, [9000.0 - 150.0 * n for n in range(20)], unit="m") for name in ("sx", "sy"))
vx, vy = (extern(name, Float, [-150.0] * 20, unit="m/s") for name in ("vx", "vy"))


def dot(a: tuple[Stream, Stream], b: tuple[Stream, Stream]) -> Stream:
    return a[0] * b[0] + a[1] * b[1]


def time_to_closest(s: tuple[Stream, Stream], v: tuple[Stream, Stream]) -> Stream:
    """The time until they are closest; 0 if that has been."""
    approach = dot(s, v)
    return mux((dot(v, v) > 0.0) & (approach < 0.0), -approach / dot(v, v), 0.0)


def alert(s: tuple[Stream, Stream], v: tuple[Stream, Stream]) -> Stream:
    """They are near, or will be within the time."""
    near = dot(s, s) <= DISTANCE * DISTANCE
    return near | ((dot(s, v) < 0.0) & (time_to_closest(s, v) <= SECONDS))


s, v = (sx, sy), (vx, vy)
t = time_to_closest(s, v)
spec = Spec("closest_approach")
spec.assume("positions", (abs(sx) <= 1.0e5) & (abs(sy) <= 1.0e5))
spec.assume("speeds", (abs(vx) <= 700.0) & (abs(vy) <= 700.0))
spec.trigger("traffic", alert(s, v), {"t": t})
spec.prop("never_negative", t >= 0.0)
spec.prop("none_if_diverging", implies(dot(s, v) >= 0.0, t == 0.0))
spec.prop("near_alerts", implies(dot(s, s) <= DISTANCE * DISTANCE, alert(s, v)))
spec.prop("only_now_or_soon", implies(alert(s, v), (dot(s, s) <= DISTANCE * DISTANCE) | (t <= SECONDS)))
