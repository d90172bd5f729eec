# The engine monitor of [Laurent], third version: three probes, a majority vote, and a proof that the vote is right.
# An engine hotter than 250 degrees must have its cooler on, else it is shut down; no single probe is trusted.
# `forall` ranges over both Booleans: a value that differs from the vote has no majority.
from streamcheck import *

readings = {1: [249, 251, 255, 251, 90], 2: [248, 252, 20, 255, 91], 3: [247, 251, 251, 255, 255]}
probes = [extern(f"tmp_probe_{i}", Word8, readings[i], doc="temperature probe", unit="°C") for i in (1, 2, 3)]
cooler = extern("cooler", Bool, [False, True, False, True, False])

exceed = [p > 250 for p in probes]
maj = voting.majority(exceed)
ok = implies(maj & voting.has_majority(maj, exceed), cooler)

spec = Spec("engine")
spec.trigger("shutoff", ~ok)
spec.observer("maj", maj)
spec.prop("majority_is_right", forall(Bool, lambda b: implies(maj != b, ~voting.has_majority(b, exceed))))
