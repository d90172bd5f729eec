# Mutual recursion: evens = 0, 2, 4 … and odds = 1, 3, 5 … are defined through each other.
# A body under `@stream` is evaluated late, so it may refer to streams defined further down.
# The property follows from the definition of odds, at wrap-around too.
from streamcheck import *


@stream(Word64)
def evens():
    return [0] ++ (1 + odds)


odds = 1 + evens

spec = Spec("evens_odds")
spec.observer("evens", evens)
spec.observer("odds", odds)
spec.prop("odds_follow_evens", odds == evens + 1)
