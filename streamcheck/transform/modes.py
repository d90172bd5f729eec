"""An automaton with a location for each combination of its modes.

Modes are variables that are only ever given constants, or copies of such: states of threads, flags, the place at which
a function goes on. They are followed exactly, location by location, with all others left open: explicit-value analysis
[BL13]. What remains are the locations and modes that the control flow alone can reach, with every test of a known mode
decided; engines then find what holds of the data at each of them, which is often simple.

A mode that will not be read again is forgotten, so locations do not differ by it. Where loops meet, each location of
the program as it is has a condition: it is in one of its modes, with what was shown there.

Limits: so many modes together that there are too many locations (`NoModes`); proofs over several steps have no way
back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from streamcheck.core.simplify import conjunction, disjunction, instantiate
from streamcheck.core.term import FALSE, Term, substitute, term, variable, variables
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
from streamcheck.transform.blocks import LargeBlocks

KnownModes: TypeAlias = frozenset[tuple[Term, Term]]  # modes, and the constants that they are
FEWEST = 4  # modes; with fewer, other engines find them by themselves
MOST_PER_LOCATION = 60  # combinations, on average
MOST_PLACES = 10_000


class NoModes(Exception):
    """The automaton has too few modes, or too many combinations of them."""


@dataclass(frozen=True, slots=True)
class InMode:
    """A location with the modes that are known there."""

    location: str
    known: KnownModes


class Modes:
    """The automaton in its modes, in large blocks. NoModes if it has none worth the while."""

    def __init__(self, automaton: Automaton) -> None:
        self.source = automaton
        unfolding = _Unfolding(automaton)
        self._modes, self._numbers, self._choices = unfolding.places, unfolding.numbers, unfolding.choices
        unfolded = unfolding.result()
        places = {q for q in LargeBlocks(automaton).problem.locations if q not in automaton.bad}
        while True:
            kept = {name for name, mode in self._modes.items() if mode.location in places}
            self._blocks = LargeBlocks(unfolded, kept)
            left = {self._modes[name].location for name in self._blocks.problem.locations if name in self._modes}
            if left <= places:
                break
            places |= left
        self._places = places
        self.problem: Automaton = self._blocks.problem

    def back(self, evidence: Evidence) -> Evidence:
        """Each location's modes with their invariants; a path of the statements themselves."""
        match evidence:
            case LocationInvariants(at, rounds=1):
                return self._invariants(at)
            case LocationInvariants():
                raise Unmappable("its rounds are those of loops through modes")
            case EdgePath():
                return self._path(self._blocks.back(evidence))
            case BlockCertificate():
                raise Unmappable("a proof over several steps of the program in its modes")
            case Certificate() | Trace():
                return evidence
        assert_never(evidence)

    def _invariants(self, at: Iterable[tuple[str, Term]]) -> LocationInvariants:
        cases: dict[str, list[Term]] = {q: [] for q in self.source.locations if q in self._places}
        for name, invariant in at:
            mode = self._modes[name]
            known = (term("same", v, value) for v, value in sorted(mode.known, key=_name_of))
            cases[mode.location].append(conjunction(*known, invariant))
        return LocationInvariants(tuple((q, disjunction(*those)) for q, those in cases.items()))

    def _path(self, evidence: Evidence) -> EdgePath:
        assert isinstance(evidence, EdgePath)
        edges = []
        for number, given in evidence.edges:
            names = self._choices[number]
            edges.append((self._numbers[number], {names.get(name, name): value for name, value in given.items()}))
        return replace(evidence, edges=tuple(edges))


def _name_of(pair: tuple[Term, Term]) -> str:
    return str(pair[0].payload)


