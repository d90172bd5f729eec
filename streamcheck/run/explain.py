"""Why properties have no verdict, and what is known of them: an explanation for each, made when the engines have ended.

The run on which a property does not follow from the steps before is found by bounded model checking of the
specification that begins anywhere, and replayed. Lemmas are those of the engines that the checker accepts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import simplify
from streamcheck.core.term import FALSE, TRUE, Term, variables, walk
from streamcheck.engines.protocol import Invariants
from streamcheck.problem.claim import Claim
from streamcheck.problem.problem import claim_named
from streamcheck.problem.result import Explanation, Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate, Proved, Unmappable
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.transform.fresh import fresh_name
from streamcheck.transform.induction import with_any_start

if TYPE_CHECKING:
    from streamcheck.run.director import Director
    from streamcheck.run.prove import Settings

MOST_STEPS = 3  # of the run on which a property fails
MOST_LEMMAS = 8  # that are told of a property
LARGEST_LEMMA = 25  # nodes
ENGINES = ("bmc", "bit-bmc")


@dataclass(slots=True)
class Explainer:
    """Explains the unknown results of one run."""

    specification: Specification
    settings: Settings
    seconds: float
    certificates: Sequence[Certificate]  # that engines found, not checked
    depth: int = 1  # of the induction that failed
    began: float = field(default_factory=time.monotonic)

    def explain(self, results: list[Result]) -> list[Result]:
        unknown = [r.name for r in results if r.verdict == "unknown"]
        if not unknown or self.seconds <= 0:
            return results
        lemmas = self._checked_lemmas()
        proved = [r.prop.invariant for r in results if r.verdict == "proved" and r.proof is not None]
        failures = self._failures(unknown, [*lemmas, *proved])
        return [replace(r, explanation=self._of(r, failures, lemmas)) if r.name in unknown else r for r in results]

    def _left(self) -> float:
        return max(0.0, self.began + self.seconds - time.monotonic())

    def _of(self, result: Result, failures: dict[str, Result], lemmas: list[Term]) -> Explanation:
        cone = self.specification.needed_by([result.prop.term])
        about = [t for t in lemmas if t is not result.prop.invariant and cone.issuperset(variables([t]))]
        failure = failures.get(result.name)
        return Explanation(None if failure is None else failure.run, tuple(about[:MOST_LEMMAS]))

    # Lemmas

    def _checked_lemmas(self) -> list[Term]:
        """The invariants of certificates that the checker accepts, as far as the time goes; small ones first."""
        declared = set(self.specification.variables())  # not the clock of the tests for vacuity
        found = dict.fromkeys(c for c in self.certificates if declared.issuperset(variables(c.invariants)))
        claims = {p.invariant for p in self.specification.properties}
        smallest = sorted(found, key=lambda c: sum(1 for _ in walk(c.invariants)))
        if not smallest:
            return []
        specification, names = _with_claims(self.specification, smallest)
        sound: list[Term] = []
        with Sandbox(_judge(specification, names, smallest), seconds=self.seconds / 2, doing="checking") as child:
            try:
                for certificate in smallest:
                    if child.receive():
                        sound += certificate.invariants
            except SpecError:  # the time is over
                pass
        return sorted(_worth_telling(sound, claims), key=_size)

    # The step that fails

    def _failures(self, names: list[str], lemmas: list[Term]) -> dict[str, Result]:
        """By property, a run from any state on which it holds until the last step; a longer one if there is time."""
        from streamcheck.run.prove import prove

        found: dict[str, Result] = {}
        for k in dict.fromkeys((1, min(MOST_STEPS, max(1, self.depth)))):
            anywhere = with_any_start(self.specification, names, k, lemmas)
            seconds = self._left()
            settings = replace(
                self.settings, timeout=seconds, engines=ENGINES, props=(), options={}, bound=k + 1, explain=0.0
            )
            found |= {r.name: r for r in prove(anywhere, settings).results if r.run is not None}
        return found


def found_certificates(director: Director) -> Iterator[Certificate]:
    """The engines' inductive certificates for the problem itself, whether checked or not."""
    for model in director.models:
        for fact in director.facts.get(model.model, []):
            if isinstance(fact, Proved | Invariants) and fact.certificate.kind == "inductive":
                with suppress(Unmappable):
                    evidence = model.back(fact.certificate)
                    if isinstance(evidence, Certificate):
                        yield evidence


def induction_depth(director: Director) -> int:
    """The largest k for which k-induction has been tried."""
    return max((w.depths.get("k-induction", 0) for w in director.workers), default=0)


def _with_claims(
    specification: Specification, certificates: Iterable[Certificate]
) -> tuple[Specification, list[list[str]]]:
    """The specification with the invariants of each certificate as claims, and their names."""
    taken = {p.name for p in specification.properties}
    claims: list[Claim] = []
    names: list[list[str]] = []
    for certificate in certificates:
        names.append([])
        for invariant in certificate.invariants:
            name = fresh_name("lemma", taken)
            taken.add(name)
            claims.append(Claim(name, invariant))
            names[-1].append(name)
    return replace(specification, properties=(*specification.properties, *claims)), names


def _judge(
    specification: Specification, names: list[list[str]], certificates: Sequence[Certificate]
) -> Callable[[Send], None]:
    def work(send: Send) -> None:
        from streamcheck.certify.check import Checker

        checker = Checker(specification)
        for certificate, claims in zip(certificates, names, strict=True):
            send(all(checker.check(name, certificate) is None for name in claims))

    return work


def _worth_telling(terms: Iterable[Term], claims: set[Term]) -> Iterator[Term]:
    """Each once, and none that is plain from the types, or a claim of the user's."""
    roots = list(dict.fromkeys(terms))
    simpler = simplify(roots)
    for t in dict.fromkeys(simpler[root] for root in roots):
        if t not in (TRUE, FALSE) and t not in claims and _size(t) <= LARGEST_LEMMA:
            yield t


def _size(t: Term) -> int:
    return sum(1 for _ in walk([t]))


def smallest_proof(specification: Specification, prop: str, proof: Certificate, seconds: float) -> Certificate:
    """The proof without the invariants that it does not need: the checker accepts what is left. Larger ones go
    first, as far as the time goes."""
    from streamcheck.problem.certificate_json import proof_from_plain, proof_to_plain

    def work(send: Send) -> None:
        from streamcheck.certify.check import Checker

        checker, rest = Checker(specification), list(proof.invariants)
        alone = replace(proof, invariants=(claim_named(specification, prop).invariant,))
        if checker.check(prop, alone) is None:
            rest = list(alone.invariants)
            send(proof_to_plain(alone))
        for invariant in sorted(rest, key=_size, reverse=True):
            fewer = replace(proof, invariants=tuple(t for t in rest if t is not invariant))
            if fewer.invariants and checker.check(prop, fewer) is None:
                rest = list(fewer.invariants)
                send(proof_to_plain(fewer))
        send(None)

    smallest = proof
    with Sandbox(work, seconds=seconds, doing="checking") as child:
        try:
            while (row := child.receive()) is not None:
                found = proof_from_plain(row)
                assert isinstance(found, Certificate)
                smallest = found
        except SpecError:  # the time is over
            pass
    return smallest
