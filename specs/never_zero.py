# A counter from 1 that is never 0: true of the mathematical Int, false of a Word8, which wraps at step 255.
# For Int, plain induction fails (0 follows -1, which is unreachable): it needs the lemma x >= 1.
# Two specs in one file: prove one with `specs/never_zero.py::unbounded`.
from streamcheck import *

x = stream(Int, lambda x: [1] ++ (1 + x))
unbounded = Spec("unbounded")
unbounded.observer("x", x)
unbounded.prop("ok", x != 0)

w = stream(Word8, lambda w: [1] ++ (1 + w))
wrapping = Spec("wrapping")
wrapping.observer("w", w)
wrapping.prop("ok", w != 0)
