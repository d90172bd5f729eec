# A heater with hysteresis on a sensor that may fail: NaN and infinities are readings too.
# A comparison with NaN is false, so `~(t > HIGH)` and `t <= HIGH` differ: here a bad reading switches off.
# Proved: off above the upper limit, on below the lower one, no change between, off and a fault at a bad reading.
from streamcheck import *

LOW, HIGH = 18.5, 21.5
t = extern("t", Float, [17.0, 19.0, 22.0, 20.0, float("nan")], doc="room temperature", unit="°C")
good = (t >= -40.0) & (t <= 85.0)
was_on = stream(Bool, lambda on: [False] ++ (good & ((t < LOW) | (on & (t <= HIGH)))))
on = good & ((t < LOW) | (was_on & (t <= HIGH)))

spec = Spec("thermostat")
spec.trigger("heat", on, {"t": t})
spec.trigger("fault", ~good, {})
spec.prop("off_when_hot", implies(t > HIGH, ~on))
spec.prop("on_when_cold", implies(good & (t < LOW), on))
spec.prop("no_change_between", implies((t >= LOW) & (t <= HIGH), on == was_on))
spec.prop("off_at_a_bad_reading", implies(t != t, ~on))
spec.prop("heats_only_below_the_limit", implies(on, t <= HIGH))
