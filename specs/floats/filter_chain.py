# Two low-pass filters in series: the bound of the second one rests on a bound of the first, which nobody states.
# Property directed reachability finds it among the numbers in the spec.
# Proved: the end of the chain stays in range. Shown: that the first filter may differ from the second by much.
from streamcheck import *

raw = extern("raw", Float, [50.0, 50.0, -80.0, 100.0], doc="the sensor", unit="bar")
first_stage = stream(Float, lambda y: [0.0] ++ (y * 0.9 + raw * 0.1))
second_stage = stream(Float, lambda y: [0.0] ++ (y * 0.5 + first_stage * 0.5))

spec = Spec("filter_chain")
spec.assume("range", (raw >= -100.0) & (raw <= 100.0))
spec.observer("smooth", second_stage)
spec.prop("bounded", (second_stage >= -101.0) & (second_stage <= 101.0))
spec.prop("no_nan", second_stage == second_stage)

lag = Spec("filter_chain_lag")
lag.assume("range", (raw >= -100.0) & (raw <= 100.0))
lag.prop("stages_agree", abs(first_stage - second_stage) <= 8.0)
