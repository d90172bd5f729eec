"""The one entry to the checker: decides if evidence proves a claim of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from streamcheck.certify.checker import SpecificationChecker
from streamcheck.certify.judge import Rejected
from streamcheck.certify.well_formed import IllFormed, require_well_formed
from streamcheck.core.term import Term
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem, claim_named
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants, ProofEvidence

if TYPE_CHECKING:
    from streamcheck.certify.locations import AutomatonChecker

UNFIT = Rejected("it is not about a problem of this kind")


class Checker:
    """Judges proofs of one problem's claims. What several claims share is judged once."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._well_formed: set[Term] = set()
        self._of_specification: SpecificationChecker | None = None
        self._of_automaton: AutomatonChecker | None = None
        match problem:
            case Specification():
                self._of_specification = SpecificationChecker(problem)
            case Automaton():
                from streamcheck.certify.locations import AutomatonChecker

                self._of_automaton = AutomatonChecker(problem)
            case _:
                assert_never(problem)

    def check(self, prop: str, evidence: ProofEvidence) -> Rejected | None:
        """None if the evidence proves the claim."""
        try:
            require_well_formed(evidence, self._well_formed)
        except IllFormed as why:
            return Rejected(str(why))
        match evidence:
            case Certificate():
                of_specification = self._of_specification
                return (
                    UNFIT
                    if of_specification is None
                    else of_specification.check(claim_named(self.problem, prop), evidence)
                )
            case LocationInvariants() | BlockCertificate():
                of_automaton = self._of_automaton
                return UNFIT if of_automaton is None else of_automaton.check(prop, evidence)
        assert_never(evidence)
