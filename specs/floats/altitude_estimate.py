# A complementary filter: the altitude from the vertical speed, drawn to the barometer by a sixteenth at each step.
# The barometer is noisy, the vertical speed drifts; together they are better than each.
# Proved: the estimate stays in range for all time, though it is fed back, and is steady where both inputs are.
from streamcheck import *

DT, GAIN = 0.1, 0.0625
baro = extern("baro", Float, [1000.0 + 5.0 * n for n in range(10)], doc="barometric altitude", unit="m")
climb = extern("climb", Float, [50.0] * 10, doc="vertical speed", unit="m/s")


def correct(height: Stream) -> Stream:
    predicted = height + climb * DT
    return predicted + (baro - predicted) * GAIN


estimate = stream(Float, lambda height: [0.0] ++ correct(height))

spec = Spec("altitude_estimate")
spec.assume("barometer", (baro >= -500.0) & (baro <= 20000.0))
spec.assume("climb", (climb >= -100.0) & (climb <= 100.0))
spec.observer("estimate", estimate)
spec.prop("in_range", (estimate >= -800.0) & (estimate <= 20400.0))
spec.prop("no_nan", estimate == estimate)
spec.prop("steady", implies((baro == estimate) & (climb == 0.0), correct(estimate) == estimate))
