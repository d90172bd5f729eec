"""The composition of a proof by parts: each part at its places, judged by the checker's rules as it is added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from streamcheck.certify.composition import Conclusions, Unfounded
from streamcheck.core.term import Term, substitute
from streamcheck.problem.composition import Composition, Embedding, ProofPart
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Specification
from streamcheck.run.parts import ProvedPart
from streamcheck.transform.embedding import Images


class Composer:
    """Composes parts, each of which uses only what those before it prove. `found` are the results behind the claims."""

    def __init__(self, whole: Specification) -> None:
        self.conclusions = Conclusions(whole)
        self.found: dict[str, Result] = {}
        self.alarms: list[str] = []
        self._parts: list[ProofPart] = []

    @property
    def composition(self) -> Composition:
        return Composition(tuple(self._parts))

    def add(self, part: ProvedPart, levels: Iterable[tuple[Images | None, Mapping[str, str]]]) -> None:
        """Add the part at all its places in levels: each with the images of its variables, None if it is the whole, and
        the claims of the whole that are its own."""
        results, embeddings = {r.name: r for r in part.results}, list[Embedding]()
        for images, names in levels:
            for place, there in zip(part.places, _places_of(part, images), strict=True):
                due = {names[c]: (p, c) for p, c in place.claims if c in names and names[c] not in self.found}
                embedding = Embedding(there, tuple((p, claim) for claim, (p, _) in due.items()))
                try:
                    if due:
                        self.conclusions.add(ProofPart(part.problem, part.proofs, ()), embedding)
                except Unfounded as why:
                    self.alarms.append(f"a part does not prove what it should: {why}")
                    continue
                if due:
                    embeddings.append(embedding)
                    self.found.update({claim: results[c] for claim, (_, c) in due.items()})
        if embeddings:
            used = {p for e in embeddings for p, _ in e.claims}
            kept = {p: c for p, c in part.proofs.items() if p in used}
            self._parts.append(ProofPart(part.problem, kept, tuple(embeddings)))


def _places_of(part: ProvedPart, images: Images | None) -> Iterator[dict[str, Term]]:
    """At each place of the part, the terms of the whole that its variables stand for. The variables of its level have
    these images; without any, the level is the whole."""
    terms = [t for place in part.places for t in place.images.values()]
    whole = {t: t for t in terms} if images is None else substitute(terms, images)
    for place in part.places:
        there = ((v, t) for v, t in place.images.items() if images is None or t.op != "var" or t in images)
        yield {v: whole[t] for v, t in there}
