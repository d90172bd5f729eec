"""IC3 with implicit predicate abstraction.

Decides: properties that follow from conjunctions of clauses over the predicates, if the predicates come from the
initial states, the property, and the refutation of spurious counterexamples.

Papers: [Tegzes, section 3.2]; [CGMT14]. The search is `pdr`'s, properties and assumptions are `system`'s.

Ingredients:
    predicates from I and P                    `Predicates.predecessors`  [Tegzes 3.2.1]
    abstract states                            `AbstractPredecessors`     [Tegzes 3.2.1]: every predicate's value
    "refute all paths"                         `Predicates.refine`        [Tegzes 3.2.1]: any violation in n steps?
    "refute specific path"                     `Predicates.refine`        [Tegzes 3.2.1]: does a run follow this one?
    new predicates from sequence interpolants  `smt.interpolate`          [Tegzes 3.2.2]
    the fallback if there are none             `Obligation.context`       (ours): the literals of the exact predecessor

Vocabulary: Π = `predicates`; ŝ = the cube of an obligation; Λ(ŝ, x) means that x is in ŝ, and needs no variables of
its own, because a cube is written with the predicates themselves. So T̂ is T, the abstraction implicit: an obligation
holds *all* states with the predicate values of the one in the model, and one of these may have a successor that the one
in the model has not.

Limitations: the number of predicates; each is evaluated in every model.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import ClassVar

from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, variables
from streamcheck.core.types import plural
from streamcheck.engines.bmc import violation
from streamcheck.engines.ic3.abstract_states import AbstractPredecessors
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import NoAnswer
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.options import PredicatesOptions
from streamcheck.engines.ic3.pdr import Predecessors
from streamcheck.engines.ic3.system import STATES, SystemEngine, initial_of
from streamcheck.engines.protocol import Event, Inbox, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Falsified
from streamcheck.smt.interpolate import atoms, interpolants

LOG = logging.getLogger(__name__)


class Predicates(SystemEngine[PredicatesOptions]):
    """Both strategies of refinement; "refute all paths" if nothing else is said."""

    name: ClassVar[str] = "predicates"

    def __init__(self, options: PredicatesOptions | None = None) -> None:
        super().__init__(options or PredicatesOptions())

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        program = problem.program
        if program is None or not self.options.locations or program.place not in {s.var for s in problem.system.state}:
            return super().run(problem, inbox)
        from streamcheck.engines.cfa.located_predicates import LocatedPredicates  # that has the search from here

        return LocatedPredicates(self.name, self.options).run(problem, inbox)

    def search_options(self) -> PredicatesOptions:
        return self.options

    def predecessors(self) -> Predecessors:
        claims = [c.term for c in self.system.properties if self._is_of_state(c.term)]
        self.predicates = dict.fromkeys(atoms([initial_of(self.system), *claims]))
        facts = [a.term for a in self.system.assumptions if self._is_of_state(a.term)]
        inputs = self.system.inputs
        return AbstractPredecessors(
            {STATES: self.predicates}, facts, lambda _: inputs, generalize=self.options.generalize
        )

    def _is_of_state(self, given: Term) -> bool:
        state = {s.var for s in self.system.state}
        return all(v in state for v in variables([given]))

    def refine(self, first: Obligation, claim: Claim) -> Falsified | None:
        if not self.options.refine:
            raise NoAnswer("the predicates do not exclude a path that no run takes")
        chain = [one for one in first.chain() if one.place == STATES]
        all_paths = self.options.refute == "all-paths"
        path: list[Cube] = [() if all_paths else one.cube for one in chain]
        formulas = interpolants(self.system, path, negation(claim.term))
        if formulas is None and all_paths:  # the run along the one path has been looked for already
            # I ∧ T^n ∧ ¬P
            falsified = violation(self.system, claim, len(chain))
            if falsified is not None:
                return falsified
        known, origin = len(self.predicates), "interpolants"
        if not self._learn(formulas or []):
            origin = "exact predecessors"
            if not self._learn([c for one in chain for c in one.context]):
                raise NoAnswer("no new predicates")
        count = len(self.predicates)
        LOG.info("%s: refined by %s: %s, %d new", self.name, origin, plural(count, "predicate"), count - known)
        return None

    def _learn(self, formulas: Sequence[Term]) -> bool:
        """Add the atoms to Π. True if there are new ones."""
        before = len(self.predicates)
        self.predicates |= dict.fromkeys(atom for atom in atoms(formulas) if self._is_of_state(atom))
        return len(self.predicates) > before


class PredicatesPath(Predicates):
    """The strategy "refute specific path"."""

    name: ClassVar[str] = "predicates-path"

    def __init__(self, options: PredicatesOptions | None = None) -> None:
        super().__init__(options or PredicatesOptions(refute="path"))
