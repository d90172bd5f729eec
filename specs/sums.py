# Sums in closed form: bounds do not suffice, and no property is inductive without an equation between polynomials.
# n counts (if `go` holds); s sums the naturals before it; c sums 3k² + 3k + 1, which gives cubes; q sums the cubes.
# The lemmas 2·s = n² - n, c = n³ and 4·q = n⁴ - 2n³ + n² are found, proved by induction, and used.
from streamcheck import *

go = extern("go", Bool)
n = stream(Int, lambda n: [0] ++ mux(go, n + 1, n))
s = stream(Int, lambda s: [0] ++ mux(go, s + n, s))
c = stream(Int, lambda c: [0] ++ mux(go, c + 3 * n * n + 3 * n + 1, c))
q = stream(Int, lambda q: [0] ++ mux(go, q + c, q))

spec = Spec("sums")
spec.prop("triangular", 2 * s == n * (n - 1))
spec.prop("cube", c == n * n * n)
spec.prop("even_numbers_before", implies(n == 10, s == 45))
spec.prop("thousand", implies(n == 10, c == 1000))
spec.prop("squares_of_triangles", q == s * s)
