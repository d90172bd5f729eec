# A monitor before and after it was rewritten: streamcheck equal specs/refactored.py::before specs/refactored.py::after
# The counter of hot steps runs down instead of up, and its conditions are turned around.
# `almost` forgets one of them.

from streamcheck import *

probe = extern("probe", Word8, unit="°C")
stop = extern("stop", Bool)

hot = probe > 250
up = stream(Word8, lambda n: [0] ++ mux(stop, 0, mux(hot & (n < 5), n + 1, n)))

before = Spec("before")
before.trigger("shutoff", hot & (up >= 5), {"probe": probe})
before.observer("steps", up)

cool = probe <= 250
left = stream(Word8, lambda n: [5] ++ mux(stop, 5, mux(cool | (n == 0), n, n - 1)))

after = Spec("after")
after.trigger("shutoff", ~(cool | (left != 0)), {"probe": probe})
after.observer("steps", 5 - left)

low = stream(Word8, lambda n: [5] ++ mux(stop, 5, mux(cool, n, n - 1)))

almost = Spec("almost")
almost.trigger("shutoff", ~(cool | (low != 0)), {"probe": probe})
almost.observer("steps", 5 - low)
