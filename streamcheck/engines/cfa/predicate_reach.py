"""Abstract reachability with predicates, refined until it decides.

Decides: programs whose errors are excluded by a few conditions for each location; and errors that are not too deep.

Papers: [TUM], whose numbers are cited; [BPR01]; [HJMS02] for lazy abstraction, [HJMM04] for interpolants.

Ingredients:
    φ#_reach (8)                      `_explore`: abstract states, each left through every edge, oldest first
    post# (7), α (9)                  `images.CartesianAbstraction`
    states already being explored     `Explored.add`: the same location, and fewer predicates hold
    is the path feasible?             `refutation.feasibility`
    predicates for its locations      `refutation.Spurious`: interpolants, else weakest preconditions
    lazy abstraction                  `precision`: each location has predicates of its own; the search begins anew, but
                                      the answers for an edge and an abstract state are kept

Vocabulary: at_l ∧ φ = a location and a `AbstractState`; Preds = `precision`.

Departures: locations are explicit, so that at_l is no predicate; "false" is no state. The user's predicates are Preds
at every location.

Limits: conjunctions only, so two paths to a location stay apart if different predicates hold on them: a program that
branches n times in a row may have 2ⁿ states (large blocks help); loops that interpolants unwind step by step.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from itertools import count
from typing import ClassVar, assert_never

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import Term
from streamcheck.engines.cfa.base import Answer, Inconclusive, ProgramEngine, Safe, Unsafe, not_excluded
from streamcheck.engines.cfa.images import AbstractState, CartesianAbstraction, is_over
from streamcheck.engines.cfa.options import PredicateReachOptions
from streamcheck.engines.cfa.refutation import Feasible, Spurious, UndecidedPath, feasibility
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.smt.interpolate import atoms

LOG = logging.getLogger(__name__)
TURN = 16  # abstract states before another engine of the same worker has its turn


class Reached:
    """An abstract state, and how it was reached."""

    __slots__ = ("before", "edge", "holds", "location", "state")

    def __init__(
        self, location: str, state: AbstractState, before: Reached | None = None, edge: Edge | None = None
    ) -> None:
        self.location, self.state, self.before, self.edge = location, state, before, edge
        self.holds = frozenset(state)

    def path(self) -> list[Edge]:
        edges, here = list[Edge](), self
        while here.before is not None and here.edge is not None:
            edges.append(here.edge)
            here = here.before
        return edges[::-1]


class Explored:
    """The abstract states of each location; none implies another."""

    def __init__(self) -> None:
        self.at: dict[str, list[Reached]] = {}

    def add(self, one: Reached) -> bool:
        """Add the state unless it implies one of them, and remove those that imply it. True if it is added."""
        others = self.at.setdefault(one.location, [])
        if any(other.holds <= one.holds for other in others):
            return False
        others[:] = [other for other in others if not one.holds <= other.holds]
        others.append(one)
        return True

    def __contains__(self, one: Reached) -> bool:
        return one in self.at[one.location]

    def invariants(self) -> dict[str, Term]:
        return {name: disjunction(*(conjunction(*one.state) for one in reached)) for name, reached in self.at.items()}


class PredicateReach(ProgramEngine):
    name: ClassVar[str] = "predicate-reach"

    def __init__(self, options: PredicateReachOptions | None = None) -> None:
        self.options = options or PredicateReachOptions()

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        given = [p for p in problem.predicates if is_over(p, program.variables)]
        self.precision = {location: dict.fromkeys(given) for location in program.locations}
        self.abstraction = CartesianAbstraction(problem.patience)
        for attempt in count():
            explored = Explored()
            error = yield from self._explore(program, explored, attempt)
            if LOG.isEnabledFor(logging.INFO):
                states, known = sum(map(len, explored.at.values())), sum(map(len, self.precision.values()))
                LOG.info("%s: attempt %d: %d abstract states with %d predicates", self.name, attempt, states, known)
            if error is None:
                return Safe(explored.invariants())
            answer = feasibility(program, error.path(), problem.patience)
            match answer:
                case Feasible():
                    return Unsafe(error.path())
                case UndecidedPath(reason):
                    return Inconclusive(reason)
                case Spurious():
                    if not self.options.refine:
                        return Inconclusive(not_excluded(error.path()))
                    if not self._refine(program, answer):
                        return Inconclusive("no new predicates")
                case _:
                    assert_never(answer)
        raise AssertionError

    def _explore(
        self, program: Automaton, explored: Explored, attempt: int
    ) -> Generator[Progress, None, Reached | None]:
        """(8), as far as the first abstract state of the error."""
        begin = Reached(program.entry, ())
        explored.add(begin)
        waiting = deque([begin])
        for handled in count():
            if not waiting:
                return None
            if handled % TURN == 0:
                yield Progress(attempt)
            one = waiting.popleft()
            if one.location in program.bad:
                return one
            for edge in program.edges_from[one.location] if one in explored else ():
                state = self.abstraction.post_sharp(one.state, edge, self.precision[edge.target])
                following = None if state is None else Reached(edge.target, state, one, edge)
                if following is not None and explored.add(following):
                    waiting.append(following)
        raise AssertionError

    def _refine(self, program: Automaton, refuted: Spurious) -> bool:
        """Add predicates from a refutation. True if some location has more than before."""
        return any(self._learn(refuted, interpolants) for interpolants in refuted.refinements())

    def _learn(self, refuted: Spurious, formulas: Sequence[Term]) -> bool:
        before = sum(map(len, self.precision.values()))
        for edge, formula in zip(refuted.edges, formulas, strict=False):
            known = self.precision[edge.source]
            for part in conjuncts(formula):
                known |= dict.fromkeys(_predicates(part))
        return sum(map(len, self.precision.values())) > before


def _predicates(part: Term) -> Iterator[Term]:
    """Predicates from a conjunct of an interpolant: itself, so that the path does not come back; its atoms and their
    opposites, which other paths may need."""
    if part.is_const:
        return
    parts = atoms([part])
    for atom in parts:
        yield from (atom, negation(atom))
    if len(parts) > 1:
        yield part
