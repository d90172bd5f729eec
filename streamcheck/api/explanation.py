"""The explanation of a verdict: what `streamcheck explain` shows below its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants
from streamcheck.report.explanation import falsified_lines, proof_lines
from streamcheck.report.program_explanation import known_lines, program_cause_lines, program_proof_lines
from streamcheck.report.trace import AS_USUAL, TraceOptions
from streamcheck.run.causes import causes
from streamcheck.run.path_causes import path_causes
from streamcheck.run.prove import Settings
from streamcheck.run.smallest_proof import inductive_proof, location_proof, smallest_location_proof, smallest_proof


@dataclass(slots=True)
class Explaining:
    """Explains the results of one problem. A proof may take so many seconds to be made small."""

    problem: Problem
    seconds: float
    results: Sequence[Result] = ()  # all of them, once they are known
    options: TraceOptions = AS_USUAL  # for the causes of violations
    taken: set[str] = field(default_factory=set)  # names that the text of proofs defines

    def lines(self, result: Result) -> Iterator[str]:
        """The causes of a violation from the last step back, or the invariant of a proof; of an open property of a
        program, what is known at its lines."""
        if isinstance(self.problem, Automaton):
            yield from self._of_program(self.problem, result)
        elif result.run is not None:
            yield from falsified_lines(
                self.problem, result, causes(self.problem, result.prop, result.run), self.options
            )
        elif isinstance(result.evidence, Certificate):
            yield from self._of_proof(self.problem, result, result.evidence)

    def _of_proof(self, specification: Specification, result: Result, proof: Certificate) -> Iterator[str]:
        smallest = smallest_proof(specification, result.name, proof, self.seconds)
        yield from proof_lines(specification, result.prop, smallest, self.taken)
        if proof.kind == "complete":
            other = inductive_proof(specification, result.name, Settings(timeout=self.seconds))
            if other is not None:
                other = smallest_proof(specification, result.name, other, self.seconds)
                yield "    it has an invariant too:"
                yield from proof_lines(specification, result.prop, other, self.taken)

    def _of_program(self, program: Automaton, result: Result) -> Iterator[str]:
        match result.evidence:
            case LocationInvariants() as proof:
                smallest = smallest_location_proof(program, result.name, proof, self.seconds)
                yield from program_proof_lines(program, smallest)
            case BlockCertificate() as proof:
                yield from program_proof_lines(program, location_proof(proof), proof.certificate)
            case _ if result.path is not None:
                yield from program_cause_lines(*path_causes(result.path), self.options)
            case _ if result.unknown is not None:
                known = [r.evidence for r in self.results if isinstance(r.evidence, LocationInvariants)]
                yield from known_lines(program, known, result.unknown)
