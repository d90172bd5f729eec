# Two doors of a lock chamber, and the requirements on whoever opens them.
# `doors` can be kept: streamcheck realizable specs/doors.py::doors -o controller.py writes a controller.
# `hasty` cannot: the door that somebody inside wants is to open at once.

from streamcheck import *

inner_asked = extern("inner_asked", Bool, doc="somebody inside wants to get out")
outer_asked = extern("outer_asked", Bool, doc="somebody outside wants to get in")
inner = unknown(Bool)
outer = unknown(Bool)

doors = Spec("doors")
doors.prop("D1", requirement("the lock shall never satisfy inner & outer"))
doors.prop("D2", requirement("whenever inner the lock shall at the next timepoint satisfy !outer"))
doors.prop("D3", requirement("whenever outer_asked & !inner_asked the lock shall within 2 ticks satisfy outer"))
doors.prop("D4", requirement("whenever inner_asked the lock shall within 2 ticks satisfy inner"))

hasty = Spec("hasty")
hasty.prop("H1", requirement("the lock shall never satisfy inner & outer"))
hasty.prop("H2", requirement("whenever inner the lock shall at the next timepoint satisfy !outer"))
hasty.prop("H3", requirement("whenever outer_asked the lock shall within 1 tick satisfy outer"))
hasty.prop("H4", requirement("whenever inner_asked the lock shall immediately satisfy inner"))
