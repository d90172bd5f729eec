"""The reachable states of a program, exactly, as formulas.

Decides: programs whose reachable states are described after finitely many images, and errors on short paths.

Papers: [TUM]: φ_reach = ⋁_{i >= 0} post^i(φ_init, ρ_R) (4), each location with disjuncts of its own.

Ingredients:
    post (1)                          `images.post`: quantifiers eliminated exactly
    ρ_R = ρ_1 ∨ ρ_2 ∨ … (3)           `_explore`: post distributes over edges, and over disjuncts
    a simplified form                 `Reachable.without_implied`: conjuncts that the others imply are dropped
    nothing new                       `Reachable.add`: a disjunct that the known ones imply is dropped, and so is a
                                      known one that a new one implies

Limits: the iteration need not end (a loop that can be followed n times for every n often has a new disjunct for each
n); numbers must be mathematical, and what is computed linear.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from streamcheck.core.conjuncts import conjuncts, disjuncts
from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import TRUE, Term
from streamcheck.core.types import plural
from streamcheck.engines.cfa.base import Answer, Inconclusive, ProgramEngine, Safe, Unsafe
from streamcheck.engines.cfa.images import NoFormula, post
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.smt.solver import Solver

LOG = logging.getLogger(__name__)
MOST_IMAGES = 1_000  # a search that has not ended by then hardly ever does (heuristic)


@dataclass(frozen=True, slots=True, eq=False)
class Disjunct:
    """Reachable states of a location, and how they are reached."""

    location: str
    states: Term
    path: tuple[Edge, ...] = ()


class ConcreteReach(ProgramEngine):
    name: ClassVar[str] = "concrete-reach"

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        reachable = Reachable(problem.patience)
        try:
            error = yield from self._explore(program, reachable)
        except NoFormula:
            return Inconclusive("the states after some edge have no formula, or one that is too long")
        states = sum(map(len, reachable.at.values()))
        LOG.info("%s: %s at %s", self.name, plural(states, "disjunct"), plural(len(reachable.at), "location"))
        if error is None:
            return Safe(reachable.formulas())
        if error.location in program.bad:
            return Unsafe(error.path)
        return Inconclusive(f"new states after {MOST_IMAGES} images")

    def _explore(self, program: Automaton, reachable: Reachable) -> Generator[Progress, None, Disjunct | None]:
        """The first states of the error, or those at which the size limit is exceeded. None if neither is reached."""
        begin = Disjunct(program.entry, TRUE)
        reachable.add(begin)
        waiting = deque([begin])
        for handled in count():
            if not waiting:
                return None
            one = waiting.popleft()
            if one.location in program.bad or handled == MOST_IMAGES:
                return one
            for edge in program.edges_from[one.location] if one in reachable else ():
                for states in disjuncts(post(one.states, edge)):
                    target = Disjunct(edge.target, reachable.without_implied(states), (*one.path, edge))
                    if reachable.add(target):
                        waiting.append(target)
            yield Progress(len(one.path))
        raise AssertionError


class Reachable:
    """φ_reach so far: disjuncts by location."""

    def __init__(self, patience: int | None = None) -> None:
        self.solver = Solver(patience)
        self.at: dict[str, list[Disjunct]] = {}

    def add(self, one: Disjunct) -> bool:
        """Add the disjunct if it has new states. True if it has."""
        others = self.at.setdefault(one.location, [])
        if self._contradictory(one.states, *(negation(other.states) for other in others)):
            return False
        others[:] = [other for other in others if not self._contradictory(other.states, negation(one.states))]
        others.append(one)
        return True

    def __contains__(self, one: Disjunct) -> bool:
        return one in self.at[one.location]

    def formulas(self) -> dict[str, Term]:
        return {name: disjunction(*(d.states for d in parts)) for name, parts in self.at.items() if parts}

    def without_implied(self, given: Term) -> Term:
        """The formula without the conjuncts that the others imply."""
        parts = conjuncts(given)
        for part in list(parts):
            others = [p for p in parts if p is not part]
            if self._contradictory(*others, negation(part)):
                parts = others
        return conjunction(*parts)

    def _contradictory(self, *terms: Term) -> bool:
        self.solver.push()
        self.solver.add(*terms)
        answer = self.solver.check()
        self.solver.pop()
        return answer is False
