"""Explanations for people: the invariant of a proof in the spec's own syntax, the causes of a violation."""

from __future__ import annotations

import re
from collections.abc import Iterator

from streamcheck.core.code_lines import lines_of
from streamcheck.core.types import plural
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Cause, Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.report.chain import cause_lines
from streamcheck.report.equations import term_text
from streamcheck.report.paste import FileNames, Pasting
from streamcheck.report.trace import TraceOptions

KINDS = {
    "inductive": "",
    "compressed": ", on runs without repeated states",
}


def proof_lines(specification: Specification, claim: Claim, proof: Certificate, taken: set[str]) -> Iterator[str]:
    """The invariants, as properties that can be pasted into the spec if that is Python. `taken` are names that other
    explanations define, to which those of this one are added."""
    others = [t for t in proof.invariants if t is not claim.invariant]
    if not others and not proof.equalities:
        by_itself = "it holds" if proof.kind in ("complete", "ended") else "it is an invariant by itself: it holds"
        subject = by_itself
    elif claim.invariant in proof.invariants:
        subject = "it is an invariant together with what is below: they hold"
    else:
        subject = "it follows from what is below, which holds"
    yield f"    {subject} {_how_shown(proof)}"
    where = specification.where
    source = "" if where is None or not where.file.endswith(".py") else "".join(lines_of(where.file))  # of a cell, too
    if not source:
        yield from (f"      {term_text(specification, term)}" for term in [*others, *proof.equalities])
        return
    pasting = Pasting(specification, FileNames.of(source), taken)
    spec = pasting.file.at(where, "spec")
    texts = list(dict.fromkeys(pasting.text(term) for term in [*others, *proof.equalities]))
    texts = [text for text in texts if len(set(text.split(" == "))) > 1 or " == " not in text]  # x == x
    yield from (f"      {line}" for line in pasting.definitions)
    for i, text in enumerate(texts, 1):
        yield f'      {spec}.prop("{_name(claim, i, len(texts))}", {text})'


def _how_shown(proof: Certificate) -> str:
    """The conditions of the certificate in words."""
    first = "at the first step" if proof.k == 1 else f"at the first {proof.k} steps"
    if proof.kind == "complete":
        return f"{first}, and no run has more than {plural(proof.k, 'different state')}, so all have been seen"
    if proof.kind == "ended":
        return f"{first}, and no run is longer"
    kept = "every step keeps it" if proof.k == 1 else f"after {proof.k} steps the next one keeps it"
    return f"{first}, and {kept}{KINDS[proof.kind]}"


def _name(claim: Claim, i: int, count: int) -> str:
    stem = re.sub(r"\W+", "_", claim.name)
    return f"{stem}_invariant" if count == 1 else f"{stem}_invariant_{i}"


def infinite_run_lines(specification: Specification, result: Result) -> Iterator[str]:
    """The bound that proves a claim about infinite runs, or that no run comes back to a state."""
    if result.proof is None:
        return
    names = [f.name for f in specification.fairness]
    round_words = f"a part of the run in which {' and '.join(names)} are true at some step" if names else "a step"
    if len(names) == 1:
        round_words = f"a part of the run that ends as soon as {names[0]} is true"
    if result.k is None:
        yield (
            "    no run comes back to a state"
            + (" fairly" if names else "")
            + " without it, and the states are finitely many"
        )
    else:
        yield f"    at most {plural(result.k, 'round')} without it; a round is {round_words}"


def falsified_lines(
    specification: Specification, result: Result, causes: Iterator[Cause], options: TraceOptions
) -> Iterator[str]:
    word = "reaches it" if result.verdict == "proved" else "breaks it"
    lines = list(cause_lines(specification, causes, options))
    if lines:  # else the choice of rows and steps leaves none
        yield f"    how the run {word}, from the end:"
        yield from lines
