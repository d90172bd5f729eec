# Three altimeters: the value in the middle is used; one that differs by more than 50 ft for 5 steps is latched out.
# With one out, the mean of the others is used while they agree, else the last good value; with two out, there is none.
# Proved: a sensor out stays out, only a lasting difference puts it out, and the vote lies between two sensors.
from streamcheck import *

NAMES, LIMIT, LASTING = "abc", 50, 5
climb = [1000 + 3 * n for n in range(14)]
heights = {"a": climb, "b": [h + 200 * (h > 1010) for h in climb], "c": climb}
alts = [extern(f"alt_{n}", Int32, heights[n], doc="altitude", unit="ft") for n in NAMES]
valid = [extern(f"valid_{n}", Bool, [True] * 14, doc="self test passed") for n in NAMES]
maintenance = extern("maintenance", Bool, [False] * 14, doc="on ground, faults may be cleared")

mid = voting.mid_value(alts)
wrong = [~v | (abs(a - mid) > LIMIT) for a, v in zip(alts, valid, strict=True)]
failed = [signals.latch(signals.held_for(LASTING, w), maintenance & ~w) for w in wrong]
good = [~f for f in failed]
usable = voting.m_of_n(2, good)


def pair(i: int, j: int) -> Stream:
    return statistics.mean_now([alts[i], alts[j]])


voted = case([all_of(good), failed[0], failed[1], failed[2]], [mid, pair(1, 2), pair(0, 2), pair(0, 1), mid])
altitude = signals.hold(0, voted, usable)

spec = Spec("sensor_voting")
spec.assume("range", all_of([(a >= -2000) & (a <= 60_000) for a in alts]))
for name, f, a in zip(NAMES, failed, alts, strict=True):
    spec.trigger(f"fault_{name}", signals.rose(f), {"altitude": a, "voted": mid})
    spec.observer(f"failed_{name}", f)
spec.trigger("no_altitude", signals.fell(usable))
spec.observer("altitude", altitude)
spec.prop("mid_is_a_sensor", any_of([mid == a for a in alts]))
spec.prop("mid_is_between", (mid >= minimum(*alts)) & (mid <= maximum(*alts)))
spec.prop("out_stays_out", all_of([implies(pre(False, f) & ~maintenance, f) for f in failed]))
lasted = [mtl.always_been(0, LASTING - 1, w) for w in wrong]
spec.prop("no_hasty_fault", all_of([implies(signals.rose(f), w) for f, w in zip(failed, lasted, strict=True)]))
between = (mid >= minimum(*alts[:2])) & (mid <= maximum(*alts[:2]))
spec.prop("one_wild_sensor", implies(abs(alts[0] - alts[1]) <= LIMIT, between))
spec.exists("can_lose_all", ~usable)
