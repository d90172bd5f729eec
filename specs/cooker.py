# A cooker, one step a second: a code unlocks it, three digits are keyed in, `start` counts them down while the door is
# closed. It may heat for ten minutes at most, but 9, 9, 9 are 9 minutes and 99 seconds. `prove` shows the few steps that
# set the timer to more than ten minutes, and the long run that goes on from there.
from streamcheck import *

key = extern("key", Word8, doc="the digit that is held, or more than 9: none")
start = extern("start", Bool, doc="the button is held")
closed = extern("closed", Bool, doc="the door is")

keyed = (key <= 9) & (pre(10, key) > 9)  # now, and not before
started = start & ~pre(False, start)

ones = stream(Word8, lambda ones: [0] ++ mux(keyed, key, ones))
tens = stream(Word8, lambda tens: [0] ++ mux(keyed, ones, tens))
minutes = stream(Word8, lambda minutes: [0] ++ mux(keyed, tens, minutes))
entered = cast(Int16, minutes) * 60 + cast(Int16, tens) * 10 + cast(Int16, ones)
unlocked = stream(Bool, lambda on: [False] ++ (on | (started & (minutes == 4) & (tens == 7) & (ones == 1))))


@stream(Int16)
def left():
    begins = (left == 0) & unlocked & started
    return [0] ++ mux(begins & closed, entered, mux((left > 0) & closed, left - 1, left))


heats = (left > 0) & closed
heated = stream(Int16, lambda heated: [0] ++ mux(heats, heated + 1, 0))

spec = Spec("cooker")
spec.trigger("lamp", heats, [left])
spec.prop("ten minutes at most", heated <= 600)
spec.prop("not with an open door", implies(~closed, ~heats))
