# The engine monitor of [Laurent], first version: one temperature probe, trusted blindly.
# If it reads more than 250 degrees, the cooler must be on, else the engine is shut down immediately.
# The smallest useful monitor: an extern for each measurement, a trigger for the action.
from streamcheck import *

tmp_probe = extern("tmp_probe", Word8, samples=[240, 251, 255, 251, 249], unit="°C")
cooler = extern("cooler", Bool, samples=[False, True, False, True, False])

exceed = tmp_probe > 250
ok = implies(exceed, cooler)

spec = Spec("engine_one_probe")
spec.trigger("shutoff", ~ok)
