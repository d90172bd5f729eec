# A bit of everything: floats, a struct, an array, delays, and temporal logic over the past with and without a clock.
# Bounded operators keep ages, not a cell for each tick, so that the state stays at a few bytes.
# First written for Copilot; tests/bench/monitors.py measures the C of both.
from streamcheck import *


@struct
class vec:
    vx: Float
    vy: Float


alt = extern("alt", Double, doc="height", unit="m")
gear = extern("gear", Bool, doc="gear is down")
pos = extern("pos", vec)
bat = extern("bat", Array(Word16, 4), doc="cells of the battery")

low = alt < 50.0
clock = stream(Int64, lambda t: [0] ++ (t + 1))
hist = [False, False, False] ++ low
settled = ptltl.since(gear, low) | ptltl.always_been(alt > 10.0) & ptltl.eventually_prev(low) & ptltl.previous(gear)

spec = Spec("mixed")
spec.trigger("low_no_gear", low & ~gear, [alt, gear])
spec.trigger("ptltl", settled, bat[2])
spec.trigger("mtl_since", mtl.since(0, 5, clock, 1, gear, low), clock)
spec.trigger("mtl_ev", mtl.eventually_prev(1, 4, clock, 1, low))
spec.trigger("ltl", ltl.always(2, hist))
spec.trigger("posfast", pos.vx * pos.vx + pos.vy * pos.vy > 4.0, pos)
spec.trigger("batt", (bat[0] & 0x00FF) > 3, [bat, bat[1] << Word8(2)])
spec.observer("low", low)
