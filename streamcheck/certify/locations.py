"""Checks that an automaton never reaches an error, on the automaton as it was written: one edge for each statement.

Invariants of locations are shown edge by edge. With inv(l) for the locations that have one,

    entry       true ⊨ inv(entry)
    l           inv(l) ∧ the statements from l to r ⊨ inv(r)       for every r that has one, and for the error, false

The statements from l to r are followed through the locations without an invariant, all paths at once: every location
on the way has a condition for being there, and the variables' values as terms, chosen at the locations at which paths
meet. Where a path comes to a location that the others have left, the next round begins. What would come round more
often than the certificate says must be infeasible: with one round, every loop without an invariant at any location.

A certificate about larger steps (blocks) is judged in two parts: the blocks simulate the statements, that is,
any state that the statements reach from one location of the blocks to the next, an edge of the blocks reaches too; and
the certificate holds in the runs of the blocks, which are read here from the blocks themselves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from itertools import product
from typing import TypeAlias, assert_never

from streamcheck.certify.automata import read_automaton, scalar_automaton
from streamcheck.certify.cells import Unreadable, instances, is_about_arrays
from streamcheck.certify.checker import MOST_CERTIFICATES, check_term, judge_invariants
from streamcheck.certify.judge import Rejected, judge
from streamcheck.certify.large_arrays import has_large_arrays
from streamcheck.certify.logic import choice, conjunction, disjunction, equality, negation, replace_and_fold
from streamcheck.certify.runs import Runs
from streamcheck.certify.script import Script
from streamcheck.core.term import FALSE, TRUE, Term, variable, variables
from streamcheck.core.types import BOOL, Type
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants

Arrival: TypeAlias = Callable[[Mapping[Term, Term]], Term]  # from the variables' values there
Arrived: TypeAlias = dict[str, tuple[Term, dict[Term, Term]]]  # the condition for being there, and the values
MOST_EITHERS = 6  # choices of one block that are tried both ways


class AutomatonChecker:
    """Judges certificates about one automaton."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._blocks: tuple[Automaton, BlockChecker] | None = None

    def check(self, name: str, evidence: LocationInvariants | BlockCertificate) -> Rejected | None:
        """None if the evidence shows that no run gets to the error of this name."""
        error = next(e.location for e in self.automaton.errors if e.name == name)
        match evidence:
            case LocationInvariants(at, chosen, rounds):
                read = variables(invariant for _, invariant in at)
                if (
                    chosen
                    or is_about_arrays(read)
                    or (has_large_arrays(self.automaton) and {*self.automaton.variables} >= {*read})
                ):
                    return check_locations(self.automaton, error, dict(at), rounds, chosen)
                return check_locations(self.source, error, dict(at), rounds)
            case BlockCertificate(blocks, certificate):
                return self._checker_of(blocks).check(error, certificate)
        assert_never(evidence)

    @cached_property
    def source(self) -> Automaton:
        return scalar_automaton(self.automaton)

    def _checker_of(self, blocks: Automaton) -> BlockChecker:
        """The last one is remembered: properties proved together share their blocks."""
        if self._blocks is None or self._blocks[0] is not blocks:
            self._blocks = blocks, BlockChecker(self.source, blocks)
        return self._blocks[1]


class BlockChecker:
    """Judges certificates about the blocks of one automaton."""

    def __init__(self, source: Automaton, blocks: Automaton) -> None:
        self.source = source
        self.blocks = scalar_automaton(blocks)
        self.reading = read_automaton(self.blocks)
        self._invariants = lru_cache(MOST_CERTIFICATES)(
            partial(judge_invariants, self.reading, deque(maxlen=MOST_CERTIFICATES))
        )

    def check(self, error: str, certificate: Certificate) -> Rejected | None:
        if error not in self.blocks.bad:
            return Rejected("the blocks do not have this error")
        holds = negation(self.blocks.at(error))
        return self.simulation or check_term(self.reading, holds, certificate, self._invariants)

    @cached_property
    def simulation(self) -> Rejected | None:
        """None if the blocks simulate the statements."""
        return check_blocks(self.source, self.blocks)


