"""Families of problems that grow with a number."""

from __future__ import annotations

LOCKS = """extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
int main(void) {{
{declared}
while (__VERIFIER_nondet_int()) {{
{freed}
{taken}
{released}
}}
return 0;
wrong: reach_error();
return 1;
}}
"""
CLUTTERED = """from streamcheck import *

x = extern("x", Word64)
y = extern("y", Word64)
{noise}
busy = n{last} == {seed}
level = stream(Word8, lambda n: [0] ++ mux(busy, mux(n < 10, n + 2, Word8(0)), n))
spec = Spec("cluttered")
spec.prop("even", level != 5)
"""
COUNTERS = """from streamcheck import *

go, x, y = extern("go", Bool), extern("x", Int), extern("y", Int)
spec = Spec("many")
{hard}
for i in range({counters}):
    n = stream(Int, lambda n, i=i: [0] ++ mux(go & (n < 5 + i), n + 1, n))
    for j in range({size}):
        spec.prop(f"{{i}}.{{j}}", n <= 5 + i + j)
"""
HARD = 'spec.prop("hard", x * x * x + y * y * y != 114)'


def locks(n: int) -> str:
    """A C program that takes n locks, each if its flag says so, and releases them; one error for all, as in SV-COMP."""

    def lines(line: str) -> str:
        return "\n".join(line.replace("#", str(i)) for i in range(n))

    return LOCKS.format(
        declared=lines("int want# = __VERIFIER_nondet_int(); int held#;"),
        freed=lines("held# = 0;"),
        taken=lines("if (want#) { held# = 1; }"),
        released=lines("if (want#) { if (!(held# == 1)) goto wrong; held# = 0; }"),
    )


def cluttered(n: int) -> str:
    """A spec with a level that a condition raises by two. The condition is that n products, one in the next, have a
    certain value: hard to bring about, and of no matter."""
    noise = ["n0 = x * (y + 2)"]
    noise += [f"n{i} = (n{i - 1} * ({'xy'[i % 2]} + 2)) ^ (n{i - 1} + {i})" for i in range(1, n)]
    return CLUTTERED.format(noise="\n".join(noise), last=n - 1, seed=0x9E3779B97F4A7C15)


def counters(number: int, size: int, *, hard: bool = False) -> str:
    """A spec with so many properties of saturating counters, `size` of each counter; and one that nobody decides."""
    return COUNTERS.format(hard=HARD if hard else "", counters=number // size, size=size)
