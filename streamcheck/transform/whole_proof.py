"""A proof by parts as one proof of the whole: the invariants of all parts, at all places where they stand.

If a part with hypotheses H has the invariant I, then `held & A implies I` is one of the whole, in which `held & A` is
the condition of the claims that are concluded there (`certify.composition`): where it holds, it has held at all steps
so far, and H with it. All invariants together, with the claims, are k-inductive for the largest k of a part: at the
next step the claims follow in the order of the parts. Nothing relies on this argument: the checker judges what comes
out.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.simplify import implication
from streamcheck.core.term import TRUE, Term, substitute
from streamcheck.problem.composition import Composition, Embedding, ProofPart
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.transform.scalars import scalars, wholes


class NotInductive(Exception):
    """The parts make no proof of the whole by induction: one is proved in another way, or does not fit."""


def whole_proof(whole: Specification, composition: Composition) -> Certificate:
    """The certificate of all claims that the composition concludes. NotInductive if there is none."""
    proofs = [proof for part in composition.parts for proof in part.proofs.values()]
    for proof in proofs:
        if proof.kind != "inductive":
            raise NotInductive
    due = {p.name: p.invariant for p in whole.properties}
    terms: dict[Term, None] = {}
    for part in composition.parts:
        for embedding in part.embeddings:
            terms |= dict.fromkeys(due[name] for _, name in embedding.claims)
            terms |= dict.fromkeys(_invariants_there(whole, part, embedding))
    parts = scalars(terms)
    invariants = dict.fromkeys(parts[t][0] for t in terms)
    return Certificate("inductive", max(proof.k for proof in proofs), tuple(t for t in invariants if t is not TRUE))


def _invariants_there(whole: Specification, part: ProofPart, embedding: Embedding) -> Iterator[Term]:
    """The images of the part's invariants, each under the condition of the claims there."""
    due = {p.name: p.invariant for p in whole.properties}
    own = {p.name: p.invariant for p in part.problem.properties}
    images = {v: embedding.images[str(v.payload)] for v in part.problem.variables()}
    for name, claim in embedding.claims:
        proof = part.proofs[name]
        facts = [*proof.invariants, *proof.equalities]
        of_wholes = substitute([*facts, own[name]], wholes(part.problem.variables()))
        there = substitute(of_wholes.values(), images)
        concluded = due[claim]
        has_hypotheses = there[of_wholes[own[name]]] is not concluded
        if has_hypotheses and concluded.op != "implies":
            raise NotInductive
        premise = concluded.args[0] if has_hypotheses else TRUE
        yield from (implication(premise, there[of_wholes[fact]]) for fact in facts)
