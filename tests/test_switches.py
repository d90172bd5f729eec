"""Every option of every engine has a row in the ablation, and every switch helps somewhere: counts, not clocks.

The switches of `ic3`, `predicates` and `structural` that are not here are in `test_ideas`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from counts import decide

from streamcheck.engines.settings import Number, options_of
from streamcheck.run.registry import ENGINES
from streamcheck.run.source import Target, read
from streamcheck.transform.views import views

sys.path.append(str(Path(__file__).parent / "bench"))
from engines import NO_IDEAS, VARIANTS, configurations, of_options


@pytest.mark.parametrize("program", [False, True])
def test_every_option_has_a_row_in_the_ablation(program):
    table = configurations([], True, program=program)
    rows = {setting for _, settings in table.values() for setting in settings}
    fitting = [n for n, row in ENGINES.items() if (row.program if program else row.spec) and n not in VARIANTS]
    options = {(name, o.name) for name in fitting for o in options_of(ENGINES[name].options)}
    assert len(options) > 20
    assert {f"{name}.{option}" for name, option in options if option not in NO_IDEAS} <= rows


def test_engines_that_have_no_rows_of_their_own_have_the_options_of_others():
    for name in VARIANTS:
        own = type(ENGINES[name].options)
        assert any(type(row.options) is own for other, row in ENGINES.items() if other not in VARIANTS), name
    for name, row in ENGINES.items():
        numbers = [o.name for o in options_of(row.options) if isinstance(o.kind, Number)]
        assert len(of_options(name)) > len(options_of(row.options)) - len(numbers) or name in VARIANTS


HEAD = """from streamcheck import *
g, h, k = (extern(name, Bool) for name in "ghk")
i = extern("i", Int)
spec = Spec("s")
"""
CLAIMS = """
n = stream(Int, lambda n: [0] ++ mux(g, mux(n < 9, n + 1, n), 0))
for j in range(1, 5):
    spec.prop(f"p{j}", n * j <= 5 * j)
spec.prop("q", n <= 5)
"""
TOGETHER = """
@stream(Int)
def x():
    return [0] ++ mux(g, y + 1, x)
@stream(Int)
def y():
    return [0] ++ mux(g, x + 1, y)
spec.prop("x", x >= 0)
spec.prop("y", y >= 0)
"""
CYCLE = """
s = stream(Int, lambda s: [0] ++ mux((s == 5) & g, 7, mux(s == 5, 6, mux(s == 6, Int(5), 0))))
spec.prop("ok", s != 7)
"""
LONG = """
n = stream(Word8, lambda n: [0] ++ mux(n == 90, 0, n + 1))
spec.prop("ok", n != 177)
"""
TANGLE = """
@stream(Bool)
def p():
    return [False] ++ ((q & g) | (r & ~g) | (p & h))
@stream(Bool)
def q():
    return [False] ++ ((r & h) | (p & ~h) | (q & k))
@stream(Bool)
def r():
    return [True] ++ ((p & k) | (q & ~k) | (r & g))
