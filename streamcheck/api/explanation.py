"""The explanation of a verdict: what `streamcheck explain` shows below its line."""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.problem.result import Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.report.explanation import falsified_lines, proof_lines
from streamcheck.run.causes import causes
from streamcheck.run.explain import smallest_proof


def explanation_lines(
    specification: Specification, result: Result, seconds: float, taken: set[str] | None = None
) -> Iterator[str]:
    """The causes of a violation from the last step back, or the invariant of a proof, which may take so long to be made
    small. `taken` are names that the text of other proofs defines."""
    if result.run is not None:
        yield from falsified_lines(specification, result, causes(specification, result.prop, result.run))
    elif isinstance(result.evidence, Certificate):
        proof = smallest_proof(specification, result.name, result.evidence, seconds)
        yield from proof_lines(specification, result.prop, proof, set() if taken is None else taken)
