"""IC3 with implicit predicate abstraction on the locations of a program.

Decides: programs whose errors are excluded by clauses over a few predicates; and short paths to the error.

Papers: [Tegzes, section 3.2]. There the location is one of the variables, and `ic3.implicit_abstraction` on the
program's system is that search. Here each location has frames of its own, as in [LNN15]: a cube at a location is one
with `l = ...`, and no query is about the whole of T.

Ingredients:
    frames, obligations, lemmas           `ic3.pdr`, `levels` (a level is a turn of a loop)
    abstract states, generalised          `ic3.abstract_states`
    "refute all paths", "specific path"   `all_paths`; the predicates that they give are those of every location

Departure: "refute specific path" asks about the path's edges, whatever the abstract states on it.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Sequence

from streamcheck.core.evaluate import is_unknown_function
from streamcheck.core.term import FALSE, Term, walk
from streamcheck.core.types import plural
from streamcheck.engines.cfa.all_paths import Layers, PathFormula, Preconditions, layers_of_length
from streamcheck.engines.cfa.base import Answer, Inconclusive, ProgramEngine, Safe, Unsafe, not_excluded
from streamcheck.engines.cfa.images import is_over
from streamcheck.engines.cfa.levels import space_of_program
from streamcheck.engines.cfa.preimages import EdgeTransition
from streamcheck.engines.ic3.abstract_states import AbstractPredecessors
from streamcheck.engines.ic3.frames import Frames, NoAnswer
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.options import PredicatesOptions
from streamcheck.engines.ic3.pdr import NO_STATE, Fixpoint, Frontier, Pdr
from streamcheck.engines.ic3.space import NoState, Transition
from streamcheck.engines.protocol import BY_NAME_ONLY, Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.smt.interpolate import atoms

LOG = logging.getLogger(__name__)


class LocatedPredicates(ProgramEngine):
    def __init__(self, name: str, options: PredicatesOptions) -> None:
        self.name = name  # type: ignore[misc]
        self.options = options

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        if any(is_unknown_function(node) for node in walk(root for edge in program.edges for root in edge.roots())):
            return Inconclusive(BY_NAME_ONLY)
        (error,) = program.bad
        if program.entry == error:
            return Unsafe(())
        self.program = program
        given = atoms([p for p in problem.predicates if is_over(p, program.variables)])
        self.predicates = dict.fromkeys(given)
        self.before = Preconditions()
        self.frames = Frames(
            space_of_program(program, turns=True), problem.patience, incremental=self.options.incremental
        )
        facts = [a.term for a in problem.system.assumptions]
        everywhere = dict.fromkeys(program.locations, self.predicates)
        states = AbstractPredecessors(everywhere, facts, _choices, generalize=self.options.generalize)
        pdr = Pdr(self.name, self.frames, states, self.options)
        try:
            answer = yield from pdr.decide(Frontier(pdr, error), self._witness)
        except NoAnswer as reason:
            return Inconclusive(str(reason))
        except NoState:
            return Inconclusive(NO_STATE)
        return Safe(self._invariants(answer.level)) if isinstance(answer, Fixpoint) else Unsafe(answer)

    def _invariants(self, level: int) -> dict[str, Term]:
        program = self.program
        formulas = {name: self.frames.formula(name, level) for name in program.locations if name not in program.bad}
        return {name: formula for name, formula in formulas.items() if formula is not FALSE}

    def _witness(self, first: Obligation) -> Sequence[Edge] | None:
        """The edges of a path that has a run; None if there is none, and there are new predicates."""
        steps = list(first.chain())
        taken = [one.transition.edge for one in steps if isinstance(one.transition, EdgeTransition)]
        formula = self._formula([[edge] for edge in taken])
        if formula.check() is True:
            return taken
        if not self.options.refine:
            raise NoAnswer(not_excluded(taken))
        if self.options.refute == "all-paths":
            formula = self._formula(layers_of_length(self.program, len(taken)))
            if formula.check() is True:
                return formula.path()
        if not self._learn_from(formula) and not self._add(atoms([c for one in steps for c in one.context])):
            raise NoAnswer("no new predicates")
        return None

    def _formula(self, layers: Layers) -> PathFormula:
        return PathFormula(self.program, layers, self.frames.patience)

    def _learn_from(self, formula: PathFormula) -> bool:
        """True if there are more predicates than before. `formula` has been checked."""
        return formula.answer is False and self._add(self.before.atoms(formula.layers, formula.needed_parts()))

    def _add(self, found: Iterable[Term]) -> bool:
        known = len(self.predicates)
        self.predicates |= dict.fromkeys(atom for atom in found if is_over(atom, self.program.variables))
        count = len(self.predicates)
        LOG.info("%s: refined: %s, %d new", self.name, plural(count, "predicate"), count - known)
        return count > known


def _choices(along: Transition) -> Sequence[Term]:
    return along.edge.choices if isinstance(along, EdgeTransition) else ()
