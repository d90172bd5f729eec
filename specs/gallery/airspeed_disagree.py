# The airspeeds of two air data computers must agree: 2 s of more than 20 kt raise a flag, 5 s below 15 kt clear it.
# Steps are 200 ms, speeds integers of 0.1 kt. Below 80 kt nothing is compared: pitot tubes read badly there.
# Proved: the flag needs 2 s of difference, stays for 5 s at least, and a frozen sensor is noticed.
from streamcheck import *

steps = range(72)
left = extern("left", Word16, [1200 + 5 * n for n in steps], doc="air data computer 1", unit="0.1 kt")
iced = [1200 + 5 * n - (24 * min(n - 10, 10) if 10 <= n <= 40 else 0) for n in steps]
right = extern("right", Word16, iced, doc="air data computer 2", unit="0.1 kt")
in_flight = extern("in_flight", Bool, [True for n in steps])

SET, CLEAR, ALIVE, TWO, FIVE, FROZEN = 200, 150, 800, 10, 25, 15
higher, lower = maximum(left, right), minimum(left, right)
difference = higher - lower
compared = in_flight & (higher >= ALIVE)
apart = compared & (difference > SET)
together = ~compared | (difference < CLEAR)
disagree = signals.latch(signals.held_for(TWO, apart), signals.held_for(FIVE, together))


def frozen(speed: Stream) -> Stream:
    """The same value for 3 s in flight: no real airspeed is so calm."""
    return signals.held_for(FROZEN, compared & (speed == pre(0, speed)))


stuck = frozen(left) | frozen(right)

spec = Spec("airspeed_disagree")
spec.trigger("ias_disagree", signals.rose(disagree), {"left": left, "right": right})
spec.trigger("ias_agree", signals.fell(disagree))
spec.trigger("sensor_frozen", signals.rose(stuck), {"left": left, "right": right})
spec.observer("difference", difference)
spec.observer("disagree", disagree)
spec.prop("needs_two_seconds", implies(signals.rose(disagree), mtl.always_been(0, TWO - 1, apart)))
spec.prop("clears_on_agreement", implies(signals.fell(disagree), together & ~apart))
spec.prop("not_both", ~(apart & together))
spec.prop("difference_does_not_wrap", (lower <= higher) & (difference <= higher))
spec.prop("stays_while_apart", implies(pre(False, disagree) & apart, disagree))
spec.exists("can_disagree", disagree)
