"""IC3 with implicit predicate abstraction.

Decides: what conjunctions of clauses over the predicates decide, where the predicates come from the initial states,
the property, and the refutation of paths that are none.

Papers: the thesis (Tegzes), section 3.2; Cimatti, Griggio, Mover, Tonetta, IC3 Modulo Theories via Implicit Predicate
Abstraction (2014). The loop, the frames and lemma tightening are `cooper_ic3`'s.

Ingredients:
    predicates from I and P                    `_prepare`                [thesis 3.2.1]
    abstract states                            `_abstract`               [thesis 3.2.1]: every predicate's value
    "refute all paths"                         `Predicates._refine`      [thesis 3.2.1]: a violation in n steps?
    "refute specific path"                     `PredicatesPath`          [thesis 3.2.1]: does a run follow this one?
    new predicates from sequence interpolants  `smt.interpolate`         [thesis 3.2.2]
    the way out when none come                 `Obligation.context`      (ours): the literals of the exact predecessor

Vocabulary: Π = `predicates`; ŝ = the cube of an obligation; Λ(ŝ, x) says that x is in ŝ, and needs no variables of
its own, because a cube is written with the predicates themselves. So T̂ is T, the abstraction implicit: an obligation
holds *all* states with the predicate values of the one the solver named, and one of these may lead on where the named
one does not.

Limits: the number of predicates; each is asked about in every model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, term, variables
from streamcheck.engines.bmc import violation
from streamcheck.engines.ic3.cooper_ic3 import Ic3
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import GaveUp
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.protocol import Event
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Falsified
from streamcheck.smt.implicant import cube as implicant
from streamcheck.smt.interpolate import atoms, interpolants


class Predicates(Ic3):
    """The strategy "refute all paths"."""

    name: ClassVar[str] = "predicates"

    def _prepare(self) -> None:
        begun = [term("same", s.var, s.init) for s in self.system.state if s.init is not None]
        stated = [c.term for c in self.system.properties if self._is_state(c.term)]
        self.predicates: dict[Term, None] = dict.fromkeys(atoms([*begun, *stated]))

    def _is_state(self, given: Term) -> bool:
        return all(v in self.frames.nexts for v in variables([given]))

    def _cube(self, roots: list[Term], evaluation: Evaluation | None = None) -> Cube:
        evaluation = evaluation or self._evaluation()
        super()._cube(roots, evaluation)  # is the model one of ours at all?
        return self._abstract(evaluation)

    def _abstract(self, evaluation: Evaluation) -> Cube:
        """ŝ: each predicate as it is in the model."""
        return tuple(p if evaluation.of(p) is True else negation(p) for p in self.predicates)

    def _bad(self, wrong: Term, level: int) -> Obligation:
        exact = implicant([*self.frames.assumptions, wrong], self._evaluation(), self.inputs)
        return Obligation(level, self._cube([*self.frames.assumptions, wrong]), tuple(exact), None)

    def _predecessor(self, one: Obligation) -> Obligation:
        roots = [*self.frames.assumptions, *(self.frames.image(c) for c in one.cube)]
        evaluation = self._evaluation()
        exact = implicant(roots, evaluation, self.inputs)
        return Obligation(one.level - 1, self._cube(roots, evaluation), tuple(exact), one, one.depth + 1)

    # Refinement

    def _refine(self, first: Obligation, claim: Claim) -> Iterator[Event]:
        chain = list(first.chain())
        found = interpolants(self.system, self._path(chain), negation(claim.term))
        if found is None:
            falsified = self._violation(claim, len(chain))
            if falsified is not None:
                yield falsified
                return
        if not self._learn(found or []) and not self._learn([c for one in chain for c in one.context]):
            raise GaveUp("no new predicates")

    def _path(self, chain: list[Obligation]) -> list[Cube]:
        """What is refuted: every path of this length."""
        return [() for _ in chain]

    def _violation(self, claim: Claim, steps: int) -> Falsified | None:
        """I ∧ T^n ∧ ¬P: is there a run of this length at all?"""
        return violation(self.system, claim, steps)

    def _learn(self, formulas: list[Term]) -> bool:
        """Π grows; whether it did."""
        before = len(self.predicates)
        self.predicates |= dict.fromkeys(atom for atom in atoms(formulas) if self._is_state(atom))
        return len(self.predicates) > before


class PredicatesPath(Predicates):
    """The strategy "refute specific path"."""

    name: ClassVar[str] = "predicates-path"

    def _path(self, chain: list[Obligation]) -> list[Cube]:
        return [one.cube for one in chain]

    def _violation(self, claim: Claim, steps: int) -> Falsified | None:
        """The run along the path has been looked for already."""
        return None
