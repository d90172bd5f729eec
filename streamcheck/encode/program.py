"""Automata as equations: the thesis' transition system of a control-flow automaton (section 3.3), in functional form.

    I = (at = entry)        T = ⋁ over edges (q, s, r):  at = q ∧ δ_s ∧ at' = r        P = (at ≠ error)

One cell says where the program is, and each variable is a cell that begins with any value. What an edge chooses, and
which of several open edges is taken, are inputs. Where no edge is open the program stands still, which reaches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamcheck.core.simplify import choice, conjunction, negation
from streamcheck.core.term import Term, constant, variables
from streamcheck.core.types import default
from streamcheck.encode.integers import Inexpressible, Integers
from streamcheck.encode.scalars import scalars
from streamcheck.program.equations import Cell, Equations, Input, Property
from streamcheck.system.cfa import Cfa, Edge, Program

__all__ = ["Inexpressible", "in_integers", "program_equations", "scalar"]


def program_equations(program: Program) -> Equations:
    cfa = program.blocks
    taken = {q: _taken(cfa, q) for q in cfa.locations}
    chosen = dict.fromkeys(v for e in cfa.edges for v in e.choices)
    inputs = [*chosen, *(v for q in cfa.locations for v in cfa.selectors(q))]
    cells = [Cell(cfa.place.payload, cfa.code(cfa.entry), _moved(cfa, taken), None)]
    for v in cfa.variables:
        cells.append(Cell(v.payload, constant(v.type, default(v.type)), _changed(cfa, taken, v), None, free=True))
    return Equations(
        cfa.name,
        tuple(Input(v.payload, v.type, False, "", "", None) for v in inputs),
        (),
        tuple(cells),
        (),
        (),
        (),
        tuple(Property(e.name, negation(cfa.at(e.location)), e.where, implied=e.implied) for e in cfa.errors),
        (),
        None,
        program=program,
    )


def _taken(cfa: Cfa, location: str) -> list[Term]:
    """For each edge that leaves: whether it is taken, given that no earlier one is."""
    edges, selectors = cfa.leaving[location], cfa.selectors(location)
    chosen = [conjunction(s, e.guard) for s, e in zip(selectors, edges, strict=False)]
    return chosen + [e.guard for e in edges[len(chosen) :]]


def _moved(cfa: Cfa, taken: dict[str, list[Term]]) -> Term:
    result = cfa.place
    for q in reversed(cfa.locations):
        if taken[q]:
            targets = [cfa.code(e.target) for e in cfa.leaving[q]]
            result = choice(cfa.at(q), _first(taken[q], targets, cfa.place), result)
    return result


def _changed(cfa: Cfa, taken: dict[str, list[Term]], v: Term) -> Term:
    result = v
    for q in reversed(cfa.locations):
        news = [e.update.get(v, v) for e in cfa.leaving[q]]
        if any(new is not v for new in news):
            result = choice(cfa.at(q), _first(taken[q], news, v), result)
    return result


def _first(conditions: Sequence[Term], values: Sequence[Term], otherwise: Term) -> Term:
    """The value of the first condition that holds."""
    result = otherwise
    for i in reversed(range(len(values))):
        complete = i == len(values) - 1 and i and negation(conditions[i]) in conditions[:i]
        result = values[i] if complete else choice(conditions[i], values[i], result)
    return result


def scalar(cfa: Cfa) -> Cfa:
    """Arrays and structs taken apart."""
    parts = scalars(cfa.variables)
    edges = []
    for edge in cfa.edges:
        scalars(edge.choices, parts)
        scalars(edge.roots(), parts)
        updates = [pair for v, t in edge.updates for pair in zip(parts[v], parts[t], strict=True)]
        choices = tuple(part for c in edge.choices for part in parts[c])
        edges.append(replace(edge, guard=parts[edge.guard][0], updates=tuple(updates), choices=choices))
    return replace(cfa, variables=tuple(part for v in cfa.variables for part in parts[v]), edges=tuple(edges))


def in_integers(cfa: Cfa) -> Cfa:
    """The same automaton over Int. Every variable an edge reads is in its range: part of the guard.
    Inexpressible where it has no such form."""
    m = Integers()
    edges = tuple(_edge_in_integers(e, m) for e in cfa.edges)
    return replace(cfa, variables=tuple(m.value(v) for v in cfa.variables), edges=edges)


def _edge_in_integers(edge: Edge, m: Integers) -> Edge:
    m.translate(edge.roots())
    ranges = [r.term for v in variables(edge.roots()) for r in m.ranges(v)]
    updates = tuple((m.value(v), m.value(t)) for v, t in edge.updates)
    choices = tuple(m.value(c) for c in edge.choices)
    return replace(edge, guard=conjunction(m.value(edge.guard), *ranges), updates=updates, choices=choices)
