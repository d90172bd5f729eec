# Constant streams and operators, the first program of [Laurent].
# A literal takes the type of the stream beside it; operators work step by step; `mux` chooses.
# Every stream here is constant: x = 10, y = 100, z = true, t = 11.
from streamcheck import *

x = Word64(5) + 5
y = x * x
z = (x == 10) & (y < 200)
t = mux(z, x + 1, y)

spec = Spec("constant_streams")
for name, s in {"x": x, "y": y, "z": z, "t": t}.items():
    spec.observer(name, s)
