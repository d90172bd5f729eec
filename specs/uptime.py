# Ticks of a millisecond in a Word32, which wraps around 49.7 days after the start. A deadline that is computed as a tick
# is wrong then, the time since a start is not. `prove` shows the one by a run of 4,294,962,298 steps that it computes
# instead of taking them, and proves the other for all time.
from streamcheck import *

press = extern("press", Bool)

now = stream(Word32, lambda ticks: [0] ++ (ticks + 1))
started = stream(Word32, lambda at: [0] ++ mux(press, now, at))
waits = stream(Bool, lambda on: [False] ++ mux(press, True, on & (now - started < 5000)))

spec = Spec("uptime")
spec.observer("left", mux(waits, 5000 - (now - started), 0))
spec.trigger("beep", pre(False, waits) & ~waits, [now])
spec.prop("the deadline is ahead", implies(waits & (now - started < 5000), now < started + 5000))
spec.prop("no wait is longer", implies(waits, now - started <= 5000))
