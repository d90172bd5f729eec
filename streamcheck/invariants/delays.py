"""Delay lines: what a property says of the last cell, asked of every cell that its value comes through.

A cell whose next value is another cell, or is chosen from cells (`mux(c, a, b)`), hands values on. What P says of
it must hold of those beforehand:

    d = [0, 0, …] ++ x      P(d)  is preserved if  P(cell 1), P(cell 2), …, and the assumptions give P(x)

So the candidates are P with each such cell for the one before, until no new one comes up. They are kept as far as
they are inductive together (`houdini`): one query with an instance for every cell, whatever the length of the line.
k-induction comes to the same end with a k as long as the line.

Decides: bounds of delayed values, of shift registers, of values held or handed on under conditions, and relations
between lines that go in step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar, assert_never

from streamcheck.core.term import Term, substitute, variables
from streamcheck.engines.protocol import Event, Inbox, Invariants, Progress, Settled, Task, TrueUpTo
from streamcheck.invariants.houdini import GaveUp, Houdini
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Unknown

MOST_CANDIDATES = 5_000


class DelayLines:
    name: ClassVar[str] = "delays"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system, sources = problem.system, _sources(problem.system)
        goals = {p.name: p.term for p in system.properties}
        found = {name: _candidates(goal, sources) for name, goal in goals.items()}
        handed_on = {name: candidates for name, candidates in found.items() if len(candidates) > 1}
        yield Progress(0)
        if not handed_on:
            return
        houdini = Houdini(system, problem.patience)
        try:
            alive = houdini.inductive([c for candidates in handed_on.values() for c in candidates])
        except GaveUp as gave_up:
            yield from (Unknown(name, str(gave_up)) for name in handed_on)
            return
        gone = _decided_by_others(inbox)
        for name, candidates in handed_on.items():
            if name not in gone and goals[name] in alive:
                yield Proved(name, Certificate("inductive", 1, tuple(c for c in alive if c in candidates)))
        if alive:
            yield Invariants(Certificate("inductive", 1, tuple(alive)))


def _sources(system: TransitionSystem) -> dict[Term, frozenset[Term]]:
    """The cells that each cell may take its next value from, if it takes it from nothing else but inputs, which the
    assumptions bound, and constants."""
    state = {s.var for s in system.state}
    known = {*state, *system.inputs}
    sources: dict[Term, frozenset[Term]] = {}
    for s in system.state:
        leaves = set(_leaves(s.next))
        if all(leaf in known or leaf.is_const for leaf in leaves):
            sources[s.var] = frozenset(leaves & state)
    return sources


def _leaves(value: Term) -> Iterator[Term]:
    """The terms that a choice chooses from."""
    pending, seen = [value], set[Term]()
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            if node.op == "mux":
                pending += node.args[1:]
            else:
                yield node


def _candidates(goal: Term, sources: dict[Term, frozenset[Term]]) -> dict[Term, None]:
    """The goal, and the goal with each cell that its values come from: all cells at once if each has one source."""
    found = {goal: None}
    pending = [goal]
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
