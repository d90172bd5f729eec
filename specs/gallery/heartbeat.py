# The heartbeat of a companion computer: one frame is due every 100 ms, and three missed ones stop the actuators.
# Steps are 20 ms. The stop is latched until an operator acknowledges it, and the link must then live for half a second.
# Proved: no stop while frames come in time, a stop after 300 ms of silence, none that goes away by itself.
from streamcheck import *

beat = extern("beat", Bool, [n % 5 == 0 and not 16 <= n < 40 for n in range(72)], doc="a frame came in")
ack = extern("ack", Bool, [n == 68 for n in range(72)], doc="operator acknowledges")

TIMEOUT, PROBATION = 15, 25
silence = signals.since_when(TIMEOUT + 1, beat)
booted = ptltl.eventually_prev(beat)
lost = booted & (silence > TIMEOUT)
steady = signals.held_for(PROBATION, ~lost)
stopped = signals.latch(lost, ack & steady)

spec = Spec("heartbeat")
spec.trigger("stop_actuators", signals.rose(stopped), {"silence": silence})
spec.trigger("resume", signals.fell(stopped))
spec.observer("silence", silence)
spec.observer("stopped", stopped)
spec.prop("no_false_stop", implies(mtl.eventually_prev(0, TIMEOUT, beat) & pre(True, ~stopped), ~stopped))
spec.prop("stops_in_time", implies(booted & mtl.always_been(0, TIMEOUT, ~beat), stopped | ~ptltl.previous(booted)))
spec.prop("stays_stopped", implies(pre(False, stopped) & ~ack, stopped))
spec.prop("resumes_on_a_live_link", implies(signals.fell(stopped), ack & steady & ~lost))
spec.exists("can_resume", signals.fell(stopped))
