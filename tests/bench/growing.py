"""Families of problems that grow with n in one respect: what `growth.py` measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

PROPERTIES = """from streamcheck import *

go = extern("go", Bool)
spec = Spec("properties")
for i in range({n}):
    n = stream(Word16, lambda n, i=i: [0] ++ mux(go & (n < 5 + i), n + 1, n))
    spec.prop(f"p{{i}}", n <= 5 + i)
"""
DEFINITIONS = """from streamcheck import *

x, y = extern("x", Word32), extern("y", Bool)
holds = x >= 1
for i in range({n} // 2):
    side = mux(y, x > i, x == i)
    holds = holds & ~side
    globals().update({{f"side_{{i}}": side, f"holds_{{i}}": holds}})
spec = Spec("definitions")
spec.observer("holds", holds)
spec.prop("begins", implies(holds, x >= 1))
"""
DELAYS = """from streamcheck import *

x = extern("x", Word8)
late = [0] * {n} ++ minimum(x, 100)
spec = Spec("delays")
spec.observer("late", late)
spec.prop("small", late <= 100)
"""
STATES = """from streamcheck import *

x = extern("x", Bool)
cells = [x]
for i in range({n}):
    cells.append([False] ++ (cells[-1] & x))
    globals()[f"cell_{{i}}"] = cells[-1]
spec = Spec("states")
spec.observer("last", cells[-1])
spec.prop("both", implies(cells[-1], pre(False, x)))
"""
ARRAY = """from streamcheck import *

i, x = extern("i", Word16), extern("x", Word8)
store = stream(Array(Word8, {n}), lambda store: [[0] * {n}] ++ store.set(i, minimum(x, 100)))
spec = Spec("array")
spec.observer("one", store[i])
spec.prop("small", store[i] <= 100)
"""
NESTED = """from streamcheck import *

@component
def nested(n: int, wish: Word8) -> Word8:
    assume("small", wish <= 100)
    out = wish if n == 0 else minimum(nested(n - 1, wish), pre(0, wish))
    guarantee("small", out <= 100)
    return out

x = extern("x", Word8)
spec = Spec("nested")
spec.observer("out", nested({n}, minimum(x, 100)))
"""
INSTANCES = """from streamcheck import *

@component
def limiter(wish: Word8) -> Word8:
    assume("small", wish <= 100)
    out = minimum(wish, ([0] ++ wish) + 1)
    guarantee("small", out <= 100)
    return out

y = minimum(extern("x", Word8), 100)
for _ in range({n}):
    y = limiter(y)
spec = Spec("instances")
spec.observer("y", y)
"""
DEPTH = """from streamcheck import *

x = extern("x", Bool)
n = stream(Word16, lambda n: [0] ++ mux(x, n + 1, n // 2))
spec = Spec("depth")
spec.prop("never", n != {n})
"""
OBLIGATIONS = """from streamcheck import *

x, y = extern("x", Int32), extern("y", Int32)
total = y
for i in range({n}):
    total = mux(x > i, total // (x - i), total)
spec = Spec("obligations")
spec.observer("total", total)
"""
EXTERNS = """from streamcheck import *

xs = [extern(f"x{{i}}", Word8) for i in range({n})]
some = any_of([x > 100 for x in xs])
spec = Spec("externs")
spec.observer("some", some)
spec.prop("last", implies(xs[-1] > 100, some))
"""


def python(text: str) -> Callable[[int], str]:
    return lambda n: text.format(n=n)


def statements(n: int) -> str:
    """A C program of n statements with conditions, one after another in a loop."""
    lines = "\n".join(f"    if (c == {i % 50}) x = {i % 90};" for i in range(n))
    return f"""extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {{
  int x = 0, c;
  while (__VERIFIER_nondet_int()) {{
    c = __VERIFIER_nondet_int();
{lines}
  }}
  if (x > 100) reach_error();
  return 0;
}}
"""


def loops(n: int) -> str:
    """A C program of n loops, one after another: each is a location that blocks do not remove."""
    lines = "\n".join(f"  while (__VERIFIER_nondet_int()) {{ if (x < {50 + i % 50}) x = x + 1; }}" for i in range(n))
    return f"""extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {{
  int x = 0;
{lines}
  if (x > 100) reach_error();
  return 0;
}}
"""


@dataclass(frozen=True)
class Family:
    """`text` makes the file for n, `most` is the largest n of interest; `compiles` if its C is of interest too."""

    name: str
    text: Callable[[int], str]
    most: int
    ending: str = ".py"
    compiles: bool = False


FAMILIES = {
    family.name: family
    for family in (
        Family("properties", python(PROPERTIES), 10_000, compiles=True),
        Family("definitions", python(DEFINITIONS), 100_000, compiles=True),
        Family("delays", python(DELAYS), 10_000, compiles=True),
        Family("states", python(STATES), 10_000, compiles=True),
        Family("array", python(ARRAY), 10_000, compiles=True),
        Family("nested", python(NESTED), 1_000),
        Family("instances", python(INSTANCES), 10_000, compiles=True),
        Family("depth", python(DEPTH), 10_000),
        Family("statements", statements, 10_000, ".c"),
        Family("loops", loops, 10_000, ".c"),
        Family("obligations", python(OBLIGATIONS), 10_000),
        Family("externs", python(EXTERNS), 10_000, compiles=True),
    )
}
