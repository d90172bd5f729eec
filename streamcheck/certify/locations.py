"""Whether invariants of locations prove that a program never gets to an error, shown on the program as it was written.

The certificate of a transition system says J; at a location l, J with `at = l` is an invariant of the program there.
What is checked here is that these are enough, edge by edge of the automaton that has one edge for each statement:
nothing of slicing, large blocks or the transition system is believed. With inv(l) for the locations that have one,

    entry       true ⊨ inv(entry)
    l           inv(l) ∧ the statements from l to r ⊨ inv(r)       for every r that has one, and for the error, false

where the statements from l to r are followed through the locations that have none, all paths at once: every location
on the way has a condition for being there, and the variables' values as terms, chosen where paths meet. A loop all of
whose locations have no invariant must not come round.

Certificates that speak of several steps, or of inputs, say nothing of one location: there the transition system of the
blocks is believed. For them it is shown that the blocks do all that
the statements do: whatever the statements from one location of the blocks to the next lead to, an edge of the blocks
does too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TypeAlias

from streamcheck.certify.checker import Rejected
from streamcheck.certify.smtlib import Script
from streamcheck.certify.solvers import unsatisfiable
from streamcheck.core.simplify import choice, conjunction, disjunction, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, substitute, term, variable, variables
from streamcheck.core.types import BOOL
from streamcheck.problem.automaton import HIDDEN, Automaton, Edge
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate

Arrival: TypeAlias = Callable[[Mapping[Term, Term]], Term]  # from the variables' values there
MOST_EITHERS = 6  # choices of one block that are tried both ways


def invariants_of(blocks: Automaton, certificate: Certificate) -> dict[str, Term] | None:
    """What the certificate says of each location; None where it speaks of more than one state."""
    if certificate.kind != "inductive" or certificate.k != 1 or certificate.free:
        return None
    whole = conjunction(*certificate.invariants, *certificate.equalities)
    if not {blocks.place, *blocks.variables}.issuperset(variables([whole])):
        return None
    found = {}
    for location in blocks.locations:
        if location not in blocks.bad:
            image = substitute([whole], {blocks.place: blocks.code(location)})[whole]
            found[location] = simplify([image])[image]
    return found


def check_locations(
    source: Automaton, error: str, invariants: Mapping[str, Term], typed: Term = TRUE
) -> Rejected | None:
    """None where the invariants hold and exclude the error. `source` has scalar variables; `typed` is what their types
    and those of the choices say."""

    def broken(invariant: Term) -> Arrival:
        return lambda after: negation(substitute([invariant], after)[invariant])

    if source.entry == error or not set(source.variables).issuperset(variables(invariants.values())):
        return Rejected("the program begins in the error, or the invariants are not about its variables")
    arrivals = {q: broken(invariant) for q, invariant in invariants.items()} | {error: lambda _: TRUE}
    leading = source.leading_to([error])
    for start in dict.fromkeys([source.entry, *invariants]):
        if start not in leading:
            continue
        wrong = _Region(source, leading, start, arrivals).wrong()
        given = invariants.get(start, TRUE)
        starting = conjunction(given, wrong)
        if start == source.entry:  # a run begins with any values, and the invariant has to hold of them
            starting = disjunction(negation(given), wrong)
        why = f"the invariant at {source.lines.get(start, start)} does not lead on"
        rejected = _judged(conjunction(typed, starting), why)
        if rejected is not None:
            return rejected
    return None


def check_blocks(source: Automaton, blocks: Automaton, typed: Term = TRUE) -> Rejected | None:
    """None where every run of the source to an error is one of the blocks."""
    leading = source.leading_to(source.bad)
    if any(len(_eithers(edge)) > MOST_EITHERS for edge in blocks.edges):
        return Rejected("the program chooses too often in one block", undecided=True)
    if blocks.entry != source.entry or source.entry in source.bad or _named(blocks) != _named(source):
        return Rejected("the blocks have another entry or other errors")
    for start in blocks.locations:
        if start in leading and start not in source.bad:
            arrivals = {q: _missed(blocks, start, q) for q in blocks.locations}
            wrong = _Region(source, leading, start, arrivals).wrong()
            rejected = _judged(
                conjunction(typed, wrong), f"the block at {source.lines.get(start, start)} leaves runs out"
            )
            if rejected is not None:
                return rejected
    return None


def _named(cfa: Automaton) -> dict[str, str]:
    """The errors, by the names of their claims."""
    return {e.name: e.location for e in cfa.errors}


def _missed(blocks: Automaton, start: str, target: str) -> Arrival:
    """That no edge of the blocks leads there with these values."""
    edges = [e for e in blocks.leaving[start] if e.target == target]

    def none_leads(after: Mapping[Term, Term]) -> Term:
        return conjunction(*(negation(_leads(edge, way, after, blocks)) for edge in edges for way in _ways(edge)))

    return none_leads


def _leads(edge: Edge, way: Mapping[Term, Term], after: Mapping[Term, Term], blocks: Automaton) -> Term:
    images = substitute([*edge.roots()], way)
    simple = simplify(images.values())
    reached = [] if edge.target in blocks.bad else blocks.variables
    news = {v: simple[images[t]] for v, t in edge.updates}
    same = (news.get(v, v) for v in reached)
    equal = (TRUE if new is after[v] else term("same", new, after[v]) for v, new in zip(reached, same, strict=True))
    return conjunction(simple[images[edge.guard]], *equal)


def _ways(edge: Edge) -> Iterator[Mapping[Term, Term]]:
    """The choices that large blocks make between edges, one way or the other."""
    ours = _eithers(edge)
    for ways in product((TRUE, FALSE), repeat=len(ours)):
        yield dict(zip(ours, ways, strict=True))


def _eithers(edge: Edge) -> list[Term]:
    return [c for c in edge.choices if str(c.payload).startswith(HIDDEN)]


def _judged(formula: Term, why: str) -> Rejected | None:
    if formula is FALSE:
        return None
    script = Script(TransitionSystem("program", (), tuple(variables([formula])), (), (), ()))
    script.start(initial=False)
    script.asserted(script.symbol(formula, 0))
    try:
        answer = unsatisfiable(script)
    except Exception as error:  # a text the solver cannot read decides nothing
        return Rejected(f"{why}: {error}", undecided=True)
    return None if answer else Rejected(why, undecided=answer is None)


@dataclass(slots=True)
class _Region:
    """The statements after a location, up to where something is to be shown: `arrivals` say what is wrong there."""

    source: Automaton
    leading: set[str]  # the locations from which an error can be reached
    start: str
    arrivals: Mapping[str, Arrival]
    here: dict[str, Term] = field(default_factory=dict)  # the condition for being there
    values: dict[str, dict[Term, Term]] = field(default_factory=dict)
    goals: list[Term] = field(default_factory=list)
    left: set[str] = field(default_factory=set)

    def wrong(self) -> Term:
        """That a path leads where something is wrong."""
        self.here[self.start] = TRUE
        self.values[self.start] = {v: v for v in self.source.variables}
        order = self._order()
        # Mostly one pass; where edges fold away, a location that was passed over may be reached later.
        while any(q in self.here and q not in self.left for q in order):
            for location in order:
                if location in self.here and location not in self.left:
                    self.left.add(location)
                    self._leave(location)
        return disjunction(*self.goals)

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
                stack.extend((e.target, False) for e in self.source.leaving[location] if self._inside(e.target))
        return order[::-1]

    def _inside(self, location: str) -> bool:
        return location in self.leading and location not in self.arrivals

    def _leave(self, location: str) -> None:
        """Exactly one of the edges is taken: paths are told apart by what they choose."""
        others = TRUE
        edges = [e for e in self.source.leaving[location] if e.target in self.leading]
        for i, edge in enumerate(edges):
            chosen = TRUE if i == len(edges) - 1 else variable(f"{HIDDEN}takes {i} at {location}", BOOL)
            self._follow(edge, conjunction(self.here[location], others, chosen))
            others = conjunction(others, negation(chosen))

    def _follow(self, edge: Edge, taken: Term) -> None:
        before = self.values[edge.source]
        images = substitute([*edge.roots()], before)
        simple = simplify(images.values())
        there = conjunction(taken, simple[images[edge.guard]])
        after = {**before, **{v: simple[images[t]] for v, t in edge.updates}}
        if there is FALSE:
            return
        target = edge.target
        if target in self.arrivals:
            self.goals.append(conjunction(there, self.arrivals[target](after)))
        elif target in self.left:
            self.goals.append(there)  # a loop where nothing is shown must not come round
        elif target not in self.here:
            self.here[target], self.values[target] = there, after
        else:
            known = self.values[target]
            self.values[target] = {v: choice(there, after[v], known[v]) for v in known}
            self.here[target] = disjunction(self.here[target], there)
