"""Slicing: an automaton without the parts that no error depends on.

Locations that no path from the entry to an error visits go, and variables that no guard reads, directly or through
others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import assert_never

from streamcheck.core.simplify import simplify
from streamcheck.core.term import FALSE, Term, variables, walk_cone
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.verdict import (
    BlockCertificate,
    Certificate,
    EdgePath,
    Evidence,
    LocationInvariants,
    Trace,
    Unmappable,
)
from streamcheck.transform.reducible import is_reducible


class Slicing:
    """The sliced automaton. `numbers` are those that its edges have in the whole one."""

    def __init__(self, automaton: Automaton) -> None:
        self.statements = automaton
        self.problem, self.numbers = _slice(automaton)

    def back(self, evidence: Evidence) -> Evidence:
        """A path with the edges' own numbers; certificates hold as they are. Of rounds there may be more if a loop of
        the statements has another entry, of which the slices or the blocks found that no run takes it, or if a loop has
        gone with an error that it leads to."""
        match evidence:
            case LocationInvariants(rounds=rounds) if rounds > 1 and not self._has_the_rounds:
                raise Unmappable("the loops of the statements have other entries, or are more")
            case EdgePath():
                edges = tuple((self.numbers[number], chosen) for number, chosen in evidence.edges)
                return replace(evidence, edges=edges)
            case Certificate() | LocationInvariants() | BlockCertificate() | Trace():
                return evidence
        assert_never(evidence)

    @cached_property
    def _has_the_rounds(self) -> bool:
        """True if the loops on the way to errors are entered at one location each, and all are in the slices."""
        useful = self.statements.leading_to(self.statements.bad) & self.statements.reached_from([self.statements.entry])
        edges = tuple(e for e in self.statements.edges if {e.source, e.target} <= useful)
        return useful <= {*self.problem.locations} and is_reducible(replace(self.statements, edges=edges))


def _slice(automaton: Automaton) -> tuple[Automaton, tuple[int, ...]]:
    numbered = [(i, e) for i, e in enumerate(map(simplify_edge, automaton.edges)) if e.guard is not FALSE]
    whole = len(numbered) == len(automaton.edges)
    feasible = automaton if whole else replace(automaton, edges=tuple(e for _, e in numbered))
    after, before = feasible.reached_from([automaton.entry]), feasible.leading_to(automaton.bad)
    numbered = [(i, e) for i, e in numbered if e.source in after and e.target in before]
    read = read_by(e for _, e in numbered)
    kept = [replace(e, updates=tuple((v, t) for v, t in e.updates if v in read)) for _, e in numbered]
    visited = (after & before) | {automaton.entry} | automaton.bad
    smaller = replace(
        automaton,
        variables=tuple(v for v in automaton.variables if v in read),
        locations=tuple(q for q in automaton.locations if q in visited),
        edges=tuple(replace(e, choices=used_choices(e)) for e in kept),
    )
    return smaller, tuple(i for i, _ in numbered)


def simplify_edge(edge: Edge) -> Edge:
    simple = simplify(edge.roots())
    updates = ((v, simple[t]) for v, t in edge.updates)
    return replace(edge, guard=simple[edge.guard], updates=tuple((v, t) for v, t in updates if t is not v))


def used_choices(edge: Edge) -> tuple[Term, ...]:
    read = set(variables(edge.roots()))
    return tuple(c for c in edge.choices if c in read)


def read_by(edges: Iterable[Edge]) -> set[Term]:
    """The variables that guards depend on."""
    edges = list(edges)
    written: dict[Term, list[Term]] = {}
    for edge in edges:
        for v, t in edge.updates:
            written.setdefault(v, []).append(t)
    return {node for node in walk_cone([e.guard for e in edges], written) if node.op == "var"}
