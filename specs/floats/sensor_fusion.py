# Two thermometers are fused: a weighted mean while they agree, the one nearer to the last value while they do not.
# A reading that is NaN or out of range is left out; without any reading the last value stays.
# Proved: the result is a number in range, of the sensor that is left, or held. Shown: a mean that is not between.
from streamcheck import *

LOW, HIGH, TOLERANCE = -55.0, 125.0, 2.0
a = extern("a", Float, [20.0, 20.5, 21.0, 300.0, 22.0], doc="the first thermometer", unit="°C")
b = extern("b", Float, [20.5, 20.5, 21.5, 21.5, 22.5], doc="the second thermometer", unit="°C")


def valid(reading: Stream) -> Stream:
    """In range; NaN is not."""
    return (reading >= LOW) & (reading <= HIGH)


def fuse(last: Stream) -> Stream:
    agree = abs(a - b) <= TOLERANCE
    nearer = mux(abs(a - last) <= abs(b - last), a, b)
    both = mux(agree, a * 0.5 + b * 0.5, nearer)
    return mux(valid(a), mux(valid(b), both, a), mux(valid(b), b, last))


fused = stream(Float, lambda last: fuse([20.0] ++ last))

spec = Spec("sensor_fusion")
spec.observer("fused", fused)
spec.prop("in_range", (fused >= LOW) & (fused <= HIGH))
spec.prop("of_the_valid_one", implies(valid(a) & ~valid(b), fused == a))
spec.prop("one_of_them_if_they_disagree", implies(valid(a) & valid(b) & (abs(a - b) > TOLERANCE), (fused == a) | (fused == b)))
spec.prop("held_without_readings", implies(~valid(a) & ~valid(b), fused == pre(20.0, fused)))

exact = Spec("sensor_fusion_exact")
agree = valid(a) & valid(b) & (abs(a - b) <= TOLERANCE)
exact.prop("a_mean_is_between", implies(agree, (a * 0.5 + b * 0.5 >= minimum(a, b)) & (a * 0.5 + b * 0.5 <= maximum(a, b))))
