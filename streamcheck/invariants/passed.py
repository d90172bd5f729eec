"""Invariants about every element of an array that a loop has passed.

Over the cells of a program's arrays (`transform.cells`), every element has a witness k that never changes, and a loop
that goes through the array compares its index with k. What the loop writes, and what the program claims, holds of the
cell at k once the index has passed it:

    at a location  ∧  k < i                           =>  a[k] == t       where the loop has  a[i] = t
    at a location  ∧  (k1 < i  |  k1 == i & k2 < j)   =>  a[k1][k2] <= m  where the program claims  a[i][j] <= m

These are the candidates, with the other orders of k and i, without the condition, and with the comparisons of the
program beside them. They are kept as far as they are inductive together (`houdini`).

What holds of every k holds of the element that an edge reads at p, too: with p for k, and what is read for the cell.
Each candidate comes with these instances of itself in a second round. The checker takes the same ones.

Decides: what loops over arrays establish for each element: initial values, copies, bounds, maxima.
Limits: conditions that the program does not write down.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.simplify import conjunction, disjunction, implication, instantiate, negation
from streamcheck.core.term import FALSE, TRUE, Term, term, variables, walk
from streamcheck.core.types import BOOL
from streamcheck.engines.protocol import PROGRAMS_ONLY, Event, Inbox, Invariants, Progress, Task, Waiting
from streamcheck.invariants.houdini import GaveUp, Houdini
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Proved, Unknown

NO_CELLS = "only for arrays by a few of their cells"
MOST_CONDITIONS = 24  # about elements
MOST_COMPARISONS = 40
MOST_ORDERS = 24
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")

Passing = tuple[tuple[Term, Term], ...]  # an index of the program and the witness it is compared with, by dimension


class PassedElements:
    name: ClassVar[str] = "elements"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system, program = problem.system, problem.program
        if program is None or program.place not in {s.var for s in system.state}:
            yield from (Unknown(p.name, PROGRAMS_ONLY) for p in system.properties)
            return
        if not any(map(is_cell, program.variables)):
            yield from (Unknown(p.name, NO_CELLS) for p in system.properties)
            return
        state = {s.var for s in system.state}
        claims = {p.name: p.term for p in system.properties}
        known = {*state, *system.inputs}
        found = [c for c in candidates(program, system) if state.issuperset(variables([c]))]
        houdini = Houdini(system, problem.patience)
        for attempt in range(1 << 30):
            try:
                alive = houdini.inductive([*claims.values(), *found])
                proved = {name: [claim] for name, claim in claims.items() if claim in alive}
                parts = houdini.parts_with(proved, alive)
            except GaveUp as why:
                yield from (Unknown(name, str(why)) for name in claims)
                return
            for names, core in parts:
                certificate = Certificate("inductive", 1, tuple(core))
                yield from (Proved(name, certificate) for name in names)
            claims = {name: claim for name, claim in claims.items() if name not in proved}
            if alive and not attempt:
                yield Invariants(Certificate("inductive", 1, tuple(alive)))
            yield Progress(attempt)
            if not claims:
                return
            if not attempt:
                for candidate, about in _Instances(program).of(found):
                    houdini.assume_with(candidate, [t for t in about if known.issuperset(variables([t]))])
                continue
            while not (shared := [t for t in _invariants(inbox) if known.issuperset(variables([t]))]):
                yield Waiting()
            found += shared  # as candidates: a certificate has to contain what it needs


def _invariants(inbox: Inbox) -> list[Term]:
    return [t for fact in inbox() if isinstance(fact, Invariants) for t in fact.certificate.invariants]


def candidates(program: Automaton, system: TransitionSystem) -> list[Term]:
    """Conditions about elements, at each location, once a loop has passed them or anyhow; and comparisons."""
    found = _WitnessConditions(program, {atom for a in system.assumptions for atom in _atoms(a.term)})
    for edge in program.edges:
        found.read(edge)
    places = [q for q in program.locations if q not in program.bad and q != program.entry]
    facts = [implication(order, c) for c in found.about_elements for order in (TRUE, *found.orders)]
    facts += found.comparisons
    return [implication(program.at(q), fact) for q in places for fact in facts if fact is not TRUE]


@dataclass(slots=True)
class _WitnessConditions:
    """The conditions about witnesses in the edges of a program."""

    program: Automaton
    assumed: set[Term]  # comparisons that say nothing
    frozen: set[Term] = field(init=False)
    passings: dict[Passing, None] = field(default_factory=dict)
    _elements: dict[Term, None] = field(default_factory=dict)
    _comparisons: dict[Term, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frozen = frozen_variables(self.program)

    @property
    def about_elements(self) -> list[Term]:
        return list(self._elements)[:MOST_CONDITIONS]

    @property
    def comparisons(self) -> list[Term]:
        return list(self._comparisons)[:MOST_COMPARISONS]

    def read(self, edge: Edge) -> None:
        chosen = set(edge.choices)
        equal = [part for part in conjuncts(edge.guard) if self._pair_in(part)]
        for v, t in edge.updates:
            for node in walk([t]):
                if node.op == "mux" and all(map(self._pair_in, conjuncts(node.args[0]))):
                    passing = self._add(conjuncts(node.args[0]), chosen)
                    (value,) = self._there([node.args[1]], passing)
                    if value.type is v.type and chosen.isdisjoint(variables([value])):
                        self._elements[term("same" if v.type.kind == "float" else "eq", v, value)] = None
        passing = self._add(equal, chosen)
        for atom in dict.fromkeys(atom for part in conjuncts(edge.guard) for atom in _atoms(part)):
            (there,) = self._there([atom], passing)
            read = variables([there])
            if atom in self.assumed or not chosen.isdisjoint(read) or self.frozen.issuperset(read):
                continue
            if any(map(is_cell, read)):
                self._elements |= dict.fromkeys([negation(there), there])
            elif self.frozen.isdisjoint(read) and atom is there:
                self._comparisons |= dict.fromkeys(_around(atom))

    @property
    def orders(self) -> list[Term]:
        """Conditions for the witnesses to be passed, or not to be reached yet."""
        found: dict[Term, None] = {}
        for passing in dict.fromkeys(p[:n] for p in self.passings for n in range(1, len(p) + 1)):
            before = after = FALSE
            for i, k in reversed(passing):
                before = disjunction(term("lt", k, i), conjunction(term("eq", k, i), before))
                after = disjunction(term("gt", k, i), conjunction(term("eq", k, i), after))
            found |= dict.fromkeys([before, after, conjunction(*(term("eq", k, i) for i, k in passing))])
        single = [dict.fromkeys(p[0] for p in self.passings if len(p) == 1)]
        for (i, k), (j, other) in product(*single, *single):
            if i is j and k is not other:
                found[conjunction(term("lt", k, i), term("lt", other, i))] = None
        return list(found)[:MOST_ORDERS]

    def _pair_in(self, part: Term) -> tuple[Term, Term] | None:
        return _pair(part, self.frozen)

    def _add(self, parts: Sequence[Term], chosen: set[Term]) -> Passing:
        passing = tuple(p for part in parts if (p := self._pair_in(part)) and chosen.isdisjoint(variables([p[0]])))
        if passing:
            self.passings[passing] = None
        return passing

    def _there(self, terms: Iterable[Term], passing: Passing) -> list[Term]:
        """The terms when the indexes are the witnesses."""
        terms = list(terms)
        same = {term("eq", *pair): TRUE for i, k in passing for pair in ((i, k), (k, i))}
        images = instantiate(terms, same)
        moved = {i: k for i, k in passing if i.op == "var" and i.type is k.type}
        return [instantiate([images[t]], moved)[images[t]] for t in terms]


@dataclass(slots=True)
class _Instances:
    """Instances of invariants about all witnesses, for the elements that edges read."""

    program: Automaton
    # Each has its location, the condition for the place to be in the array, the place, and the cells.
    reads: list[tuple[str, Term, Passing, dict[Term, Term]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        frozen = frozen_variables(self.program)
        for edge in self.program.edges:
            places: dict[Passing, dict[Term, Term]] = {}
            for node in walk(edge.roots()):
                if node.op != "mux" or node.args[1].op != "var":
                    continue
                pairs = [_pair(part, frozen) for part in conjuncts(node.args[0])]
                passing = tuple(p for p in pairs if p is not None and p[0].type is p[1].type)
                if len(passing) == len(pairs) and any(c in edge.choices for c in variables([node.args[2]])):
                    places.setdefault(passing, {})[node.args[1]] = node
            ranges = [part for part in conjuncts(edge.guard) if frozen.issuperset(variables([part]))]
            for passing, cells in places.items():
                at = {k: p for p, k in passing}
                inside = [part for part in ranges if not at.keys().isdisjoint(variables([part]))]
                within = conjunction(*(instantiate([part], at)[part] for part in inside))
                self.reads.append((edge.source, within, passing, cells))

    def of(self, candidates: Sequence[Term]) -> Iterator[tuple[Term, list[Term]]]:
        """The candidates that are about an element, with their instances."""
        for candidate in candidates:
            about, found = set(variables([candidate])), list[Term]()
            for location, within, passing, cells in self.reads:
                if about.isdisjoint(cells) or self._others(cells) & about:
                    continue
                here = {self.program.place: self.program.code(location)}
                image = instantiate([candidate], {**{k: p for p, k in passing}, **cells, **here})[candidate]
                if not image.is_const:
                    found.append(implication(conjunction(self.program.at(location), within), image))
            if found:
                yield candidate, found

    def _others(self, cells: Collection[Term]) -> set[Term]:
        """The cells of which nothing is read there."""
        every = {v for v in self.program.variables if is_cell(v)}
        return every.difference(cells)


def frozen_variables(program: Automaton) -> set[Term]:
    """The variables that no edge changes."""
    changed = {v for e in program.edges for v, _ in e.updates}
    return {v for v in program.variables if v not in changed and v.type is not BOOL}


def is_cell(v: Term) -> bool:
    return str(v.payload).endswith("]")


def _pair(part: Term, frozen: set[Term]) -> tuple[Term, Term] | None:
    """An index of the program and the witness, from `i == k`."""
    if part.op != "eq":
        return None
    a, b = part.args
    if b in frozen and a not in frozen and not a.is_const:
        return a, b
    return (b, a) if a in frozen and b not in frozen and not b.is_const else None


def _around(atom: Term) -> Iterator[Term]:
    """The comparison, its negation, and the weaker one of both."""
    yield from (atom, negation(atom))
    if atom.op in ("lt", "gt", "le", "ge"):
        yield term({"l": "le", "g": "ge"}[atom.op[0]], *atom.args)
        yield term({"l": "ge", "g": "le"}[atom.op[0]], *atom.args)


def _atoms(condition: Term) -> Iterator[Term]:
    """The comparisons that a condition is made of."""
    for node in walk([condition]):
        if node.op in COMPARISONS and node.args[0].type is not BOOL:
            yield node
