"""Arrays and structs of an automaton taken apart."""

from __future__ import annotations

from dataclasses import replace

from streamcheck.problem.automaton import Automaton
from streamcheck.problem.verdict import Evidence
from streamcheck.transform.scalars import scalars


class ScalarAutomaton:
    """The automaton over scalars, with the same edges in the same order."""

    def __init__(self, automaton: Automaton) -> None:
        self.problem: Automaton = scalar(automaton)

    def back(self, evidence: Evidence) -> Evidence:
        """The same: evidence names parts of arrays and structs."""
        return evidence


def scalar(automaton: Automaton) -> Automaton:
    """Arrays and structs taken apart."""
    parts = scalars(automaton.variables)
    edges = []
    for edge in automaton.edges:
        scalars(edge.choices, parts)
        scalars(edge.roots(), parts)
        updates = [pair for v, t in edge.updates for pair in zip(parts[v], parts[t], strict=True)]
        choices = tuple(part for c in edge.choices for part in parts[c])
        edges.append(replace(edge, guard=parts[edge.guard][0], updates=tuple(updates), choices=choices))
    return replace(
        automaton, variables=tuple(part for v in automaton.variables for part in parts[v]), edges=tuple(edges)
    )
