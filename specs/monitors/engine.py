# Three probes vote if the engine is too hot; if it is and the cooler is off, the engine is shut off for good.
# The C has no counters for the vote: Boolean functions of few conditions are generated in their shortest form.
# First written for Copilot; tests/bench/monitors.py measures the C of both, and hand-written C.
from streamcheck import *

probes = [extern(f"tmp_probe_{i}", Word8, doc="temperature probe", unit="°C") for i in range(3)]
cooler = extern("cooler", Bool)

exceed = [p > 250 for p in probes]
maj = voting.majority(exceed)
ok = ptltl.always_been(implies(maj & voting.has_majority(maj, exceed), cooler))

spec = Spec("engine")
spec.trigger("shutoff", ~ok, maj)
spec.prop("for_good", implies(pre(False, ~ok), ~ok))
