# The watchdog of a heater in a spacecraft: a thermistor, a duty limit, and a plausibility check of the sensor itself.
# Steps are 1 s. The heater is off when the mean of 8 readings is hot, on when it is cold, off for good if the sensor
# jumps or the heater has been on for 100 s. Proved: never on when hot, never on after a trip.
from streamcheck import *

orbit = [40 + 14 * n for n in range(24)] + [380 - 15 * n for n in range(24)] + [90 + 100 * (n % 2) for n in range(8)]
reading = extern("reading", Int16, orbit, doc="thermistor", unit="0.1 °C")

COLD, HOT, JUMP, LONGEST = 100, 300, 60, 100
window = [200] * 7 ++ reading
mean = statistics.mean(8, window)
before = pre(200, reading)
jumped = saturating.sub(maximum(reading, before), minimum(reading, before)) > JUMP
heat = signals.hysteresis(COLD, HOT, mean, init=True)  # true: hot enough
wanted = ~heat
too_long = signals.held_for(LONGEST, wanted)
tripped = ptltl.eventually_prev(signals.held_for(3, jumped) | too_long)
heater = wanted & ~tripped

spec = Spec("thermal_watchdog")
spec.trigger("heater_on", signals.rose(heater), {"mean": mean})
spec.trigger("heater_off", signals.fell(heater), {"mean": mean})
spec.trigger("trip", signals.rose(tripped), [reading, mean])
spec.observer("mean", mean)
spec.observer("heater", heater)
spec.observer("tripped", tripped)
spec.prop("never_on_when_hot", implies(mean > HOT, ~heater))
spec.prop("never_on_after_a_trip", implies(ptltl.eventually_prev(tripped), ~heater))
spec.prop("off_after_100_s", implies(signals.held_for(LONGEST, wanted), ~heater))
spec.prop("one_jump_is_no_trip", implies(signals.rose(tripped) & ~too_long, mtl.always_been(0, 2, jumped)))
spec.exists("can_heat", heater)
