"""Delay lines and arrays: what a property says of the last cell, asked of every cell that its value comes through, and
what it says of one element, asked of each.

A cell whose next value is another cell, or is chosen from cells (`mux(c, a, b)`), hands values on. What P says of
it must hold of those beforehand:

    d = [0, 0, …] ++ x      P(d)  is preserved if  P(cell 1), P(cell 2), …, and the assumptions give P(x)

So the candidates are P with each such cell for the one before, until no new one comes up; and P with each element for
the one that an index chooses (`invariants.elements`): `for all j: P(a[j])`. They are kept as far as they are
inductive together (`houdini`): one query with an instance for every cell, whatever the length of the line.
k-induction comes to the same end with a k as long as the line.

Decides: bounds of delayed values, of shift registers, of values held or handed on under conditions, and relations
between lines that go in step; what holds of every element of an array, or of arrays at the same index.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, assert_never

from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, substitute, variables
from streamcheck.engines.protocol import Event, Inbox, Invariants, Progress, Settled, Task, TrueUpTo
from streamcheck.invariants.elements import ElementInstances, instances_of, leaves
from streamcheck.invariants.houdini import LOT, GaveUp, Houdini, all_inductive
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Unknown
from streamcheck.smt.solver import Solver
from streamcheck.transform.reduce import clusters

MOST_CANDIDATES = 5_000
SHARED = 8  # properties over the same state in a certificate, if each stands alone (heuristic)
LONG = 20  # times the patience, for a query that needs a case for each element


@dataclass(frozen=True, slots=True)
class _Goal:
    """A property, its instances for the elements of arrays if it reads some, and what is to be inductive."""

    claim: Term
    instances: ElementInstances
    candidates: dict[Term, None]


class DelayLines:
    name: ClassVar[str] = "delays"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system, sources = problem.system, _sources(problem.system)
        goals = {p.name: _goal(p.term, system, sources) for p in system.properties}
        alone: dict[Term, None] = {}
        together: dict[str, _Goal] = {}
        decided = set[str]()
        for part in clusters(system):
            proved: dict[str, _Goal] = {}
            for name in [p.name for p in part.properties if len(goals[p.name].candidates) > 1]:
                goal = goals[name]
                if not _stand_alone(goal, problem):
                    together[name] = goal
                    continue
                alone |= goal.candidates
                decided |= _decided_by_others(inbox)
                if _follows(goal, goal.candidates, problem) and name not in decided:
                    proved[name] = goal
                if len(proved) == SHARED:
                    yield from _proofs(proved)
                    proved = {}
            yield from _proofs(proved)
        yield Progress(0)
        if alone:
            yield Invariants(Certificate("inductive", 1, tuple(alone)))
        if together:
            try:
                yield from _together(together, problem)
            except GaveUp as gave_up:
                yield from (Unknown(name, str(gave_up)) for name in together)


def _proofs(goals: dict[str, _Goal]) -> Iterator[Event]:
    """Proofs of goals that stand alone: of a few at a time, which the checker then judges in one step case."""
    certificate = Certificate("inductive", 1, tuple(dict.fromkeys(c for g in goals.values() for c in g.candidates)))
    yield from (Proved(name, certificate) for name in goals)


def _stand_alone(goal: _Goal, problem: Task) -> bool:
    """True if all candidates are inductive together. The elements of an array that do not depend on each other are
    asked about in lots: a thousand of them together cost the solver ten times as much."""
    claims = tuple(Claim(str(i), candidate, None) for i, candidate in enumerate(goal.candidates))
    parts = clusters(replace(problem.system, properties=claims), LOT)
    return all(all_inductive(part, [p.term for p in part.properties], problem.patience) for part in parts)


def _together(goals: dict[str, _Goal], problem: Task) -> Iterator[Event]:
    """Proofs from the largest inductive set of all candidates, some of which may need others, or be false."""
    houdini = Houdini(problem.system, problem.patience)
    alive = houdini.inductive([c for goal in goals.values() for c in goal.candidates])
    proved = {n: g.instances.terms or (g.claim,) for n, g in goals.items() if _follows(g, alive, problem)}
    for names, needed in houdini.parts_with(proved, alive):
        certificate = Certificate("inductive", 1, tuple(needed))
        yield from (Proved(name, certificate) for name in names)
    if alive:
        yield Invariants(Certificate("inductive", 1, tuple(alive)))


def _goal(claim: Term, system: TransitionSystem, sources: dict[Term, frozenset[Term]]) -> _Goal:
    instances = instances_of(claim, {s.var for s in system.state}, MOST_CANDIDATES)
    return _Goal(claim, instances, _candidates(instances.terms or (claim,), sources))


def _follows(goal: _Goal, alive: Collection[Term], problem: Task) -> bool:
    instances = goal.instances.terms
    if not instances:
        return goal.claim in alive
    if goal.instances.suffice or any(instance not in alive for instance in instances):
        return all(instance in alive for instance in instances)
    solver = Solver(None if problem.patience is None else LONG * problem.patience)
    # A ∧ ⋀ P(a.j, j) ⊨ P(a[i], i)
    solver.add(*instances, *(a.term for a in problem.system.assumptions))
    return solver.check(negation(goal.claim)) is False


def _sources(system: TransitionSystem) -> dict[Term, frozenset[Term]]:
    """The cells that each cell may take its next value from, if it takes it from nothing else but inputs, which the
    assumptions bound, and constants."""
    state = {s.var for s in system.state}
    known = {*state, *system.inputs}
    sources: dict[Term, frozenset[Term]] = {}
    for s in system.state:
        ends = set(leaves(s.next))
        if all(leaf in known or leaf.is_const for leaf in ends):
            sources[s.var] = frozenset(ends & state)
    return sources


def _candidates(claims: Iterable[Term], sources: dict[Term, frozenset[Term]]) -> dict[Term, None]:
    """The claims, and the claims with each cell that their values come from: all cells at once if each has one
    source."""
    pending = list(claims)
    found = dict.fromkeys(pending)
    while pending and len(found) < MOST_CANDIDATES:
        claim = pending.pop()
        cells = variables([claim])
        if not cells or any(v not in sources for v in cells):
            continue
        for before in _images(claim, cells, sources):
            if before not in found:
                found[before] = None
                pending.append(before)
    return found


def _images(claim: Term, cells: Iterable[Term], sources: dict[Term, frozenset[Term]]) -> Iterator[Term]:
    cells = list(cells)
    if len(cells) == 1:
        choices = [{cells[0]: source} for source in sorted(sources[cells[0]], key=str)]
    else:
        step = {v: next(iter(sources[v])) for v in cells if len(sources[v]) == 1}
        choices = [step] if len(step) == len(cells) else []
    for choice in choices:
        yield substitute([claim], choice)[claim]


def _decided_by_others(inbox: Inbox) -> set[str]:
    """The properties that others have decided."""
    gone = set[str]()
    for fact in inbox():
        match fact:
            case Proved(prop) | Falsified(prop) | Settled(prop):
                gone.add(prop)
            case Invariants() | TrueUpTo():
                pass
            case _:
                assert_never(fact)
    return gone