n = stream(Word8, lambda n: [0] ++ (n + 1))
spec.prop("late", ~(p & q & r & ((n == 30) | (i * 2 == 2 * (i // 3) + 1))))
"""
DEEP = """
noise = [i]
for j in range(12):
    noise.append(mux(noise[-1] > j, noise[-1] * 2 - j, noise[-1] + 3 * j))
a = stream(Int, lambda a: [0] ++ mux(g, noise[-1], a))
b = stream(Int, lambda b: [1] ++ mux(b > 0, b + 1, a))
c = stream(Int, lambda c: [1] ++ mux(c > 0, b, a))
spec.prop("c", c > 0)
"""
LATCHES = """
started = stream(Bool, lambda s: [False] ++ (s | k))
a = stream(Int, lambda a: [0] ++ mux(g, i, a))
b = stream(Int, lambda b: [0] ++ mux(g, i + 1, b))
c = stream(Int, lambda c: [0] ++ mux(g, i + 2, c))
spec.prop("sum", ~started | (b + c == 2 * a + 3))
"""
WIRES = """
x = stream(Int, lambda x: [0] ++ (x + i))
m = abs(x) + 1
l = m * 2
n = stream(Int, lambda n: [0] ++ (n + l))
q = n + l
spec.prop("q", q >= 0)
"""
ADDS = """
s = stream(Int, lambda s: [0] ++ (s + i))
t = stream(Int, lambda t: [0] ++ (t + s))
spec.assume("given", i >= 0)
spec.prop("ok", t >= 0)
"""
SHARED = """
a = stream(Int, lambda a: [9] ++ mux((a > 0) & k, a - 1, a))
b = stream(Int, lambda b: [0] ++ mux((a > 0) & k & g, b + 1, b))
c = stream(Int, lambda c: [0] ++ mux((a > 0) & k & ~g & h, c + 1, c))
z = stream(Int, lambda z: [0] ++ mux(g, z + 1, z - 3))
spec.prop("three", b + c <= 9)
"""
PAIR = """
a = stream(Int, lambda a: [9] ++ mux(g & (a > 0), a - 1, a))
b = stream(Int, lambda b: [0] ++ mux(g & (a > 0) & h, b + 1, b))
spec.prop("two", b <= 9)
"""
ONE_HOT = """
@stream(Bool)
def p():
    return [True] ++ mux(g, r, p)
@stream(Bool)
def q():
    return [False] ++ mux(g, p, q)
@stream(Bool)
def r():
    return [False] ++ mux(g, q, r)
"""
TWO_HOT = ONE_HOT + "spec.prop('one', ~(p & q))"
NOISY = (
    ONE_HOT
    + """
noise = [stream(Bool, lambda s, j=j: [False] ++ (extern(f"e{j}", Bool) ^ s)) for j in range(5)]
wrong = stream(Bool, lambda s: [False] ++ (s | (p & q & (noise[0] | noise[1] | noise[2] | noise[3] | noise[4]))))
spec.prop("one", ~wrong)
"""
)
SQUARE = """
n = stream(Int, lambda n: [0] ++ (n + 1))
s = stream(Int, lambda s: [0] ++ (s + n))
spec.prop("square", 2 * s == n * (n - 1))
"""
POWERS = """
z = stream(Int, lambda z: [1] ++ mux(g, 2 * z, z))
y = stream(Int, lambda y: [1] ++ mux(g, 4 * y, y))
spec.prop("powers", y == z * z)
"""
EVEN = """
x = stream(Word8, lambda x: [0] ++ mux(g & (x < 200), x + 2, x))
spec.prop("odd", x != 77)
"""
STEERED = """
w = extern("w", Word8)
c = stream(Word8, lambda c: [0] ++ mux(g, 0, mux(c < 9, c + 1, c)))
d = stream(Word8, lambda d: [0] ++ mux(w > 20, c, mux(w > 3, d, 0)))
e = stream(Word8, lambda e: [0] ++ mux(c > 20, e + 1, mux(d > 20, e + 1, e)))
spec.prop("e", e == 0)
"""
FAR = """
x = stream(Word16, lambda x: [0] ++ mux(x == 300, 0, x + 1))
y = stream(Word8, lambda y: [0] ++ mux(x > 400, y + 1, y))
spec.prop("y", y == 0)
"""
FILTERS = """
a = extern("a", Float)
half, one = Float(0.5), Float(1.0)
x = stream(Float, lambda x: [0.0] ++ (half * x + half * maximum(minimum(a, one), -one)))
y = stream(Float, lambda y: [0.0] ++ (half * y + half * x))
spec.assume("real", a == a)
spec.prop("b", (y <= Float(1.5)) & (y >= Float(-1.5)))
"""
SUMS_ALONE = {"pairs": False, "conditions": False, "conditional": False}
CASES = [  # the engines, the last with the options; both sides' options; what is compared
    (("bmc",), CLAIMS, {}, {"together": False}, "queries"),
    (("bmc",), TANGLE, {}, {"named": 0}, "work"),
    (("bmc", "k-induction"), TOGETHER, {}, {"together": False}, "queries"),
    (("bmc", "k-induction"), CYCLE, {}, {"compression": False}, "queries"),
    (("bmc", "completeness"), LONG, {}, {"stride": 1000}, "queries"),
    (("structural",), DEEP, {}, {"refine": "shallowest"}, "refinements"),
    (("structural",), LATCHES, {"refine": "all"}, {"refine": "deepest"}, "refinements"),
    (("structural",), WIRES, {}, {"wires": False}, "refinements"),
    (("structural",), ADDS, {}, {"proof": "induction"}, "queries"),
    (("spacer",), SHARED, {}, {"guidance": False}, "work"),
    (("templates",), PAIR, {}, {"pairs": False}, "queries"),
    (("templates",), SHARED, SUMS_ALONE, {**SUMS_ALONE, "sums": False}, "queries"),
    (("templates",), TWO_HOT, {}, {"conditions": False}, "queries"),
    (("polynomial",), SQUARE, {"null_spaces": False}, {"null_spaces": False, "recurrences": False}, "queries"),
    (("polynomial",), POWERS, {"recurrences": False}, {"null_spaces": False, "recurrences": False}, "queries"),
    (("pdr-bits",), NOISY, {"tighten": False}, {"tighten": False, "ternary": False}, "queries"),
    (("pdr-bits",), EVEN, {}, {"tighten": False}, "queries"),
    (("pdr-bits",), STEERED, {}, {"inductive": False}, "queries"),
    (("pdr-bits",), STEERED, {}, {"push": False}, "queries"),
    (("pdr-bits",), EVEN, {"push": False}, {"push": False, "propagate": False}, "queries"),
    (("pdr-bits",), FAR, {}, {"forward": False}, "queries"),
    (("pdr-bits",), FILTERS, {}, {"widen": False}, "queries"),
]


@pytest.mark.parametrize(
    ("engines", "body", "on", "off", "count"), CASES, ids=[f"{e[-1]}-{[*off][-1]}" for e, _, _, off, _ in CASES]
)
def test_a_switch_helps(tmp_path, engines, body, on, off, count):
    """Without it fewer properties are decided, or with more work."""
    path = tmp_path / "problem.py"
    path.write_text(HEAD + body)
    (found,) = read(Target.parse(str(path)))
    view = views(found)[-1 if engines == ("pdr-bits",) else 0]
    rounds = {LONG: 200, FILTERS: 8, TANGLE: 40, NOISY: 60}.get(body, 25)
    decided, counts = decide(view, engines, rounds=rounds, **on)
    fewer, more = decide(view, engines, rounds=rounds, **off)
    if body is not FAR:
        assert len(decided) == len(found.properties)
    assert len(fewer) < len(decided) or getattr(counts, count) < getattr(more, count), (counts, more)