@dataclass(slots=True)
class _Unfolding:
    """The edges between locations in their modes, followed from the entry."""

    automaton: Automaton
    places: dict[str, InMode] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)  # of each edge, in the automaton
    choices: list[dict[str, str]] = field(default_factory=list)  # names in the automaton, by the new ones
    _names: dict[InMode, str] = field(default_factory=dict)
    _edges: list[Edge] = field(default_factory=list)

    def __post_init__(self) -> None:
        modes = modes_of(self.automaton)
        if len(modes) < FEWEST:
            raise NoModes
        live = _live_at(self.automaton, modes)
        numbers = {id(e): i for i, e in enumerate(self.automaton.edges)}
        read = [[v for v in variables(e.roots()) if v in modes] for e in self.automaton.edges]
        images: dict[tuple[int, tuple[Term | None, ...]], tuple[Term, list[tuple[Term, Term]]]] = {}
        pending = deque([InMode(self.automaton.entry, frozenset())])
        self._name(pending[0])
        most = min(MOST_PLACES, MOST_PER_LOCATION * len(self.automaton.locations))
        while pending:
            here = pending.popleft()
            known = dict(here.known)
            for edge in self.automaton.edges_from[here.location]:
                number = numbers[id(edge)]
                key = number, tuple(known.get(v) for v in read[number])
                if key not in images:
                    found = instantiate([*edge.roots()], {v: known[v] for v in read[number] if v in known})
                    images[key] = found[edge.guard], [(v, found[t]) for v, t in edge.updates]
                guard, updates = images[key]
                if guard is FALSE:
                    continue
                after = known | {v: t for v, t in updates if v in modes}
                lasting = live[edge.target]
                kept = frozenset((v, value) for v, value in after.items() if value.is_const and v in lasting)
                target = InMode(edge.target, kept)
                if edge.target not in self.automaton.bad and target not in self._names:
                    self._name(target)
                    pending.append(target)
                self._follow(edge, number, here, target, guard, updates)
            if len(self.places) > most:
                raise NoModes
        if len(self.places) <= len(self.automaton.locations):
            raise NoModes

    def result(self) -> Automaton:
        source, bad = self.automaton, self.automaton.bad
        lines = {name: source.lines[m.location] for name, m in self.places.items() if m.location in source.lines}
        return replace(
            source,
            locations=(*self.places, *(q for q in source.locations if q in bad)),
            edges=tuple(self._edges),
            lines={**lines, **{q: line for q, line in source.lines.items() if q in bad}},
            loops=frozenset(name for name, m in self.places.items() if m.location in source.loops),
        )

    def _name(self, mode: InMode) -> None:
        is_entry = mode.location == self.automaton.entry and not mode.known
        name = mode.location if is_entry else f"{mode.location} in mode {len(self.places)}"
        self._names[mode], self.places[name] = name, mode

    def _follow(
        self, edge: Edge, number: int, here: InMode, target: InMode, guard: Term, updates: list[tuple[Term, Term]]
    ) -> None:
        """An edge. Only edges that leave one location may have a choice in common, so choices have names of their
        own."""
        source = self._names[here]
        own = {c: variable(f"{c.payload}, {source}", c.type) for c in edge.choices}
        if own:
            images = substitute([guard, *(t for _, t in updates)], own)
            guard, updates = images[guard], [(v, images[t]) for v, t in updates]
        name = edge.target if edge.target in self.automaton.bad else self._names[target]
        changed = replace(
            edge, source=source, target=name, guard=guard, updates=tuple(updates), choices=tuple(own.values())
        )
        self._edges.append(changed)
        self.numbers.append(number)
        self.choices.append({str(new.payload): str(c.payload) for c, new in own.items()})


def modes_of(automaton: Automaton) -> set[Term]:
    """The variables that are given constants, copies of such variables, and any values, but nothing else."""
    given: dict[Term, list[tuple[Term, Edge]]] = {}
    for edge in automaton.edges:
        for v, t in edge.updates:
            given.setdefault(v, []).append((t, edge))
    modes = {v for v in given if v.type.kind != "float"}
    while True:
        wrong = {v for v in modes if not all(_is_copy(t, edge, modes) for t, edge in given[v])}
        if not wrong:
            return modes
        modes -= wrong


def _is_copy(value: Term, edge: Edge, modes: Set[Term]) -> bool:
    """Nothing here recurses: what is read of an array is a choice of all its elements."""
    pending, seen = [value], {value}
    while pending:
        node = pending.pop()
        if node.op == "mux":
            new = [part for part in node.args[1:] if part not in seen]
            pending += new
            seen.update(new)
        elif not (node.is_const or node in modes or node in edge.choices):
            return False
    return True


def _live_at(automaton: Automaton, modes: Set[Term]) -> Mapping[str, Set[Term]]:
    """The modes that matter at each location: some path reads them before it gives them another value."""
    live: dict[str, set[Term]] = {q: set() for q in automaton.locations}
    guards = [{*variables([e.guard])} & modes for e in automaton.edges]
    sources = [{v: {*variables([t])} & modes for v, t in e.updates} for e in automaton.edges]
    changed = True
    while changed:
        changed = False
        for edge, guard, source in zip(reversed(automaton.edges), reversed(guards), reversed(sources), strict=True):
            after = live[edge.target]
            needed = guard | {v for v in after if v not in source}
            needed = needed.union(*(read for v, read in source.items() if v in after or v not in modes))
            if not needed <= live[edge.source]:
                live[edge.source] |= needed
                changed = True
    return live
