"""Collapses skip edges that the translation of statements leaves behind. Skips that are choices stay."""

from __future__ import annotations

from dataclasses import replace

from streamcheck.core.term import TRUE
from streamcheck.problem.automaton import Automaton, Edge


def is_skip(edge: Edge) -> bool:
    return edge.guard is TRUE and not edge.updates and not edge.choices


def collapse_skips(automaton: Automaton) -> Automaton:
    """The automaton with two locations merged if a skip edge between them is the only way on from the first, or
    the only way to the second. If neither holds (`if (*)` without an else), the skip is kept: it is a choice."""
    merged = _Merged(automaton)
    waiting = [e for e in automaton.edges if is_skip(e)]
    while waiting:
        kept = [e for e in waiting if not merged.merge(e)]
        if len(kept) == len(waiting):
            break
        waiting = kept
    return merged.result()


class _Merged:
    """Union-find over locations, with how many edges leave and enter each class."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.parent = {name: name for name in automaton.locations}
        self.leaving: dict[str, int] = dict.fromkeys(automaton.locations, 0)
        self.entering: dict[str, int] = dict.fromkeys(automaton.locations, 0)
        self.entering[automaton.entry] += 1  # a run may begin there
        for edge in automaton.edges:
            self.leaving[edge.source] += 1
            self.entering[edge.target] += 1
        self.gone: set[int] = set()

    def find(self, name: str) -> str:
        while self.parent[name] != name:
            self.parent[name] = self.parent[self.parent[name]]
            name = self.parent[name]
        return name

    def merge(self, edge: Edge) -> bool:
        a, b = self.find(edge.source), self.find(edge.target)
        if a == b:
            return False
        forward = self.leaving[a] == 1
        if not forward and (self.entering[b] != 1 or b in self.automaton.bad):
            return False
        gone, stays = (a, b) if forward else (b, a)
        self.parent[gone] = stays
        self.leaving[stays] = self.leaving[a] + self.leaving[b] - 1
        self.entering[stays] = self.entering[a] + self.entering[b] - 1
        self.gone.add(id(edge))
        return True

    def result(self) -> Automaton:
        automaton, find = self.automaton, self.find
        edges = tuple(
            replace(e, source=find(e.source), target=find(e.target)) for e in automaton.edges if id(e) not in self.gone
        )
        return replace(
            automaton,
            locations=tuple(name for name in automaton.locations if find(name) == name),
            entry=find(automaton.entry),
            edges=edges,
            lines={name: where for name, where in automaton.lines.items() if find(name) == name},
            loops=frozenset(find(name) for name in automaton.loops),
        )


def reachable(automaton: Automaton) -> Automaton:
    """Without the locations that no path from the entry leads to. Claims stay, and with them their locations."""
    reached = automaton.reached_from([automaton.entry])
    kept = reached | automaton.bad
    return replace(
        automaton,
        locations=tuple(name for name in automaton.locations if name in kept),
        edges=tuple(e for e in automaton.edges if e.source in reached),
        lines={name: where for name, where in automaton.lines.items() if name in kept},
        loops=automaton.loops & kept,
    )
