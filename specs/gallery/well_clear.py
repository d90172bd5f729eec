# Two aircraft stay well clear: the time to a distance, horizontally and vertically, with levels corrective and warning.
# Range and rates come from a transponder, in integers; "below DMOD within T" needs no division: r - DMOD <= T * rate.
# Proved: a warning is a corrective alert, a loss always alerts, nothing overflows. Shown: a loss without warning.
from streamcheck import *

steps = range(60)
distance = extern("distance", Int32, [9000 - 150 * n for n in steps], doc="slant range of the intruder", unit="m")
closing = extern("closing", Int32, [150 for n in steps], doc="how fast the range shrinks", unit="m/s")
height = extern("height", Int32, [400 - 8 * n for n in steps], doc="of the intruder above the ownship", unit="m")
climb = extern("climb", Int32, [-8 for n in steps], doc="how fast the height grows", unit="m/s")

DMOD, ZTHR, CORRECTIVE, WARNING = 1220, 140, 55, 25
apart = abs(height)
nearing = mux(height >= 0, checked.sub(0, climb), climb)  # how fast `apart` shrinks


def alert(seconds: int) -> Stream:
    """Both distances are below their thresholds, or will be within so many seconds."""
    soon = checked.sub(distance, DMOD) <= checked.mul(maximum(closing, 0), seconds)
    level = checked.sub(apart, ZTHR) <= checked.mul(maximum(nearing, 0), seconds)
    return soon & level


lost, warning, corrective = alert(0), alert(WARNING), alert(CORRECTIVE)
shown = mtl.eventually_prev(0, 4, warning)  # five steps at least, so that the light does not flicker

spec = Spec("well_clear")
spec.assume("distance", (distance >= 0) & (distance <= 100_000) & (height >= -20_000) & (height <= 20_000))
spec.assume("rates", (closing >= -700) & (closing <= 700) & (climb >= -200) & (climb <= 200))
spec.trigger("corrective_alert", signals.rose(corrective), {"distance": distance, "height": height})
spec.trigger("warning_alert", signals.rose(shown), {"distance": distance, "height": height})
spec.trigger("lost_well_clear", signals.rose(lost), [distance, height])
spec.observer("corrective", corrective)
spec.observer("warning", shown)
spec.observer("lost", lost)
spec.prop("warning_is_corrective", implies(warning, corrective))
spec.prop("loss_alerts", implies(lost, warning & shown))
spec.prop("no_alert_when_high_above", implies((apart > ZTHR) & (nearing <= 0), ~corrective))
spec.prop("no_alert_when_diverging", implies((distance > DMOD) & (closing <= 0), ~corrective))
spec.prop("no_flicker", implies(signals.fell(shown), mtl.always_been(1, 5, shown)))

# What is false: that a loss is always announced a step before. An intruder may appear close by, or turn in.
surprise = Spec("well_clear_surprise")
surprise.assume("distance", (distance >= 0) & (distance <= 100_000) & (height >= -20_000) & (height <= 20_000))
surprise.assume("rates", (closing >= -700) & (closing <= 700) & (climb >= -200) & (climb <= 200))
surprise.prop("loss_is_announced", implies(signals.rose(lost) & ~first, pre(False, corrective)))
