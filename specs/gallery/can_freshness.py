# A CAN message with a deadline and an alive counter: every 20 ms, at most 50 ms old, 4 bits, one more each time.
# The clock is a free-running timer in ms, so it wraps around; the task that reads it runs every 5 to 15 ms.
# Proved: what counts as fresh is at most 50 ms old also where the timer wraps, and each lost frame is counted once.
from streamcheck import *

now = extern("now", Word16, [(65_400 + 10 * n) % 65_536 for n in range(30)], doc="free-running timer", unit="ms")
rx = extern("rx", Bool, [n % 2 == 0 and not 14 <= n < 24 for n in range(30)], doc="the message came")
alive = extern("alive", Word8, [n // 2 % 16 for n in range(30)], doc="alive counter, 0 to 15")

DEADLINE = 50
step = now - pre(0, now)
fresh = mtl.eventually_prev(0, DEADLINE, now, 5, rx)
known = ptltl.eventually_prev(rx)
last = signals.hold(0, alive, rx)
expected = (pre(0, last) + 1) & 15
skipped = rx & ptltl.previous(known) & (alive != expected)
lost = stream(Word16, lambda n: saturating.add(pre(0, n), mux(skipped, Word16(1), 0)))

# The age, counted in another way: since the last message, in ms, up to 10 s.
age = stream(Word16, lambda a: mux(rx, 0, mux(known, saturating.add(pre(0, a), step), 0)))

spec = Spec("can_freshness")
spec.assume("task_runs", first | (step >= 5) & (step <= 15))
spec.assume("alive_is_4_bits", alive < 16)
spec.trigger("stale", signals.rose(known & ~fresh), {"age": age})
spec.trigger("frames_lost", skipped, {"alive": alive, "expected": expected, "lost": lost})
spec.observer("fresh", fresh)
spec.observer("lost", lost)
spec.prop("fresh_is_young", implies(known, fresh == (age <= DEADLINE)))
spec.prop("seen_is_fresh", implies(rx, fresh))
spec.prop("in_order_loses_nothing", implies(alive == expected, ~skipped))
spec.prop("lost_never_shrinks", lost >= pre(0, lost))
spec.exists("goes_stale", known & ~fresh)
