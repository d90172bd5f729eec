"""Evidence that the checker can read in one way only.

Evidence comes from engines, from other processes and from files. Each condition of a certificate may be judged in
another rendering, so a term that two renderings read differently could prove anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from streamcheck.certify.logic import MOST_BITS, is_small
from streamcheck.core.term import Term, variables, walk
from streamcheck.core.types import ArrayType, BoolType, IntegerType, MachineType, StructType, Type
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants, ProofEvidence

MOST_STEPS = 10_000  # k of a certificate


class IllFormed(ValueError):
    """Evidence that the checker does not read."""


def require_well_formed(evidence: ProofEvidence, known: set[Term]) -> None:
    """Raise IllFormed if a part has no single reading. `known` holds the terms that passed before, and grows."""
    match evidence:
        case Certificate():
            _require_fields(evidence)
        case LocationInvariants(at, chosen, rounds):
            _require_steps("the number of rounds", rounds)
            if not all(isinstance(location, str) for location, _ in at):
                raise IllFormed("a location has no name")
            if any(v.op != "var" or not isinstance(v.type, BoolType | IntegerType | MachineType) for v in chosen):
                raise IllFormed("it holds for all values of what is no variable, or none of an index")
        case BlockCertificate(blocks, certificate):
            _require_fields(certificate)
            _require_blocks(blocks)
        case _:
            assert_never(evidence)
    arrays = isinstance(evidence, LocationInvariants) and any(isinstance(v.type, ArrayType) for v in _reads(evidence))
    for node in walk(_terms(evidence), set() if arrays else known):
        try:
            if not (arrays and node.op in ("var", "index") and _is_array_of_scalars(node.type)):
                _require_known(node)
        except IllFormed:
            known.discard(node)
            raise


def _require_fields(certificate: Certificate) -> None:
    _require_steps("k", certificate.k)
    if certificate.kind == "unwound":
        raise IllFormed("it follows the loops of a program, and is not about one")
    if not all(isinstance(name, str) for name in certificate.free):
        raise IllFormed("something is left free that has no name")


def _require_steps(what: str, steps: int) -> None:
    if type(steps) is not int or not 1 <= steps <= MOST_STEPS:
        raise IllFormed(f"{what} is {steps}, not a number of steps from 1 to {MOST_STEPS}")


def _require_blocks(blocks: Automaton) -> None:
    """Choices that were terms would have one value in the simulation and another in the runs."""
    chosen = (c for e in blocks.edges for c in e.choices)
    if any(v.op != "var" for v in (*blocks.variables, *chosen)):
        raise IllFormed("the blocks declare a term that is not a variable")
    try:
        hash(blocks.edges)
    except TypeError as why:
        raise IllFormed(f"a block is not of plain values: {why}") from None


def _terms(evidence: ProofEvidence) -> Iterator[Term]:
    match evidence:
        case Certificate(invariants=invariants, equalities=equalities):
            yield from (*invariants, *equalities)
        case LocationInvariants(at, chosen):
            yield from (*(invariant for _, invariant in at), *chosen)
        case BlockCertificate(blocks, certificate):
            yield from blocks.variables
            for edge in blocks.edges:
                yield from (*edge.roots(), *edge.choices)
            yield from _terms(certificate)
        case _:
            assert_never(evidence)


def _require_known(node: Term) -> None:
    if not _is_readable(node.type) or (node.is_const and not is_small(node.payload)):
        raise IllFormed(f"{node.op} of type {node.type}")


def _is_readable(type: Type) -> bool:
    match type:
        case ArrayType() | StructType():
            return False
        case MachineType(width=width):
            return width <= MOST_BITS
    return True


def _reads(evidence: LocationInvariants) -> list[Term]:
    return variables(invariant for _, invariant in evidence.at)


def _is_array_of_scalars(type: Type) -> bool:
    """True of arrays of a program: conditions about them become ones about their elements (`certify.cells`)."""
    while isinstance(type, ArrayType):
        type = type.element
    return _is_readable(type)
