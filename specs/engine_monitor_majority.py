# The engine monitor of [Laurent], second version: three probes and a Boyer-Moore majority vote.
# One broken probe can neither stop the engine nor hide that it is too hot.
# `voting.majority` finds the only candidate, `voting.has_majority` checks that it has more than half.
from streamcheck import *

probes = [
    extern("tmp_probe_1", Word8, samples=[251, 251, 10, 255], unit="°C"),
    extern("tmp_probe_2", Word8, samples=[251, 20, 20, 255], unit="°C"),
    extern("tmp_probe_3", Word8, samples=[30, 251, 251, 255], unit="°C"),
]
cooler = extern("cooler", Bool, samples=[True, False, False, False])

exceed = [p > 250 for p in probes]
maj = voting.majority(exceed)
ok = implies(maj & voting.has_majority(maj, exceed), cooler)

spec = Spec("engine_majority")
spec.trigger("shutoff", ~ok)
