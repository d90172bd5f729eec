"""Proofs without what they do not need, as far as the time goes: the checker accepts what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction, simplify
from streamcheck.core.term import Term, substitute, walk
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.certificate_json import proof_from_plain, proof_to_plain
from streamcheck.problem.problem import Problem, claim_named
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants, ProofEvidence
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.transform.scalars import scalars, wholes

if TYPE_CHECKING:
    from streamcheck.run.prove import Settings

P = TypeVar("P", bound=ProofEvidence)
Accepts: TypeAlias = Callable[[P], bool]


def smallest_proof(specification: Specification, prop: str, proof: Certificate, seconds: float) -> Certificate:
    """The proof without invariants and equalities that it does not need. Parts of arrays and structs are read from
    them."""
    whole = claim_named(specification, prop).invariant
    claim = scalars([whole])[whole][0]
    smallest = _last_accepted(specification, prop, proof, seconds, lambda accepts: _minimize(proof, claim, accepts))
    image = substitute([*smallest.invariants, *smallest.equalities], wholes(specification.variables()))
    invariants = tuple(whole if t is claim else image[t] for t in smallest.invariants)
    return replace(smallest, invariants=invariants, equalities=tuple(image[e] for e in smallest.equalities))


def smallest_location_proof(
    program: Automaton, prop: str, proof: LocationInvariants, seconds: float
) -> LocationInvariants:
    """The proof without conditions that it does not need."""
    return _last_accepted(program, prop, proof, seconds, lambda accepts: _minimize_locations(proof, accepts))


def location_proof(proof: BlockCertificate) -> LocationInvariants:
    """The invariants of a certificate about blocks, location by location."""
    blocks, invariant = proof.blocks, conjunction(*proof.certificate.invariants)
    places = [place for place in blocks.locations if place not in blocks.bad]
    there = [substitute([invariant], {blocks.place: blocks.code(place)})[invariant] for place in places]
    simpler = simplify(there)
    return LocationInvariants(tuple((place, simpler[t]) for place, t in zip(places, there, strict=True)))


def inductive_proof(specification: Specification, prop: str, settings: Settings) -> Certificate | None:
    """An invariant for a property that was proved without one, if there is one at once."""
    from streamcheck.run.prove import prove

    verdicts = prove(specification, replace(settings, engines=("ic3", "templates"), props=(prop,), explain=0.0))
    found = [r.evidence for r in verdicts.results if r.name == prop]
    return next((proof for proof in found if isinstance(proof, Certificate) and proof.kind == "inductive"), None)


def _last_accepted(problem: Problem, prop: str, proof: P, seconds: float, minimize: Callable[[Accepts[P]], None]) -> P:
    """The last proof that the checker accepts of those that `minimize` offers; it has so many seconds."""

    def work(send: Send) -> None:
        from streamcheck.certify.check import Checker

        checker = Checker(problem)

        def accepts(part: P) -> bool:
            if checker.check(prop, part) is not None:
                return False
            send(proof_to_plain(part))
            return True

        minimize(accepts)
        send(None)

    smallest = proof
    with Sandbox(work, seconds=seconds, doing="checking") as child:
        try:
            while (row := child.receive()) is not None:
                found = proof_from_plain(row)
                assert isinstance(found, type(proof))
                smallest = found
        except SpecError:  # the time is over
            pass
    return smallest


def _minimize(proof: Certificate, claim: Term, accepts: Accepts[Certificate]) -> None:
    """Offer ever smaller parts of the proof, each a part of the last one accepted: without all that may go at once,
    then one by one."""
    smallest = proof

    def offer(part: Certificate) -> None:
        nonlocal smallest
        if part != smallest and part.invariants and accepts(part):
            smallest = part

    offer(replace(smallest, invariants=(claim,)))
    offer(replace(smallest, equalities=()))
    for equality in smallest.equalities:
        offer(replace(smallest, equalities=tuple(e for e in smallest.equalities if e is not equality)))
    for invariant in sorted(smallest.invariants, key=_size, reverse=True):
        offer(replace(smallest, invariants=tuple(t for t in smallest.invariants if t is not invariant)))


def _minimize_locations(proof: LocationInvariants, accepts: Accepts[LocationInvariants]) -> None:
    """The same for the conditions of the locations, the largest first."""
    parts = {place: conjuncts(invariant) for place, invariant in proof.at}
    for place, part in sorted(
        [(place, part) for place, those in parts.items() for part in those], key=lambda row: -_size(row[1])
    ):
        rest = {**parts, place: [t for t in parts[place] if t is not part]}
        if accepts(LocationInvariants(tuple((p, conjunction(*those)) for p, those in rest.items()))):
            parts = rest


def _size(t: Term) -> int:
    return sum(1 for _ in walk([t]))