def check_locations(
    source: Automaton, error: str, invariants: Mapping[str, Term], rounds: int = 1, chosen: Sequence[Term] = ()
) -> Rejected | None:
    """None if the invariants hold, for all values of what is chosen, and exclude the error.

    A step leads from a state in which the invariant holds for all values to one in which it does not for some. These
    are variables; on the left it is taken for them, and for the indexes at which something is read (`instances`)."""

    def violation_of(invariant: Term) -> Arrival:
        return lambda after: negation(replace_and_fold([invariant], after)[invariant])

    known = {*source.variables, *chosen}
    if source.entry == error or not known.issuperset(variables(invariants.values())) or _clash(source, chosen):
        return Rejected("the program begins in the error, or the invariants are not about its variables")
    arrivals = {q: violation_of(invariant) for q, invariant in invariants.items()} | {error: lambda _: TRUE}
    leading = source.leading_to([error])
    for start in dict.fromkeys([source.entry, *invariants]):
        if start not in leading:
            continue
        wrong = _Region(source, leading, start, arrivals, rounds).wrong()
        given = invariants.get(start, TRUE)
        if start == source.entry:  # a run begins with any values, and the invariant has to hold of them
            given, wrong = TRUE, disjunction(negation(given), wrong)
        try:
            starting = instances(given, chosen, wrong)
        except Unreadable as why:
            return Rejected(f"it is about {why}", undecided=True)
        rejected = _judge(starting, f"the step from the invariant at {source.lines.get(start, start)}")
        if rejected is not None:
            return rejected
    return None


def _clash(source: Automaton, chosen: Sequence[Term]) -> bool:
    """True if what is chosen may be something else too."""
    names = {str(v.payload) for v in chosen}
    taken = {str(v.payload) for v in (*source.variables, *(c for e in source.edges for c in e.choices))}
    return not names.isdisjoint(taken) or any(":" in name or " " in name for name in names)


def check_blocks(source: Automaton, blocks: Automaton) -> Rejected | None:
    """None if every run of the source to an error of the blocks is one of the blocks."""
    eithers = {edge: _eithers(edge, source) for edge in blocks.edges}
    if any(len(ours) > MOST_EITHERS for ours in eithers.values()):
        return Rejected("the program chooses too often in one block", undecided=True)
    if not set(source.variables).issuperset(blocks.variables) or any(
        c.type is not BOOL for o in eithers.values() for c in o
    ):
        return Rejected("the blocks have variables that the program does not have")
    if (
        blocks.entry != source.entry
        or source.entry in source.bad
        or not _names(blocks).items() <= _names(source).items()
    ):
        return Rejected("the blocks have another entry or other errors")
    leading = source.leading_to(blocks.bad)
    for start in blocks.locations:
        if start in leading and start not in source.bad:
            arrivals = {q: _no_arrival(blocks, eithers, start, q) for q in blocks.locations}
            wrong = _Region(source, leading, start, arrivals).wrong()
            rejected = _judge(wrong, f"the cover of the runs by the block at {source.lines.get(start, start)}")
            if rejected is not None:
                return rejected
    return None


def _names(automaton: Automaton) -> dict[str, str]:
    """The errors, by the names of their claims."""
    return {e.name: e.location for e in automaton.errors}


def _no_arrival(blocks: Automaton, eithers: Mapping[Edge, list[Term]], start: str, target: str) -> Arrival:
    """The condition that no edge of the blocks leads there with these values."""
    edges = [e for e in blocks.edges_from[start] if e.target == target]

    def none_leads(after: Mapping[Term, Term]) -> Term:
        ways = ((edge, way) for edge in edges for way in _ways(eithers[edge]))
        return conjunction(*(negation(_leads(edge, way, after, blocks)) for edge, way in ways))

    return none_leads


def _leads(edge: Edge, way: Mapping[Term, Term], after: Mapping[Term, Term], blocks: Automaton) -> Term:
    images = replace_and_fold([*edge.roots()], way)
    reached = [] if edge.target in blocks.bad else blocks.variables
    news = {v: images[t] for v, t in edge.updates}
    same = (news.get(v, v) for v in reached)
    equal = (equality(new, after[v]) for v, new in zip(reached, same, strict=True))
    return conjunction(images[edge.guard], *equal)


def _ways(ours: Sequence[Term]) -> Iterator[Mapping[Term, Term]]:
    """The choices that large blocks make between edges, one way or the other."""
    for ways in product((TRUE, FALSE), repeat=len(ours)):
        yield dict(zip(ours, ways, strict=True))


