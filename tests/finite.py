"""Small finite systems and what explicit search says of them: the judge of engines and of the certificate checker.

The search is written from the definition of a transition system alone: enumerate states, follow every input.
"""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from streamcheck.core.evaluate import evaluate
from streamcheck.core.location import Location
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, INT, machine
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import State, TransitionSystem

HERE = Location("random", 1)
W8 = machine(8, signed=False)
MODULUS = 5


def domain(var):
    return (False, True) if var.type is BOOL else tuple(range(MODULUS))


@st.composite
def systems(draw, number=INT):
    """Two or three Bool cells, up to two counters modulo 5, an input of each kind, random nexts and properties."""
    bools = [variable(f"b{i}", BOOL) for i in range(draw(st.integers(1, 3)))]
    numbers = [variable(f"n{i}", number) for i in range(draw(st.integers(0, 2)))]
    inputs = [variable("go", BOOL)] + ([variable("by", number)] if draw(st.booleans()) else [])
    five = constant(number, MODULUS)
    conditions, amounts = [*bools, inputs[0]], [*numbers, *inputs[1:], constant(number, draw(st.integers(0, 4)))]
    for _ in range(draw(st.integers(2, 9))):
        kind = draw(st.sampled_from(["and", "or", "xor", "not", "implies", "eq", "lt", "mux", "add", "mul"]))
        if kind in ("and", "or", "xor", "implies"):
            conditions.append(term(kind, draw(st.sampled_from(conditions)), draw(st.sampled_from(conditions))))
        elif kind == "not":
            conditions.append(term("not", draw(st.sampled_from(conditions))))
        elif kind in ("eq", "lt"):
            conditions.append(term(kind, draw(st.sampled_from(amounts)), draw(st.sampled_from(amounts))))
        else:
            a, b = draw(st.sampled_from(amounts)), draw(st.sampled_from(amounts))
            if kind == "mux":
                amounts.append(term("mux", draw(st.sampled_from(conditions)), a, b))
            else:
                amounts.append(term("mod", term(kind, a, b), five))
    state = [State(v, constant(BOOL, draw(st.booleans())), draw(st.sampled_from(conditions))) for v in bools]
    state += [State(v, constant(number, draw(st.integers(0, 4))), draw(st.sampled_from(amounts))) for v in numbers]
    properties = [Claim(f"p{i}", draw(st.sampled_from(conditions)), None) for i in range(draw(st.integers(1, 3)))]
    assumptions = [Claim("in range", term("lt", v, five), HERE) for v in inputs[1:]]
    if number is INT:
        assumptions += [Claim("not negative", term("ge", v, constant(INT, 0)), HERE) for v in inputs[1:]]
    if draw(st.integers(0, 3)) == 0:
        assumptions.append(Claim("fair", draw(st.sampled_from(conditions)), HERE))
    return TransitionSystem("random", tuple(state), tuple(inputs), (), tuple(assumptions), tuple(properties))


class Explicit:
    """The system as a graph."""

    def __init__(self, system):
        self.system = system
        self.state = [s.var for s in system.state]
        self.inputs = list(itertools.product(*map(domain, system.inputs)))
        self.initial = tuple(s.init.payload for s in system.state)

    def moves(self, state):
        """(values of every term, next state) for each input the assumptions allow."""
        for chosen in self.inputs:
            given = dict(zip([*self.state, *self.system.inputs], [*state, *chosen], strict=True))
            values = evaluate(self.system.roots(), given)
            if all(values[a.term] for a in self.system.assumptions):
                yield values, tuple(values[s.next] for s in self.system.state)

    def shortest_violation(self, claim):
        """The first step at which some run breaks the claim, or None."""
        seen, frontier, step = {self.initial}, [self.initial], 0
        while frontier:
            following = []
            for state in frontier:
                for values, after in self.moves(state):
                    if values[claim.term] is False:
                        return step
                    if after not in seen:
                        seen.add(after)
                        following.append(after)
            frontier, step = following, step + 1
        return None
