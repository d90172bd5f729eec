# A mixer's valve, with its requirements as sentences.
# Each one becomes a stream that is true as long as the run so far satisfies it (docs/requirements.md).
# Names in a sentence are those of the streams around it.

from streamcheck import *

start = extern("start", Bool, samples=[True, False, False, False, False])
full = extern("full", Bool, samples=[False, False, True, False, False])
valve = stream(Bool, lambda v: [False] ++ ((v | start) & ~full))

spec = Spec("mixer")
spec.observer("valve", valve)
spec.prop("opens", requirement("upon start, the mixer shall within 2 ticks satisfy valve | full"))
spec.prop("closes", requirement("whenever full, the mixer shall at the next timepoint satisfy !valve"))
spec.prop("stays", requirement("after full, upon start the mixer shall until full satisfy start | valve"))
