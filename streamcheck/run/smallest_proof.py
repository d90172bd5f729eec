"""Proofs without what they do not need, as far as the time goes: the checker accepts what is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar, assert_never

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term, substitute, walk
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.certificate_json import proof_from_plain, proof_to_plain
from streamcheck.problem.problem import Problem, claim_named
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants, ProofEvidence
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.run.small_conditions import size, small_conditions, without_implied
from streamcheck.transform.scalars import scalars, wholes

if TYPE_CHECKING:
    from streamcheck.run.prove import Settings

READABLE = 25  # nodes of a condition
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
    """The proof without conditions that it does not need, and without places where nothing is left."""
    smallest = _last_accepted(program, prop, proof, seconds, lambda accepts: _minimize_locations(proof, accepts))
    return replace(smallest, at=tuple(row for row in smallest.at if row[1] is not TRUE))


def smallest_block_proof(program: Automaton, prop: str, proof: BlockCertificate, seconds: float) -> BlockCertificate:
    """The proof without invariants that it does not need."""
    return _last_accepted(program, prop, proof, seconds, lambda accepts: _minimize_blocks(proof, accepts))


def location_proof(proof: BlockCertificate) -> LocationInvariants:
    """The invariants of a certificate about blocks, location by location."""
    blocks, invariant = proof.blocks, conjunction(*proof.certificate.invariants)
    places = [place for place in blocks.locations if place not in blocks.bad]
    there = [substitute([invariant], {blocks.place: blocks.code(place)})[invariant] for place in places]
    return LocationInvariants(tuple(small_conditions(dict(zip(places, there, strict=True))).items()))


def inductive_proof(problem: Problem, prop: str, settings: Settings) -> ProofEvidence | None:
    """A proof by invariants, of a property that was proved in another way; the engine is asked first whose invariants
    are easiest to read."""
    from streamcheck.run.prove import prove

    for engines in (("templates",), ("ic3", "templates")):
        limits = replace(settings, timeout=settings.timeout / 2, engines=engines, props=(prop,), explain=0.0)
        for result in prove(problem, limits).results:
            if result.name == prop and (proof := result.proof) is not None and is_invariant(proof):
                return proof
    return None


def condition_count(proof: LocationInvariants) -> int:
    """The number of conditions at all locations."""
    return sum(len(conjuncts(invariant)) for _, invariant in proof.at)


def is_readable(proof: ProofEvidence) -> bool:
    """True of invariants of a program's lines that are short, and without choices."""
    parts = [part for _, t in proof.at for part in conjuncts(t)] if isinstance(proof, LocationInvariants) else None
    return parts is not None and all(size(t) <= READABLE and all(n.op != "mux" for n in walk([t])) for t in parts)


def is_invariant(proof: ProofEvidence) -> bool:
    """True if every step keeps what the proof states: no runs are followed, and no states compared."""
    match proof:
        case LocationInvariants(rounds=rounds):
            return rounds == 1
        case BlockCertificate(certificate=certificate):
            return is_invariant(certificate)
        case Certificate():
            return proof.kind == "inductive" and proof.k == 1
        case _:
            assert_never(proof)


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
    for invariant in sorted(smallest.invariants, key=size, reverse=True):
        offer(replace(smallest, invariants=tuple(t for t in smallest.invariants if t is not invariant)))


def _minimize_locations(proof: LocationInvariants, accepts: Accepts[LocationInvariants]) -> None:
    """The same for the conditions of the locations: without those that others imply, then one by one, the largest
    first."""
    parts = {place: conjuncts(invariant) for place, invariant in proof.at}

    def offer(rest: dict[str, list[Term]]) -> None:
        nonlocal parts
        if accepts(replace(proof, at=tuple((p, conjunction(*those)) for p, those in rest.items()))):
            parts = rest

    offer({place: without_implied(those) for place, those in parts.items()})
    for place, part in sorted(
        [(place, part) for place, those in parts.items() for part in those], key=lambda row: -size(row[1])
    ):
        offer({**parts, place: [t for t in parts[place] if t is not part]})


def _minimize_blocks(proof: BlockCertificate, accepts: Accepts[BlockCertificate]) -> None:
    """The same for the parts of the invariants."""
    parts = [part for invariant in proof.certificate.invariants for part in conjuncts(invariant)]
    for part in sorted(parts, key=size, reverse=True):
        rest = [t for t in parts if t is not part]
        if rest and accepts(replace(proof, certificate=replace(proof.certificate, invariants=tuple(rest)))):
            parts = rest
