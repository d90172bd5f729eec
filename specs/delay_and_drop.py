# The two operators of time: `[1, 2, 3] ++ x` puts three values before x, `drop(2, y)` takes two away.
# Here y = 1, 2, 3, 10, 10 … and z = 3, 10, 10 …
# `drop` looks ahead only as far as the listed values reach; the future of an extern is not known.
from streamcheck import *

x = Word64(10)
y = [1, 2, 3] ++ x
z = drop(2, y)

spec = Spec("delay_and_drop")
spec.observer("x", x)
spec.observer("y", y)
spec.observer("z", z)
