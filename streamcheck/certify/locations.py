"""Whether invariants of locations prove that a program never gets to an error, shown on the program as it was written.

The certificate of a transition system says J; at a location l, J with `at = l` is an invariant of the program there.
What is checked here is that these are enough, edge by edge of the automaton that has one edge for each statement:
nothing of slicing, large blocks or the transition system is believed. With inv(l) for the locations that have one,

    entry       true ⊨ inv(entry)
    l           inv(l) ∧ the statements from l to r ⊨ inv(r)       for every r that has one, and for the error, false

where the statements from l to r are followed through the locations that have none, all paths at once: every location
on the way has a condition for being there, and the variables' values as terms, chosen where paths meet. A loop all of
whose locations have no invariant must not come round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamcheck.certify.checker import Rejected
from streamcheck.certify.smtlib import Script
from streamcheck.certify.solvers import unsatisfiable
from streamcheck.core.simplify import choice, conjunction, disjunction, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, substitute, variable, variables
from streamcheck.core.types import BOOL
from streamcheck.system.cfa import HIDDEN, Cfa, Edge
from streamcheck.system.transition import TransitionSystem
from streamcheck.system.verdict import Certificate


def invariants_of(blocks: Cfa, certificate: Certificate) -> dict[str, Term] | None:
    """What the certificate says of each location; None where it speaks of more than one state."""
    if certificate.kind != "inductive" or certificate.k != 1 or certificate.free:
        return None
    whole = conjunction(*certificate.invariants, *certificate.equalities)
    found = {}
    for location in blocks.locations:
        if location not in blocks.bad:
            image = substitute([whole], {blocks.place: blocks.code(location)})[whole]
            found[location] = simplify([image])[image]
    return found


def check_locations(source: Cfa, error: str, invariants: Mapping[str, Term], typed: Term = TRUE) -> Rejected | None:
    """None where the invariants hold and exclude the error. `source` has scalar variables; `typed` is
    what their types and those of the choices say."""
    leading = _leading_to(source, error)
    for start in dict.fromkeys([source.entry, *invariants]):
        if start not in leading:
            continue
        region = _Region(source, error, invariants, leading, start)
        wrong = region.wrong()
        if wrong is FALSE:
            continue
        given = invariants.get(start, TRUE)
        starting = conjunction(given, wrong)
        if start == source.entry:  # a run begins with any values, and the invariant has to hold of them
            starting = disjunction(negation(given), wrong)
        rejected = _judged(
            conjunction(typed, starting), f"the invariant at {source.lines.get(start, start)} does not lead on"
        )
        if rejected is not None:
            return rejected
    return None


def _judged(formula: Term, why: str) -> Rejected | None:
    script = Script(TransitionSystem("program", (), tuple(variables([formula])), (), (), ()))
    script.start(initial=False)
    script.asserted(script.symbol(formula, 0))
    try:
        answer = unsatisfiable(script)
    except Exception as error:  # a text the solver cannot read decides nothing
        return Rejected(f"{why}: {error}", undecided=True)
    return None if answer else Rejected(why, undecided=answer is None)


def _leading_to(source: Cfa, error: str) -> set[str]:
    found, stack = {error}, [error]
    while stack:
        for edge in source.entering[stack.pop()]:
            if edge.source not in found:
                found.add(edge.source)
                stack.append(edge.source)
    return found


@dataclass(slots=True)
class _Region:
    """The statements after a location, up to those that have invariants."""

    source: Cfa
    error: str
    invariants: Mapping[str, Term]
    leading: set[str]
    start: str
    here: dict[str, Term] = field(default_factory=dict)  # the condition for being there
    values: dict[str, dict[Term, Term]] = field(default_factory=dict)
    goals: list[Term] = field(default_factory=list)
    left: set[str] = field(default_factory=set)

    def wrong(self) -> Term:
        """That a path leads to the error, or to a location whose invariant is false there."""
        self.here[self.start] = TRUE
        self.values[self.start] = {v: v for v in self.source.variables}
        for location in self._order():
            if location in self.here:
                self.left.add(location)
                self._leave(location)
        return disjunction(*self.goals)

    def _order(self) -> list[str]:
        """The start and the locations without invariants behind it, each after those that lead there, but for loops."""
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
        return location in self.leading and location not in self.invariants and location != self.error

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
        if target == self.error:
            self.goals.append(there)
        elif target in self.invariants:
            image = substitute([self.invariants[target]], after)[self.invariants[target]]
            self.goals.append(conjunction(there, negation(image)))
        elif target in self.left:
            self.goals.append(there)  # a loop without an invariant must not come round
        elif target not in self.here:
            self.here[target], self.values[target] = there, after
        else:
            known = self.values[target]
            self.values[target] = {v: choice(there, after[v], known[v]) for v in known}
            self.here[target] = disjunction(self.here[target], there)
