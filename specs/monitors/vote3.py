# The vote of three sensors on a value, and whether there is a majority at all.
# Without one, the candidate is still the value of one of them, which is what is proved.
# First written for Copilot; tests/bench/monitors.py measures the C of both, and hand-written C.
from streamcheck import *

sensors = [extern(f"p{i}", Word32) for i in range(3)]
maj = voting.majority(sensors)

spec = Spec("vote3")
spec.trigger("vote", True, [maj, voting.has_majority(maj, sensors)])
spec.prop("one_of_them", any_of(maj == p for p in sensors))
