"""Large-block encoding: loop-free code as single steps.

`large_blocks` makes one edge of loop-free code [LBE09], by the paper's two rules until none applies:

    sequence   a location that one edge enters goes: that edge followed by each that leaves
    choice     two edges between the same locations become one

What stays are entry, errors, locations at which loops meet, and a place here and there among many checks in a row.
Updates are functions, so a choice becomes `mux` over a condition that separates the two guards, or over a fresh
choice if both may be open. Terms are shared: the blocks are as large as the code, whatever the number of paths
through it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Set
from dataclasses import replace
from typing import assert_never

from streamcheck.core.conjuncts import conjuncts, decider
from streamcheck.core.simplify import choice, conjunction, either, instantiate, negation
from streamcheck.core.term import FALSE, Term, variable
from streamcheck.core.types import BOOL
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Evidence, LocationInvariants, Trace
from streamcheck.transform.block_paths import statements_of
from streamcheck.transform.slicing import used_choices

LONGEST_TEXT = 120
MOST_EDGES = 100  # that leave a location; then a block ends, because every guard excludes the edges before it


class LargeBlocks:
    """The automaton of large blocks. The locations `kept` stay."""

    def __init__(self, automaton: Automaton, kept: Set[str] = frozenset()) -> None:
        self.statements = automaton
        self.problem: Automaton = _Blocks(automaton, kept).result()

    def back(self, evidence: Evidence) -> Evidence:
        """A path through the statements, found by executing them. Certificates hold as they are: the locations of the
        blocks are locations of the statements."""
        match evidence:
            case EdgePath():
                return statements_of(self.statements, self.problem, evidence)
            case Certificate() | LocationInvariants() | BlockCertificate() | Trace():
                return evidence
        assert_never(evidence)


class _Blocks:
    """The automaton while it shrinks: edges by source and target, at most one each."""

    def __init__(self, automaton: Automaton, kept: Set[str]) -> None:
        self.automaton = automaton
        self.kept = automaton.bad | {automaton.entry} | kept
        self.leaving: dict[str, dict[str, Edge]] = {q: {} for q in automaton.locations}
        self.entering: dict[str, set[str]] = {q: set() for q in automaton.locations}
        self.fresh = 0
        for edge in automaton.edges:
            self._add(edge)

    def result(self) -> Automaton:
        pending, waiting = deque(self.automaton.locations), set(self.automaton.locations)
        while pending:
            location = pending.popleft()
            waiting.discard(location)
            if self._is_inner(location):
                again = [q for q in self._bypass(location) if q not in waiting]
                pending.extend(again)
                waiting.update(again)
        stay = [
            q
            for q in self.automaton.locations
            if self.entering[q] or q == self.automaton.entry or q in self.automaton.bad
        ]
        edges = [replace(e, choices=used_choices(e)) for q in stay for e in self.leaving[q].values()]
        return replace(self.automaton, locations=tuple(stay), edges=tuple(edges))

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
        if edge.target in self.automaton.bad:
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
            condition = variable(f"either:{self.fresh}", BOOL)
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
            conjunction(*common, *conjuncts(either(condition, rest_a, rest_b))),
            tuple((v, t) for v, t in updates if t is not v),
            tuple(dict.fromkeys([*a.choices, *b.choices, *extra])),
            _text(a.text, " | ", b.text),
            a.where,
        )


def _text(a: str, between: str, b: str) -> str:
    text = " ".join((a + between + b).split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
