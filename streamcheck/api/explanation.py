"""The explanation of a verdict: what `streamcheck explain` shows below its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants, ProofEvidence
from streamcheck.report.explanation import falsified_lines, infinite_run_lines, proof_lines
from streamcheck.report.program_explanation import known_lines, program_cause_lines, program_proof_lines, together
from streamcheck.report.trace import AS_USUAL, TraceOptions
from streamcheck.run.causes import causes
from streamcheck.run.path_causes import path_causes
from streamcheck.run.prove import Settings
from streamcheck.run.small_conditions import small_conditions
from streamcheck.run.smallest_proof import (
    condition_count,
    inductive_proof,
    is_invariant,
    is_readable,
    location_proof,
    smallest_block_proof,
    smallest_location_proof,
    smallest_proof,
)

AT_ONCE = 2.0  # seconds for an invariant that would only be easier to read
MANY = 6  # conditions of a proof: for more, another one is looked for


@dataclass(slots=True)
class Explaining:
    """Explains the results of one problem. A proof may take so many seconds to be made small; if it `searches`, another
    proof is looked for where the one at hand is hard to read."""

    problem: Problem
    seconds: float
    results: Sequence[Result] = ()  # all of them, once they are known
    options: TraceOptions = AS_USUAL  # for the causes of violations
    taken: set[str] = field(default_factory=set)  # names that the text of proofs defines
    searches: bool = True

    def lines(self, result: Result) -> Iterator[str]:
        """The causes of a violation from the last step back, or the invariant of a proof; of an open property of a
        program, what is known at its lines."""
        if isinstance(self.problem, Automaton):
            yield from self._of_program(self.problem, result)
        elif result.prop.is_about_infinite_runs:
            yield from infinite_run_lines(self.problem, result)
        elif result.run is not None:
            yield from falsified_lines(
                self.problem, result, causes(self.problem, result.prop, result.run), self.options
            )
        elif isinstance(result.evidence, Certificate):
            yield from self._of_proof(self.problem, result, result.evidence)

    def _of_proof(self, specification: Specification, result: Result, proof: Certificate) -> Iterator[str]:
        smallest = smallest_proof(specification, result.name, proof, self.seconds)
        yield from proof_lines(specification, result.prop, smallest, self.taken)
        if proof.kind == "complete" and self.searches:
            yield from self._of_other(result, self._invariant_for(result, self.seconds))

    def _invariant_for(self, result: Result, seconds: float) -> ProofEvidence | None:
        return inductive_proof(self.problem, result.name, Settings(timeout=seconds))

    def _of_other(self, result: Result, proof: ProofEvidence | None) -> Iterator[str]:
        """The lines of an invariant for a property that was proved without one, or that there is none so soon."""
        if proof is None:
            yield f"    an invariant was looked for, and none was found in {self.seconds:.3g} s"
            return
        yield "    it has an invariant too:"
        if isinstance(self.problem, Automaton):
            yield from self._of_program_proof(self.problem, result, proof)
        elif isinstance(proof, Certificate):
            smallest = smallest_proof(self.problem, result.name, proof, self.seconds)
            yield from proof_lines(self.problem, result.prop, smallest, self.taken)

    def _of_program(self, program: Automaton, result: Result) -> Iterator[str]:
        if result.proof is not None:
            yield from self._of_program_proof(program, result, result.proof)
            if self.searches and not is_invariant(result.proof):
                follows_runs = result.kind in ("complete", "ended", "unwound")
                other = self._invariant_for(result, self.seconds if follows_runs else min(self.seconds, AT_ONCE))
                if follows_runs or (other is not None and is_readable(other)):
                    yield from self._of_other(result, other)
        elif result.path is not None:
            yield from program_cause_lines(*path_causes(result.path), self.options)
        elif result.unknown is not None:
            proofs = [r.evidence for r in self.results if isinstance(r.evidence, LocationInvariants)]
            yield from known_lines(program, small_conditions(together(proofs)), result.unknown, self.options.words)

    def _of_program_proof(self, program: Automaton, result: Result, proof: ProofEvidence) -> Iterator[str]:
        match proof:
            case LocationInvariants():
                smallest = smallest_location_proof(program, result.name, proof, self.seconds)
                shorter = None
                if self.searches and condition_count(smallest) > MANY:
                    shorter = self._shorter(program, result, smallest)
                if shorter is not None:
                    yield f"    its invariant has {condition_count(smallest)} conditions, and another one has fewer:"
                yield from program_proof_lines(program, shorter or smallest)
            case BlockCertificate():
                small = smallest_block_proof(program, result.name, proof, self.seconds)
                yield from program_proof_lines(program, location_proof(small), small.certificate)
            case Certificate():
                raise AssertionError("a proof of a program is about its locations or its blocks")
            case _:
                assert_never(proof)

    def _shorter(self, program: Automaton, result: Result, proof: LocationInvariants) -> LocationInvariants | None:
        """Another proof with fewer conditions, if one is found at once."""
        other = self._invariant_for(result, min(self.seconds, AT_ONCE))
        if not isinstance(other, LocationInvariants):
            return None
        other = smallest_location_proof(program, result.name, other, self.seconds)
        return other if condition_count(other) < condition_count(proof) else None
