# The mean of the last three samples, in binary32, computed anew at each step: no error accumulates.
# A running sum (add the newest, take away the oldest) would keep every rounding error for ever.
# Proved: the mean stays in range, up to rounding, and an outlier counts a third. Shown: a running sum drifts away.
from streamcheck import *

x = extern("x", Float, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], doc="a load cell", unit="N")
window = [x]
for _ in range(2):
    window.append(pre(0.0, window[-1]))
mean = (window[0] + window[1] + window[2]) / 3.0

spec = Spec("moving_average")
spec.assume("range", (x >= -1000.0) & (x <= 1000.0))
spec.observer("mean", mean)
spec.prop("samples_in_range", (window[2] >= -1000.0) & (window[2] <= 1000.0))
spec.prop("bounded", (mean >= -1000.1) & (mean <= 1000.1))
spec.prop("of_zeros", implies((window[0] == 0.0) & (window[1] == 0.0) & (window[2] == 0.0), mean == 0.0))
spec.prop("one_outlier_counts_a_third", implies((window[1] == 0.0) & (window[2] == 0.0), abs(mean) <= 333.34))

total = stream(Float, lambda s: [0.0] ++ (s + x - window[2]))
drift = Spec("moving_average_drift")
drift.assume("range", (x >= -1000.0) & (x <= 1000.0))
drift.prop("the_running_sum_is_the_sum", total == window[1] + window[2])
