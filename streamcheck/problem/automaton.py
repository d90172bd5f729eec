"""Control-flow automata: programs as locations and edges between them.

A configuration is a location and a value for every variable. A run begins at the entry with any values, and follows
edges: one may be taken if its guard is true, and then its updates happen all at once; what is not updated stays.
`choices` of an edge stand for any values whenever it is taken: what `havoc x`, an unknown input or `if (*)` choose.
Only edges that leave one location may have a choice in common.

    skip        Edge(q, r)
    guard       Edge(q, r, guard=…)
    x := t      Edge(q, r, guard=side conditions of t, updates=((x, t),))
    havoc x     Edge(q, r, updates=((x, any),), choices=(any,))

These are the statements of [Penelle, section 3.2] and of [Tegzes, section 2.2.3]; guard and updates
together are what a block of statements becomes (large-block encoding). Nothing leaves an error location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from streamcheck.core.location import Location
from streamcheck.core.term import TRUE, Term, constant, term, variable, walk
from streamcheck.core.types import BOOL, INT, MachineType, Value, machine
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim
from streamcheck.problem.names import require_printable


@dataclass(frozen=True)
class Edge:
    """One statement, or a block of them. `text` is the statement in the source, `where` its line."""

    source: str
    target: str
    guard: Term = TRUE
    updates: tuple[tuple[Term, Term], ...] = ()
    choices: tuple[Term, ...] = ()
    text: str = "skip"
    where: Location | None = None

    @cached_property
    def update(self) -> Mapping[Term, Term]:
        return dict(self.updates)

    def roots(self) -> Iterator[Term]:
        yield self.guard
        yield from (new for _, new in self.updates)


@dataclass(frozen=True, slots=True)
class Limit:
    """The end of what an automaton models: a run that gets there goes on in the program, and how is not known."""

    reason: str
    hidden: tuple[str, ...]  # the names of the claims that may fail after it


@dataclass(frozen=True, slots=True)
class Error:
    """A location that no run should reach, and the name of that claim. `implied`: the user did not write it, an
    operation with a condition did (division, index, shift, overflow). `limit`: the program may go on from there, but
    the automaton does not, so reaching it breaks nothing."""

    location: str
    name: str
    where: Location | None
    implied: bool = False
    limit: Limit | None = None


@dataclass(frozen=True)
class Automaton:
    """`lines`: the line at which the code of a location begins, if it has one. `loops`: the locations at which a loop
    of the source begins. `source_names`: C identifiers that are names here too, each with the place of its declaration.

    `integers` and `function` record how code was read: with C's integers or mathematical ones, and which function;
    `data_model` has the sizes of C's types, and `linked` are the further files, from the folder of the first.
    `predicates` are conditions that the user gave to the engines."""

    name: str
    variables: tuple[Term, ...]
    locations: tuple[str, ...]
    entry: str
    errors: tuple[Error, ...]
    edges: tuple[Edge, ...]
    lines: Mapping[str, Location] = field(default_factory=dict)
    loops: frozenset[str] = frozenset()
    source_names: Mapping[str, Location] = field(default_factory=dict)
    integers: Literal["c", "math"] = "c"
    function: str | None = None
    data_model: str = "LP64"
    linked: tuple[str, ...] = ()
    predicates: tuple[Term, ...] = ()
    warnings: tuple[str, ...] = ()  # of the reader, for the user

    def __post_init__(self) -> None:
        require_printable([(e.name, e.where) for e in self.errors])
        names = [self.name, *self.locations, *(str(v.payload) for v in self.variables)]
        require_printable([(name, None) for name in names])
        places, bad = set(self.locations), {e.location for e in self.errors}
        if len(places) != len(self.locations) or not {self.entry, *bad} <= places:
            raise ValueError(f"{self.name}: its locations are not what entry and errors say")
        if len({e.name for e in self.errors}) != len(self.errors):
            raise ValueError(f"{self.name}: two claims of one name")
        known, chosen = set(self.variables), dict[Term, str]()
        done: dict[tuple[Term, ...], set[Term]] = {}  # what was walked, for edges with the same choices
        for edge in self.edges:
            if not {edge.source, edge.target} <= places or edge.source in bad:
                raise ValueError(f"{self.name}: an edge from {edge.source} to {edge.target}")
            if edge.guard.type is not BOOL or any(v not in known or v.type is not t.type for v, t in edge.updates):
                raise ValueError(f"{self.name}: {edge.text} is ill-typed")
            if any(c in known or chosen.setdefault(c, edge.source) != edge.source for c in edge.choices):
                raise ValueError(f"{self.name}: a choice of {edge.text} has another's name")
            new = walk(edge.roots(), done.setdefault(edge.choices, set()))
            stray = [v.payload for v in new if v.op == "var" and v not in known and v not in edge.choices]
            if stray:
                raise ValueError(f"{self.name}: {edge.text} reads undeclared {', '.join(map(str, stray))}")

    def roots(self) -> Iterator[Term]:
        """The terms of all edges."""
        for edge in self.edges:
            yield from edge.roots()

    @cached_property
    def edges_from(self) -> Mapping[str, tuple[Edge, ...]]:
        return self._by("source")

    @cached_property
    def edges_to(self) -> Mapping[str, tuple[Edge, ...]]:
        return self._by("target")

    def _by(self, end: str) -> Mapping[str, tuple[Edge, ...]]:
        edges_at: dict[str, list[Edge]] = {name: [] for name in self.locations}
        for edge in self.edges:
            edges_at[getattr(edge, end)].append(edge)
        return {name: tuple(edges) for name, edges in edges_at.items()}

    def leading_to(self, places: Iterable[str]) -> set[str]:
        """The locations from which edges lead to one of these, and these."""
        return _closure(places, lambda place: (edge.source for edge in self.edges_to[place]))

    def reached_from(self, places: Iterable[str]) -> set[str]:
        """The locations to which edges lead from one of these, and these."""
        return _closure(places, lambda place: (edge.target for edge in self.edges_from[place]))

    @cached_property
    def bad(self) -> frozenset[str]:
        return frozenset(e.location for e in self.errors)

    @cached_property
    def place(self) -> Term:
        """The variable for the present location, in the transition system of the automaton."""
        machine_like = any(isinstance(v.type, MachineType) for v in self.variables)
        return variable("location:", machine(32, signed=False) if machine_like else INT)

    def at(self, location: str) -> Term:
        """The condition that the program is at the location."""
        return term("eq", self.place, self.code(location))

    def code(self, location: str) -> Term:
        return constant(self.place.type, self._codes[location])

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.locations)}

    @cached_property
    def properties(self) -> tuple[Claim, ...]:
        """For each error, the claim that no run gets there."""
        return tuple(
            Claim(
                e.name, term("ne", self.place, self.code(e.location)), e.where, origin=IMPLIED if e.implied else WRITTEN
            )
            for e in self.errors
        )


@dataclass(frozen=True, slots=True)
class Executed:
    """A statement of a run, and the variables after it."""

    edge: Edge
    values: Mapping[Term, Value]  # those that are known: many rounds may leave some open


@dataclass(frozen=True, slots=True)
class Repeated:
    """Statements of a run that were executed again, so many times, and the variables after that."""

    edges: tuple[Edge, ...]
    times: int
    values: Mapping[Term, Value]


def _closure(start: Iterable[str], following: Callable[[str], Iterable[str]]) -> set[str]:
    reached = set(start)
    stack = list(reached)
    while stack:
        for place in following(stack.pop()):
            if place not in reached:
                reached.add(place)
                stack.append(place)
    return reached
