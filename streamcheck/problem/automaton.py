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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Literal

from streamcheck.core.location import Location
from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable, walk
from streamcheck.core.types import BOOL, INT, MachineType, Value, machine
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim


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

    `integers` and `function` record how code was read: with C's integers or mathematical ones, and which function.
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
    predicates: tuple[Term, ...] = ()
    warnings: tuple[str, ...] = ()  # of the reader, for the user

    def __post_init__(self) -> None:
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
            Claim(e.name, negation(self.at(e.location)), e.where, origin=IMPLIED if e.implied else WRITTEN)
            for e in self.errors
        )

    def selectors(self, location: str) -> tuple[Term, ...]:
        """Bool inputs of the transition system that choose among the location's edges, if several may be open at
        once: the first edge whose input is true and whose guard holds, else the last."""
        return self._selectors[location]

    @cached_property
    def _selectors(self) -> Mapping[str, tuple[Term, ...]]:
        selectors: dict[str, tuple[Term, ...]] = {}
        for name, edges in self.edges_from.items():
            count = 0 if exclusive([e.guard for e in edges]) else len(edges) - 1
            selectors[name] = tuple(variable(f"take:{i}@{name}", BOOL) for i in range(count))
        return selectors


def exclusive(guards: Sequence[Term]) -> bool:
    """True if any two of the guards contradict each other syntactically: a conjunct of one negates one of the other."""
    parts = [frozenset(conjuncts(g)) for g in guards if g is not FALSE]
    denied = [_contradictions(known) for known in parts]
    return all(
        _contradicts(denied[i], parts[j]) or _contradicts(denied[j], parts[i])
        for i, j in combinations(range(len(parts)), 2)
    )


def _contradictions(parts: Iterable[Term]) -> dict[Term, list[list[Term]]]:
    """The conditions that together contradict the parts, indexed by the first of them."""
    contradictions: dict[Term, list[list[Term]]] = {}
    for part in parts:
        first, *rest = conjuncts(negation(part)) or [TRUE]
        contradictions.setdefault(first, []).append(rest)
    return contradictions


def _contradicts(denied: Mapping[Term, list[list[Term]]], parts: frozenset[Term]) -> bool:
    return any(parts.issuperset(rest) for first in parts.intersection(denied) for rest in denied[first])


def decider(a: Term, b: Term) -> Term | None:
    """A condition that guard `a` implies and guard `b` excludes. None if their conjuncts show none."""
    for ours, theirs, swapped in ((conjuncts(a), conjuncts(b), False), (conjuncts(b), conjuncts(a), True)):
        known = set(ours)
        for part in theirs:
            opposite = negation(part)
            if known.issuperset(conjuncts(opposite)):
                return part if swapped else opposite
    return None


def conjuncts(a: Term) -> list[Term]:
    """The operands of nested conjunctions (and of negated disjunctions), in order; none of what is always true."""
    parts: dict[Term, None] = {}
    stack = [a]
    while stack:
        node = stack.pop()
        inner = node.args[0] if node.op == "not" else node
        if node.op == "and":
            stack.extend(reversed(node.args))
        elif inner is not node and inner.op == "or":
            stack.extend(negation(a) for a in reversed(inner.args))
        elif node is not TRUE:
            parts[node] = None
    return list(parts)


def disjuncts(a: Term) -> list[Term]:
    """The operands of nested disjunctions; none of what is never true."""
    return [negation(part) for part in conjuncts(negation(a))]


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