def _eithers(edge: Edge, source: Automaton) -> list[Term]:
    """The choices that the statements do not have: large blocks choose by them between edges that they join."""
    statements = {c for e in source.edges for c in e.choices}
    return [c for c in edge.choices if c not in statements]


def _judge(formula: Term, why: str) -> Rejected | None:
    if formula is FALSE:
        return None

    def query(script: Script) -> None:
        script.start(initial=False)
        script.require(script.symbol(formula, 0))

    return judge(why, Runs((), tuple(variables([formula])), (), ()), query, "z3")


@dataclass(slots=True)
class _Region:
    """The statements after a location, up to the locations with an obligation. `arrivals` are its violations."""

    source: Automaton
    leading: set[str]  # the locations from which an error can be reached
    start: str
    arrivals: Mapping[str, Arrival]
    rounds: int = 1  # that are left
    here: Arrived = field(default_factory=dict)
    again: Arrived = field(default_factory=dict)  # in the next round
    goals: list[Term] = field(default_factory=list)
    left: set[str] = field(default_factory=set)
    copies: dict[Term, Term] = field(default_factory=dict)  # of what edges choose, in this round
    names: set[str] = field(default_factory=set)

    def wrong(self) -> Term:
        """The condition that some path violates an obligation."""
        chosen = dict.fromkeys(c for e in self.source.edges for c in e.choices)
        self.names = {str(v.payload) for v in (*self.source.variables, *chosen)}
        self._arrive(self.start, TRUE, {v: v for v in self.source.variables})
        order = self._order()
        while True:
            # Mostly one pass; if edges fold away, a location that was passed over may be reached later.
            while any(q in self.here and q not in self.left for q in order):
                for location in order:
                    if location in self.here and location not in self.left:
                        self.left.add(location)
                        self._leave(location)
            self.rounds -= 1
            if not self.again or not self.rounds:
                return disjunction(*self.goals, *(there for there, _ in self.again.values()))
            self.here, self.again, self.left = self.again, {}, set()
            self.copies = {c: self._fresh(str(c.payload), c.type) for c in chosen}

    def _fresh(self, name: str, type: Type) -> Term:
        while name in self.names:
            name += f" {self.rounds}"
        self.names.add(name)
        return variable(name, type)

    def _order(self) -> list[str]:
        """The start and the locations on the way, each after those that lead there, but for loops."""
        order: list[str] = []
        done: set[str] = set()
        stack: list[tuple[str, bool]] = [(self.start, False)]
        while stack:
            location, finished = stack.pop()
            if finished:
                order.append(location)
            elif location not in done:
                done.add(location)
                stack.append((location, True))
                stack.extend((e.target, False) for e in self.source.edges_from[location] if self._inside(e.target))
        return order[::-1]

    def _inside(self, location: str) -> bool:
        return location in self.leading and location not in self.arrivals

    def _leave(self, location: str) -> None:
        """Follow the edges, of which exactly one is taken: paths differ in the edges they choose."""
        others = TRUE
        edges = [e for e in self.source.edges_from[location] if e.target in self.leading]
        for i, edge in enumerate(edges):
            chosen = TRUE if i == len(edges) - 1 else self._fresh(f"takes:{i}@{location}", BOOL)
            self._follow(edge, conjunction(others, chosen))
            others = conjunction(others, negation(chosen))

    def _follow(self, edge: Edge, taken: Term) -> None:
        here, before = self.here[edge.source]
        images = replace_and_fold([*edge.roots()], {**before, **self.copies})
        there = conjunction(here, taken, images[edge.guard])
        after = {**before, **{v: images[t] for v, t in edge.updates}}
        if there is FALSE:
            return
        if edge.target in self.arrivals:
            self.goals.append(conjunction(there, self.arrivals[edge.target](after)))
        else:
            self._arrive(edge.target, there, after)

    def _arrive(self, target: str, there: Term, after: dict[Term, Term]) -> None:
        reached = self.again if target in self.left else self.here
        if target in reached:
            known, values = reached[target]
            after = {v: choice(there, after[v], values[v]) for v in values}
            there = disjunction(known, there)
        reached[target] = there, after
