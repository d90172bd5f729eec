# A command follows its target by at most so much a step: actuators are spared, and passengers.
# In floats `y + STEP - y` is not STEP: that the slope is at most STEP is false, and a counterexample is shown.
# Proved: the range, the right way, never past the target, and a target within reach is met at once.
from streamcheck import *

STEP, RANGE = 0.1, 25.0
target = extern("target", Float, [0.0, 20.0, 20.0, -20.0], doc="commanded deflection", unit="°")
before = stream(Float, lambda y: [0.0] ++ mux(target > y + STEP, y + STEP, mux(target < y - STEP, y - STEP, target)))
command = mux(target > before + STEP, before + STEP, mux(target < before - STEP, before - STEP, target))

spec = Spec("rate_limiter")
spec.assume("range", (target >= -RANGE) & (target <= RANGE))
spec.observer("command", command)
spec.prop("in_range", (command >= -RANGE) & (command <= RANGE))
spec.prop("never_past_the_target", implies(before <= target, command <= target) & implies(before >= target, command >= target))
spec.prop("met_within_reach", implies(abs(target - before) <= 0.09, command == target))
spec.prop("right_way", implies(target >= before, command >= before))

exact = Spec("rate_limiter_exact")
exact.assume("range", (target >= -RANGE) & (target <= RANGE))
exact.prop("slope_exactly", abs(command - before) <= STEP)
