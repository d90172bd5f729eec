# A PID controller in binary32 with a clamped integrator (anti-windup) and a saturated output.
# Clamping by comparisons lets NaN through; `maximum` and `minimum` of the language do not hide it either.
# Proved: output and integrator stay within their limits, whatever the error was; a large error saturates the output.
from streamcheck import *

KP, KI, KD, LIMIT, WINDUP = 2.0, 0.5, 0.1, 10.0, 4.0
target = extern("target", Float, [5.0] * 8, doc="commanded speed", unit="m/s")
speed = extern("speed", Float, [0.0, 1.0, 2.5, 3.5, 4.5, 5.0, 5.2, 5.1], doc="measured speed", unit="m/s")


def clamp(value: Stream, limit: float) -> Stream:
    """The value between -limit and limit."""
    return mux(value > limit, limit, mux(value < -limit, -limit, value))


error = target - speed
integral = stream(Float, lambda i: [0.0] ++ clamp(i + error * KI, WINDUP))
slope = error - pre(0.0, error)
wanted = error * KP + integral + slope * KD
command = clamp(wanted, LIMIT)

spec = Spec("pid_float")
spec.assume("speeds", (target >= 0.0) & (target <= 60.0) & (speed >= -5.0) & (speed <= 80.0))
spec.trigger("actuate", Bool(True), {"command": command})
spec.observer("integral", integral)
spec.prop("command_in_limits", (command >= -LIMIT) & (command <= LIMIT))
spec.prop("integral_in_limits", (integral >= -WINDUP) & (integral <= WINDUP))
spec.prop("no_nan", (command == command) & (integral == integral))
spec.prop("far_below_is_full_power", implies((error >= 20.0) & (pre(0.0, error) <= error), command == LIMIT))
spec.prop("no_error_no_change", implies((error == 0.0) & (pre(0.0, error) == 0.0), command == integral))
