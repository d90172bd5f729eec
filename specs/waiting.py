# Two clients of a bus ask, an arbiter grants in turns, each transfer ends at some time: claims about infinite runs.
# `served` holds because turns alternate and `ready` comes again and again. Without that fairness, or with a fixed
# priority, a client may wait forever: `starves` shows the run.

from streamcheck import *

asks = [extern(f"asks_{i}", Bool) for i in range(2)]
ready = extern("ready", Bool, doc="the transfer ends")


@stream(Word8)
def owner():  # 0: nobody, else the client plus one
    first, second = asks
    fair = mux(turn & second, 2, mux(first, 1, mux(second, 2, Word8(0))))
    return [0] ++ mux(owner == 0, fair, mux(ready, 0, owner))


@stream(Bool)
def turn():  # the second client is next
    return [False] ++ mux(owner == 1, True, mux(owner == 2, False, turn))


@stream(Word8)
def rigid():  # the first client always goes first
    first, second = asks
    return [0] ++ mux(rigid == 0, mux(first, 1, mux(second, 2, Word8(0))), mux(ready, 0, rigid))


bus = Spec("bus")
bus.fair("transfers end", ready & (owner != 0))
bus.responds("second is served", asks[1] & (owner == 0), (owner == 2) | ~asks[1])
bus.infinitely_often("the bus is free", owner == 0)
bus.until("free before the first transfer", owner == 0, owner != 0)
bus.prop("owner is known", owner <= 2)

priority = Spec("priority")
priority.fair("transfers end", ready & (rigid != 0))
priority.responds("starves", asks[1] & (rigid == 0), (rigid == 2) | ~asks[1])
