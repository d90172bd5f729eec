"""Proofs by cvc5 of what a certificate's conditions ask, each beside its condition as SMT-LIB, for a checker of proofs.

Machine integers are whole numbers with remainders if each operation has such a form, else bit-vectors: cvc5 has fewer
kinds of steps about numbers, and checkers know them all. If a proof is right does not depend on the solver.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from streamcheck.certify.bitwise import Bitwise, Unrenderable
from streamcheck.certify.checker import VerificationCondition, conditions_of, implication_of
from streamcheck.certify.judge import Query, script_of
from streamcheck.certify.remainders import Remainders
from streamcheck.certify.runs import Runs, read_specification
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate


@dataclass(frozen=True, slots=True)
class ProofText:
    """The proof that a formula is contradictory. None if cvc5 found none in the time."""

    condition: str
    formula: str
    proof: str | None


ProofSearch: TypeAlias = Callable[
    [str], str | None
]  # from a formula to the proof that it is contradictory, as `cvc5_proof`


def proofs_of(
    specification: Specification, claim: Claim, certificate: Certificate, prover: ProofSearch
) -> Iterator[ProofText]:
    """One for each condition of the certificate, or one for each of its parts."""
    reading = read_specification(specification)
    yield from _prove(implication_of(reading, reading.invariant(claim), certificate), prover)
    for condition in conditions_of(reading, certificate):
        yield from _prove(condition, prover)


def _prove(condition: VerificationCondition, prover: ProofSearch) -> Iterator[ProofText]:
    whole = _proof(condition.what, condition.runs, condition.query, prover)
    if whole.proof is not None or len(condition.parts) < 2:
        yield whole
        return
    for number, part in enumerate(condition.parts, 1):
        yield _proof(f"{condition.what}, part {number} of {len(condition.parts)}", condition.runs, part, prover)


def _proof(what: str, runs: Runs, query: Query, prover: ProofSearch) -> ProofText:
    texts = _texts(runs, query)
    for text in texts:
        proof = prover(text)
        if proof is not None:
            return ProofText(what, f"{text}(check-sat)\n", proof)
    return ProofText(what, f"{texts[-1]}(check-sat)\n", None)


def _texts(runs: Runs, query: Query) -> Sequence[str]:
    """The query in each rendering that it has. Numerals of bits are binary: some readers know no others."""
    texts: dict[str, None] = {}
    for rendering in (Remainders(), Bitwise()):
        try:
            texts[_with_binary(script_of(runs, rendering, query).text())] = None
        except Unrenderable:
            continue
    return list(texts)


def _with_binary(text: str) -> str:
    return re.sub(r"\(_ bv(\d+) (\d+)\)", lambda found: f"#b{int(found[1]):0{int(found[2])}b}", text)
