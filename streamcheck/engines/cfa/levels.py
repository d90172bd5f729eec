"""Automata for property directed reachability: their places and levels.

Every edge is a level [Werner, Alg. 2], or only those that close a loop, so that what happens between two turns
of a loop is one level, however long it is. Edges to an error are none.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamcheck.core.term import FALSE, TRUE
from streamcheck.engines.cfa.preimages import EdgeTransition, Literals
from streamcheck.engines.ic3.space import NEVER, StateSpace
from streamcheck.problem.automaton import Automaton, Edge


def space_of_program(program: Automaton, *, turns: bool) -> StateSpace:
    """The automaton as places and transitions. `turns`: a level is a turn of a loop, not an edge."""
    literals, costs = Literals(), _costs(program, turns=turns)
    entering = {
        name: tuple(EdgeTransition(edge, literals, costs[edge]) for edge in edges)
        for name, edges in program.edges_to.items()
    }
    initial = {name: TRUE if name == program.entry else FALSE for name in program.locations}
    first = _first(program, costs) if turns else dict.fromkeys(program.locations, 1)
    return StateSpace(entering, initial, {**first, program.entry: NEVER}, program.bad)


def _costs(program: Automaton, *, turns: bool) -> dict[Edge, int]:
    """1 for the edges that are a level. If those that lead back to a location on the way to them are, the others form
    no circle."""
    if not turns:
        return {edge: int(edge.target not in program.bad) for edge in program.edges}
    costs = dict.fromkeys(program.edges, 0)
    done, way = set[str](), {program.entry: iter(program.edges_from[program.entry])}
    while way:
        at, edges = next(reversed(way.items()))
        for edge in edges:
            if edge.target in way:
                costs[edge] = 1
            elif edge.target not in done:
                way[edge.target] = iter(program.edges_from[edge.target])
                break
        else:
            done.add(at)
            del way[at]
    return costs


def _first(program: Automaton, costs: Mapping[Edge, int]) -> dict[str, int]:
    """The number of levels to each location."""
    first = dict.fromkeys(program.locations, NEVER)
    nearest, later = [program.entry], list[str]()
    level = 0
    while nearest:
        at = nearest.pop()
        if first[at] == NEVER:
            first[at] = level
            for edge in program.edges_from[at]:
                (later if costs[edge] else nearest).append(edge.target)
        if not nearest:
            nearest, later, level = later, [], level + 1
    return first
