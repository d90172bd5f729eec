"""The engine `delays`: lines of cells that hand values on."""

from __future__ import annotations

import pytest

from streamcheck import Bool, Float, Int, Spec, Word8, drop, extern, mux, stream


def line(length, source, first, enabled=None):
    """A delay line; with `enabled`, one whose cells keep their values at some steps."""
    if enabled is None:
        return [first] * length + +source
    for _ in range(length):
        source = stream(Word8, lambda s, before=source: [first] + +mux(enabled, before, s))
    return source


def decided(build, engines=("delays",)):
    spec = Spec("line")
    build(spec)
    return {r.name: (r.verdict, r.k) for r in spec.prove(engines=engines, timeout=30, jobs=1).results}


@pytest.mark.parametrize("length", [1, 2, 60, 400])
@pytest.mark.parametrize("kind", [Word8, Int])
def test_a_bound_goes_through_the_whole_line(length, kind):
    def build(spec):
        x = extern("x", kind)
        spec.assume("low", (x >= 0) & (x < 5))
        spec.prop("low at the end", line(length, x, 0) < 5)

    assert decided(build, ("k-induction",) if length == 1 else ("delays",)) == {"low at the end": ("proved", 1)}


def test_cells_that_wait_and_floats():
    def build(spec):
        x, y, on = extern("x", Word8), extern("y", Float), extern("on", Bool)
        spec.assume("bounds", (x < 5) & (y >= 0.0) & (y < 1.0))
        spec.prop("held", line(30, x, 0, on) < 5)
        spec.prop("between", (line(30, y, 0.5) < 1.0) & (line(30, y, 0.5) >= 0.0))

    assert decided(build) == {"held": ("proved", 1), "between": ("proved", 1)}


def test_two_lines_in_step():
    """What the cells at one place have to do with each other: one query for all pairs."""

    def build(spec):
        x, y = extern("x", Int), extern("y", Int)
        spec.assume("ordered", x < y)
        spec.prop("ordered at the end", line(40, x, 0) < line(40, y, 1))

    assert decided(build) == {"ordered at the end": ("proved", 1)}


def test_what_is_false_or_too_weak_is_left_to_others():
    def build(spec):
        x = extern("x", Word8)
        end = line(5, x, 0)
        spec.assume("low", x < 5)
        spec.prop("too low", end < 4)
        spec.prop("first value", line(5, x, 7) < 5)
        spec.prop("no line", stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, 0)) < 10)
        spec.prop("input", x < 6)

    assert {verdict for verdict, _ in decided(build).values()} == {"unknown"}
    everything = decided(build, ())
    assert everything["too low"] == ("falsified", 5) and everything["first value"] == ("falsified", 0)


def test_the_default_command_needs_no_k_as_long_as_the_line():
    def build(spec):
        x = extern("x", Word8)
        spec.assume("low", x < 5)
        spec.prop("p", line(300, drop(0, x), 0) < 5)

    assert decided(build, ()) == {"p": ("proved", 1)}
