"""Proofs that are composed of proofs of parts.

A part is a specification of its own: the body of a component, or a whole in which some instances have been cut out:
their outputs are inputs of the part, and what their contracts guarantee is assumed. An embedding says what the
variables of a part stand for in the whole, and which claims of the whole are those of the part. `certify.composition`
has the rules by which that is a proof.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamcheck.core.term import Term
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate


@dataclass(frozen=True, slots=True)
class Embedding:
    """`images` are terms of the whole, by the names of the part's variables; `claims` pairs of a property of the part
    and the claim of the whole that it proves."""

    images: Mapping[str, Term]
    claims: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ProofPart:
    """A part with proofs of some of its properties, and the places at which it stands in the whole."""

    problem: Specification
    proofs: Mapping[str, Certificate]
    embeddings: tuple[Embedding, ...]


@dataclass(frozen=True, slots=True)
class Composition:
    """A proof of claims of a whole by proofs of its parts, each of which uses only what those before it prove."""

    parts: tuple[ProofPart, ...]
