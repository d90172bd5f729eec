# The engine monitor of the slides, first version: one temperature probe, trusted blindly.
# When it reads more than 250 degrees the cooler must be on, or the engine is shut down at once.
# The smallest useful monitor: an extern for each thing measured, one trigger for what must be done.
from streamcheck import *

tmp_probe = extern("tmp_probe", Word8, samples=[240, 251, 255, 251, 249], unit="°C")
cooler = extern("cooler", Bool, samples=[False, True, False, True, False])

exceed = tmp_probe > 250
ok = implies(exceed, cooler)

spec = Spec("engine_one_probe")
spec.trigger("shutoff", ~ok)
