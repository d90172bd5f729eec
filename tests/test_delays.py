"""The engine `delays`: lines of cells that hand values on, and elements of arrays."""

from __future__ import annotations

import pytest

from streamcheck import Array, Bool, Float, Int, Int16, Spec, Word8, cast, drop, extern, implies, mux, stream
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, INT
from streamcheck.invariants.elements import instances_of


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


# Elements of arrays


def array_of(kind, length, first, index, value, enabled=True):
    """An array of which one element is written at a step."""
    return stream(Array(kind, length), lambda a: [[first] * length] + +mux(enabled, a.set(index, value(a)), a))


def test_what_holds_of_every_element_needs_one_step():
    def build(spec):
        x, i, r = extern("x", Int16), extern("i", Word8), extern("r", Word8)
        spec.assume("indexes", (i < 150) & (r < 150))
        low = array_of(Int16, 150, 0, i, lambda _: x, (x >= 0) & (x <= 20))
        seen = array_of(Word8, 150, 0, i, lambda a: mux(a[i] < 100, a[i] + 1, 100))
        spec.prop("in range", (low[r] >= 0) & (low[r] <= 20))
        spec.prop("saturates", seen[r] <= 100)

    found = decided(build)
    assert found["in range"] == found["saturates"] == ("proved", 1)


def test_elements_at_the_same_index_and_the_index_itself():
    def build(spec):
        x, y, i, r = extern("x", Int16), extern("y", Int16), extern("i", Word8), extern("r", Word8)
        spec.assume("indexes", (i < 41) & (r < 41))
        spec.assume("ordered", (x <= y) & (x <= cast(Int16, i)))
        low, high = array_of(Int16, 41, 0, i, lambda _: x), array_of(Int16, 41, 0, i, lambda _: y)
        spec.prop("ordered everywhere", low[r] <= high[r])
        spec.prop("at most the index", low[r] <= cast(Int16, r))
        spec.prop("not across", low[r] <= high[i])

    found = decided(build)
    assert found["ordered everywhere"] == found["at most the index"] == ("proved", 1)
    assert found["not across"][0] == "unknown"


def test_two_elements_at_two_indexes():
    """A pair of instances for each two places: too many for one query of the checker, which takes them in lots."""

    def build(spec):
        x, i, r = extern("x", Int), extern("i", Word8), extern("r", Word8)
        spec.assume("indexes", (i < 18) & (r < 18))
        up = stream(Array(Int, 18), lambda up: [list(range(18))] + +mux(x > 7, up.set(i, up[i] + 0), up))
        spec.prop("sorted", implies(i <= r, up[i] <= up[r]))
        spec.prop("distinct", implies(i < r, up[i] != up[r]))

    found = decided(build)
    assert found["sorted"] == found["distinct"] == ("proved", 1)


def test_an_element_that_breaks_what_the_others_keep():
    def build(spec):
        x, i, r = extern("x", Word8), extern("i", Word8), extern("r", Word8)
        spec.assume("indexes", (i < 20) & (r < 20))
        spec.prop("low", array_of(Word8, 20, 0, i, lambda _: mux((x < 5) | (i == 7), x, 0))[r] < 5)

    assert decided(build)["low"][0] == "unknown" and decided(build, ())["low"] == ("falsified", 1)


def test_instances_of_a_claim():
    a = [variable(f"a.{j}", INT) for j in range(3)]
    r, b = variable("r", INT), variable("b", BOOL)
    at = {j: constant(INT, j) for j in range(4)}
    chosen = term("mux", term("le", r, at[0]), a[0], term("mux", term("eq", r, at[1]), a[1], a[2]))
    alone = instances_of(term("le", chosen, at[3]), set(a), 10)
    assert alone.terms == tuple(term("le", one, at[3]) for one in a) and alone.suffice
    beside = instances_of(term("le", chosen, r), set(a), 10)
    assert beside.terms == tuple(term("le", a[j], at[j]) for j in range(3)) and not beside.suffice
    other = instances_of(term("le", chosen, term("mux", b, a[0], a[1])), set(a), 10)
    assert len(other.terms) == 4 and other.suffice  # a.0 <= a.0 and a.1 <= a.1 are plainly true
    assert instances_of(term("le", chosen, at[3]), set(a), 2).terms == ()
    assert instances_of(term("le", a[0], at[3]), set(a), 10).terms == ()
