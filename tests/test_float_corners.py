"""Floats in random runs: the values at which programs break, and the neighbours of what the spec compares with."""

from __future__ import annotations

import math
import struct

import pytest
from finite import HERE

from streamcheck.core.floats import f32, neighbours
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import DOUBLE, FLOAT
from streamcheck.engines.options import SimulationOptions
from streamcheck.engines.protocol import Task
from streamcheck.engines.random_runs import Simulator
from streamcheck.engines.simulation import Simulation
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Falsified

SAMPLES = [0.0, -0.0, 1.0, -1.0, 100.0, 2.0**-149, 2.0**-126, 2.0**128 - 2.0**104, math.inf, -math.inf]


@pytest.mark.parametrize("x", SAMPLES)
def test_neighbours_are_the_next_of_all_floats(x):
    for width, layout in ((32, "<f"), (64, "<d")):
        below, above = neighbours(x, width)
        for y in (below, above):
            assert struct.unpack(layout, struct.pack(layout, y))[0] == y  # a float of that width
        if width == 32:
            assert below < x < above or math.isinf(x)
            for y in (below, above):
                between = (x + y) / 2  # exact in binary64, if both are finite
                assert math.isinf(x) or math.isinf(y) or f32(between) in (x, y)
    assert all(map(math.isnan, neighbours(math.nan, 32)))


def system(type, claim):
    x = variable("x", type)
    return TransitionSystem("s", (), (x,), (), (), (Claim("P", claim(x, lambda v: constant(type, v)), HERE),))


@pytest.mark.parametrize("type", [FLOAT, DOUBLE], ids=str)
def test_inputs_meet_every_corner(type):
    given = system(type, lambda x, number: term("le", x, number(1.0)))
    simulator = Simulator(given)
    drawn = {repr(simulator._value(given.inputs[0])) for _ in range(4000)}
    least = 2.0**-149 if type is FLOAT else 2.0**-1074
    corners = [0.0, -0.0, math.inf, -math.inf, math.nan, least, -least, 1.0, *neighbours(1.0, type.width)]
    assert {repr(c) for c in corners} <= drawn


# Each holds of all floats but those of one kind.
CLAIMS = {
    "NaN": lambda x, number: term("eq", x, x),
    "an infinity": lambda x, number: term("ne", x, number(-math.inf)),
    "a negative zero": lambda x, number: term("not", term("same", x, number(-0.0))),
    "a denormal": lambda x, number: term(
        "or", term("eq", x, number(0.0)), term("ne", term("mul", x, number(0.5)), number(0.0))
    ),
    "just above a literal": lambda x, number: term(
        "or", term("le", x, number(7.25)), term("not", term("lt", x, number(7.2500015)))
    ),
}


@pytest.mark.parametrize("type", [FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize("kind", CLAIMS)
def test_a_violation_at_a_corner_is_met(kind, type):
    events = Simulation(SimulationOptions()).run(Task(system(type, CLAIMS[kind])), list)
    assert any(isinstance(event, Falsified) for event in events)
