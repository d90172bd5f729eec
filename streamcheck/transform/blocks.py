"""Smaller automata with the same errors: slicing, and large-block encoding.

`sliced` leaves out what no error depends on: locations that no path from the entry to an error visits, and variables
that no guard reads, directly or through others.

`large_blocks` (Beyer, Cimatti, Griggio, Keremoglu, Sebastiani, Software Model Checking via Large-Block Encoding, 2009)
makes one edge of loop-free code, by the paper's two rules until none applies:

    sequence   a location that one edge enters goes: that edge followed by each that leaves
    choice     two edges between the same locations become one

What stays are entry, errors, locations at which loops meet, and a place here and there among many checks in a row.
Updates are functions, so a choice becomes `mux` over a condition that tells the two guards apart, or over a fresh
choice where both may be open. Terms are shared: the blocks are as large as the code, whatever the number of paths
through it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from streamcheck.core.simplify import choice, conjunction, disjunction, instantiate, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, variable, variables, walk
from streamcheck.core.types import BOOL
from streamcheck.problem.automaton import HIDDEN, Automaton, Edge, conjuncts, decider

LONGEST_TEXT = 120
MOST_EDGES = 100  # that leave a location: beyond, a block ends, for every edge says that those before are not taken


def sliced(cfa: Automaton) -> Automaton:
    edges = [e for e in map(_simplified, cfa.edges) if e.guard is not FALSE]
    after = _closure({cfa.entry}, ((e.source, e.target) for e in edges))
    before = _closure(cfa.bad, ((e.target, e.source) for e in edges))
    edges = [e for e in edges if e.source in after and e.target in before]
    read = read_by(edges)
    kept = [replace(e, updates=tuple((v, t) for v, t in e.updates if v in read)) for e in edges]
    return replace(
        cfa,
        variables=tuple(v for v in cfa.variables if v in read),
        locations=tuple(q for q in cfa.locations if q in (after & before) or q == cfa.entry or q in cfa.bad),
        edges=tuple(replace(e, choices=_used(e)) for e in kept),
    )


def _simplified(edge: Edge) -> Edge:
    simple = simplify(edge.roots())
    updates = ((v, simple[t]) for v, t in edge.updates)
    return replace(edge, guard=simple[edge.guard], updates=tuple((v, t) for v, t in updates if t is not v))


def _used(edge: Edge) -> tuple[Term, ...]:
    read = set(variables(edge.roots()))
    return tuple(c for c in edge.choices if c in read)


def _closure(start: Iterable[str], steps: Iterable[tuple[str, str]]) -> set[str]:
    following: dict[str, list[str]] = {}
    for a, b in steps:
        following.setdefault(a, []).append(b)
    found, stack = set(start), list(start)
    while stack:
        for b in following.get(stack.pop(), ()):
            if b not in found:
                found.add(b)
                stack.append(b)
    return found


def read_by(edges: Iterable[Edge]) -> set[Term]:
    """The variables that guards depend on."""
    edges = list(edges)
    written: dict[Term, list[Term]] = {}
    for edge in edges:
        for v, t in edge.updates:
            written.setdefault(v, []).append(t)
    seen: set[Term] = set()
    roots = [e.guard for e in edges]
    while roots:
        roots = [t for node in walk(roots, seen) if node.op == "var" for t in written.get(node, ())]
    return {node for node in seen if node.op == "var"}


def large_blocks(cfa: Automaton) -> Automaton:
    return _Blocks(cfa).result()


class _Blocks:
    """The automaton while it shrinks: edges by source and target, at most one each."""

    def __init__(self, cfa: Automaton) -> None:
        self.cfa = cfa
        self.kept = cfa.bad | {cfa.entry}
        self.leaving: dict[str, dict[str, Edge]] = {q: {} for q in cfa.locations}
        self.entering: dict[str, set[str]] = {q: set() for q in cfa.locations}
        self.fresh = 0
        for edge in cfa.edges:
            self._add(edge)

    def result(self) -> Automaton:
        pending = deque(self.cfa.locations)
        while pending:
            location = pending.popleft()
            if self._is_inner(location):
                pending.extend(q for q in self._bypass(location) if q not in pending)
        stay = [q for q in self.cfa.locations if self.entering[q] or q == self.cfa.entry or q in self.cfa.bad]
        edges = [replace(e, choices=_used(e)) for q in stay for e in self.leaving[q].values()]
        return replace(self.cfa, locations=tuple(stay), edges=tuple(edges))

    def _is_inner(self, location: str) -> bool:
        entered = self.entering[location]
        if len(entered) != 1 or entered == {location} or location in self.kept:
            return False
        (source,) = entered
        return len(self.leaving[source]) <= MOST_EDGES

    def _bypass(self, location: str) -> list[str]:
        """The rule of sequence; the locations that may have become inner ones."""
        (source,) = self.entering[location]
        first = self.leaving[source].pop(location)
        self.entering[location].clear()
        after = list(self.leaving[location].values())
        self.leaving[location].clear()
        for edge in after:
            self.entering[edge.target].discard(location)
        for edge in after:
            self._add(self._sequence(first, edge))
        return [edge.target for edge in after]

    def _add(self, edge: Edge) -> None:
        if edge.guard is FALSE:
            return
        if edge.target in self.cfa.bad:
            edge = replace(edge, updates=())  # nobody reads what is written there
        other = self.leaving[edge.source].get(edge.target)
        self.leaving[edge.source][edge.target] = edge if other is None else self._choice(other, edge)
        self.entering[edge.target].add(edge.source)

    def _sequence(self, first: Edge, second: Edge) -> Edge:
        roots = list(second.roots())
        images = instantiate(roots, first.update)
        updates = {**first.update, **{v: images[t] for v, t in second.updates}}
        return Edge(
            first.source,
            second.target,
            conjunction(*conjuncts(first.guard), *conjuncts(images[second.guard])),
            tuple((v, t) for v, t in updates.items() if t is not v),
            (*first.choices, *second.choices),
            _text(first.text, "; ", second.text),
            first.where,
        )

    def _choice(self, a: Edge, b: Edge) -> Edge:
        ours, theirs = conjuncts(a.guard), conjuncts(b.guard)
        common = [part for part in ours if part in set(theirs)]
        rest_a, rest_b = (conjunction(*(p for p in parts if p not in set(common))) for parts in (ours, theirs))
        condition, extra = decider(rest_a, rest_b), list[Term]()
        if condition is None:
            self.fresh += 1
            condition = variable(f"{HIDDEN}either {self.fresh}", BOOL)
            extra = [condition]
        else:
            rest_a, rest_b = (
                conjunction(*(p for p in conjuncts(rest) if p not in set(conjuncts(known))))
                for rest, known in ((rest_a, condition), (rest_b, negation(condition)))
            )
        changed = dict.fromkeys([*a.update, *b.update])
        updates = ((v, choice(condition, a.update.get(v, v), b.update.get(v, v))) for v in changed)
        return Edge(
            a.source,
            a.target,
            conjunction(*common, *conjuncts(_either(condition, rest_a, rest_b))),
            tuple((v, t) for v, t in updates if t is not v),
            tuple(dict.fromkeys([*a.choices, *b.choices, *extra])),
            _text(a.text, " | ", b.text),
            a.where,
        )


def _either(condition: Term, a: Term, b: Term) -> Term:
    """`a` where the condition holds, else `b`."""
    if a is b:
        return a
    if a is TRUE:
        return disjunction(condition, b)
    if b is TRUE:
        return disjunction(negation(condition), a)
    if a is FALSE:
        return conjunction(negation(condition), b)
    if b is FALSE:
        return conjunction(condition, a)
    return choice(condition, a, b)


def _text(a: str, between: str, b: str) -> str:
    text = " ".join((a + between + b).split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
