# A first-order low-pass filter in binary32: y' = y + (x - y) / 8.
# What is proved of it is proved of the rounded arithmetic that runs, not of real numbers.
# Proved: the output stays in the input's range, up to a rounding error; it is never NaN; it never jumps.
from streamcheck import *

RANGE, STEP = 100.0, 25.1
raw = extern("raw", Float, [20.0, 20.5, 80.0, 21.0, 20.0, -100.0, 100.0], doc="the sensor", unit="°C")
filtered = stream(Float, lambda y: [0.0] ++ (y + (raw - y) * 0.125))

spec = Spec("low_pass")
spec.assume("range", (raw >= -RANGE) & (raw <= RANGE))
spec.observer("filtered", filtered)
spec.prop("bounded", (filtered >= -100.001) & (filtered <= 100.001))
spec.prop("no_nan", filtered == filtered)
spec.prop("no_jump", abs(filtered - pre(0.0, filtered)) <= STEP)
spec.prop("rises_to_a_larger_input", implies(raw >= filtered, filtered + (raw - filtered) * 0.125 >= filtered))
