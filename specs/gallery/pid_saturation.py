# A PI controller with limits: output and integral saturate, and the integral stops while the output does (anti-windup).
# Fixed point: 8 fraction bits in 32-bit integers. Every operation that could overflow is proved not to, or saturates.
# Proved: the output stays within its limits and its slope, and the integral cannot wind up.
from streamcheck import *

steps = range(60)
setpoint = extern("setpoint", Int16, [1000 if n < 40 else 200 for n in steps], doc="wanted speed", unit="rpm")
speeds = [25 * n if n < 40 else 1000 - 30 * (n - 40) for n in steps]
measured = extern("measured", Int16, speeds, doc="actual speed", unit="rpm")
enable = extern("enable", Bool, [n > 0 for n in steps])

KP, KI, LIMIT, SLOPE, WINDUP = 96, 5, 1000, 100, 200_000  # gains in 1/256
error = checked.sub(cast(Int32, setpoint), cast(Int32, measured))


def clamp(low: int, high: int, s: Stream) -> Stream:
    return maximum(low, minimum(high, s))


@stream(Int32)
def integral():
    held = pre(0, integral)
    winding = pre(False, saturated) & ((error > 0) == (held > 0))
    return mux(~enable, 0, mux(winding, held, clamp(-WINDUP, WINDUP, checked.add(held, checked.mul(error, KI)))))


wanted = checked.add(checked.mul(error, KP), integral) >> Word8(8)
saturated = (wanted > LIMIT) | (wanted < -LIMIT)
output = signals.rate_limit(0, SLOPE, SLOPE, mux(enable, clamp(-LIMIT, LIMIT, wanted), 0))

spec = Spec("pid_saturation")
spec.trigger("drive", True, {"output": checked.cast(Int16, output)})
spec.trigger("windup", signals.rose(signals.held_for(20, saturated)), {"error": error})
spec.observer("integral", integral)
spec.observer("output", output)
spec.prop("within_limits", (output >= -LIMIT) & (output <= LIMIT))
spec.prop("within_slope", abs(output - pre(0, output)) <= SLOPE)
spec.prop("no_windup", (integral >= -WINDUP) & (integral <= WINDUP))
spec.prop("off_resets", implies(~enable, integral == 0))
spec.prop("off_runs_down", implies(~enable & (pre(0, output) > SLOPE), output < pre(0, output)))
