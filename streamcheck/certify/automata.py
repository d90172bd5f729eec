"""The checker's own reading of an automaton: arrays and structs taken apart, and its runs as runs of equations.

    I   the automaton is at its entry; its variables have any values
    T   one of the edges that leave the present location is taken: its guard holds, its updates happen
    P   it is not at the error

`place` is the present location. Which edge is taken, and what an edge chooses, are inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from streamcheck.certify.logic import choice
from streamcheck.certify.runs import Register, Runs, SpecificationRuns
from streamcheck.certify.scalars import Parts, take_apart
from streamcheck.core.term import FALSE, Term, variable
from streamcheck.core.types import BOOL
from streamcheck.problem.automaton import Automaton, Edge


def scalar_automaton(automaton: Automaton) -> Automaton:
    """The same edges, in the same order, over scalars."""
    parts: Parts = {}
    take_apart([*automaton.variables, *(t for e in automaton.edges for t in (*e.roots(), *e.choices))], parts)

    def apart(edge: Edge) -> Edge:
        updates = (pair for v, t in edge.updates for pair in zip(parts[v], parts[t], strict=True))
        choices = (part for c in edge.choices for part in parts[c])
        return replace(edge, guard=parts[edge.guard][0], updates=tuple(updates), choices=tuple(choices))

    variables = tuple(part for v in automaton.variables for part in parts[v])
    return replace(automaton, variables=variables, edges=tuple(map(apart, automaton.edges)))


def read_automaton(automaton: Automaton) -> SpecificationRuns:
    """The runs of an automaton over scalars."""
    widest = max((len(edges) for edges in automaton.edges_from.values()), default=0)
    taken = [variable(f"edge:{i}", BOOL) for i in range(widest - 1)]
    chosen = dict.fromkeys(c for e in automaton.edges for c in e.choices)

    def after(otherwise: Term, value: Callable[[Edge], Term]) -> Term:
        """The value that the taken edge gives, by the present location."""
        result = otherwise
        for location in automaton.locations:
            edges = automaton.edges_from[location]
            if edges:
                result = choice(automaton.at(location), _value_of_taken(edges, taken, value), result)
        return result

    place = automaton.place
    registers = [Register(place, automaton.code(automaton.entry), after(place, lambda e: automaton.code(e.target)))]
    for v in automaton.variables:
        registers.append(Register(v, None, after(v, lambda e, v=v: e.update.get(v, v))))  # type: ignore[misc]
    transition = after(FALSE, lambda e: e.guard)
    runs = Runs(tuple(registers), (*chosen, *taken), (), (), transition)
    return SpecificationRuns(runs, {str(r.var.payload): r.var for r in registers}, {})


def _value_of_taken(edges: Sequence[Edge], taken: Sequence[Term], value: Callable[[Edge], Term]) -> Term:
    result = value(edges[-1])
    for edge, selector in zip(reversed(edges[:-1]), reversed(taken[: len(edges) - 1]), strict=True):
        result = choice(selector, value(edge), result)
    return result
