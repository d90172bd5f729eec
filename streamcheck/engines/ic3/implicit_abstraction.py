"""IC3 with implicit predicate abstraction.

Decides: what conjunctions of clauses over the predicates decide, if the predicates come from the initial states,
the property, and the refutation of spurious counterexamples.

Papers: thesis (Tegzes), section 3.2; Cimatti, Griggio, Mover, Tonetta, IC3 Modulo Theories via Implicit Predicate
Abstraction (2014). The search is `pdr`'s, properties and assumptions are `system`'s.

Ingredients:
    predicates from I and P                    `Predicates.predecessors`  [thesis 3.2.1]
    abstract states                            `AbstractPredecessors`     [thesis 3.2.1]: every predicate's value
    "refute all paths"                         `Predicates.refine`        [thesis 3.2.1]: any violation in n steps?
    "refute specific path"                     `PredicatesPath`           [thesis 3.2.1]: does a run follow this one?
    new predicates from sequence interpolants  `smt.interpolate`          [thesis 3.2.2]
    the way out when none come                 `Obligation.context`       (ours): the literals of the exact predecessor

Vocabulary: Π = `predicates`; ŝ = the cube of an obligation; Λ(ŝ, x) means that x is in ŝ, and needs no variables of
its own, because a cube is written with the predicates themselves. So T̂ is T, the abstraction implicit: an obligation
holds *all* states with the predicate values of the one the solver named, and one of these may lead on where the named
one does not.

Limitations: the number of predicates; each is evaluated in every model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, variables
from streamcheck.core.types import Value
from streamcheck.engines.bmc import violation
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import Frames, NoAnswer
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.pdr import Predecessors
from streamcheck.engines.ic3.space import Transition
from streamcheck.engines.ic3.system import STATES, SystemEngine, initial_of, require_true
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Falsified
from streamcheck.smt.implicant import cube as implicant
from streamcheck.smt.interpolate import atoms, interpolants


@dataclass(frozen=True, slots=True)
class AbstractPredecessors:
    """ŝ: each predicate as it is in the model; the literals of the exact predecessor are kept as context."""

    inputs: Mapping[Term, None]
    predicates: dict[Term, None]

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        return None

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        roots, evaluation = along.roots(one.cube), Evaluation(model)
        require_true(roots, evaluation)
        abstract = tuple(p if evaluation.of(p) is True else negation(p) for p in self.predicates)
        return one.predecessor(along, abstract, context=tuple(implicant(roots, evaluation, self.inputs)))


class Predicates(SystemEngine):
    """The strategy "refute all paths"."""

    name: ClassVar[str] = "predicates"

    def predecessors(self) -> Predecessors:
        claims = [c.term for c in self.system.properties if self._is_of_state(c.term)]
        self.predicates = dict.fromkeys(atoms([initial_of(self.system), *claims]))
        return AbstractPredecessors(dict.fromkeys(self.system.inputs), self.predicates)

    def _is_of_state(self, given: Term) -> bool:
        state = {s.var for s in self.system.state}
        return all(v in state for v in variables([given]))

    def refine(self, first: Obligation, claim: Claim) -> Falsified | None:
        chain = [one for one in first.chain() if one.place == STATES]
        formulas = interpolants(self.system, self.path(chain), negation(claim.term))
        if formulas is None:
            falsified = self.violation(claim, len(chain))
            if falsified is not None:
                return falsified
        if not self._learn(formulas or []) and not self._learn([c for one in chain for c in one.context]):
            raise NoAnswer("no new predicates")
        return None

    def path(self, chain: Sequence[Obligation]) -> list[Cube]:
        """Cubes without literals, so that every path of this length is refuted."""
        return [() for _ in chain]

    def violation(self, claim: Claim, steps: int) -> Falsified | None:
        """I ∧ T^n ∧ ¬P: a run of this length that breaks the property, if there is one."""
        return violation(self.system, claim, steps)

    def _learn(self, formulas: Sequence[Term]) -> bool:
        """Add the atoms to Π; are there new ones?"""
        before = len(self.predicates)
        self.predicates |= dict.fromkeys(atom for atom in atoms(formulas) if self._is_of_state(atom))
        return len(self.predicates) > before


class PredicatesPath(Predicates):
    """The strategy "refute specific path"."""

    name: ClassVar[str] = "predicates-path"

    def path(self, chain: Sequence[Obligation]) -> list[Cube]:
        return [one.cube for one in chain]

    def violation(self, claim: Claim, steps: int) -> Falsified | None:
        """The run along the path has been looked for already."""
        return None
