"""Explanations for people: the invariant of a proof in the spec's own syntax, the causes of a violation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Cause, Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.report.equations import term_text
from streamcheck.report.paste import FileNames, Pasting
from streamcheck.report.values import as_text

MOST_CAUSES = 40
KINDS = {
    "inductive": "",
    "compressed": ", on runs without repeated states",
    "complete": ", and no run has more different states",
    "ended": ", and every run ends",
}


def proof_lines(specification: Specification, claim: Claim, proof: Certificate, taken: set[str]) -> Iterator[str]:
    """The invariants, as properties that can be pasted into the spec if that is Python. `taken` are names that other
    explanations define, to which those of this one are added."""
    others = [t for t in proof.invariants if t is not claim.invariant]
    if not others:
        subject = "it is an invariant by itself: it holds"
    elif claim.invariant in proof.invariants:
        subject = "it is an invariant together with what is below: they hold"
    else:
        subject = "it follows from what is below, which holds"
    first = "at the first step" if proof.k == 1 else f"at the first {proof.k} steps"
    kept = "every step keeps it" if proof.k == 1 else f"after {proof.k} steps the next one keeps it"
    yield f"    {subject} {first}, and {kept}{KINDS[proof.kind]}"
    where = specification.where
    if where is None or not where.file.endswith(".py"):
        yield from (f"      {term_text(specification, term)}" for term in [*others, *proof.equalities])
        return
    with open(where.file, encoding="utf-8") as file:
        pasting = Pasting(specification, FileNames.of(file.read()), taken)
    spec = pasting.file.at(where, "spec")
    texts = list(dict.fromkeys(pasting.text(term) for term in [*others, *proof.equalities]))
    texts = [text for text in texts if len(set(text.split(" == "))) > 1 or " == " not in text]  # x == x
    yield from (f"      {line}" for line in pasting.definitions)
    for i, text in enumerate(texts, 1):
        yield f'      {spec}.prop("{_name(claim, i, len(texts))}", {text})'


def _name(claim: Claim, i: int, count: int) -> str:
    stem = re.sub(r"\W+", "_", claim.name)
    return f"{stem}_invariant" if count == 1 else f"{stem}_invariant_{i}"


def cause_lines(specification: Specification, causes: Iterator[Cause]) -> Iterator[str]:
    """A line for each cause: its step, its value, what it was computed from, and the line of the spec."""
    first = list(islice(causes, MOST_CAUSES + 1))
    rows = [_cause(specification, cause) for cause in first[:MOST_CAUSES]]
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    for step, value, definition in rows:
        yield f"      {step:{widths[0]}}  {value:{widths[1]}}  {definition}".rstrip()
    if len(first) > MOST_CAUSES:
        yield "      …"


def _cause(specification: Specification, cause: Cause) -> tuple[str, str, str]:
    value = f"{cause.name} = {as_text(cause.term.type, cause.value)}"
    where = "" if cause.where is None else f"  ({cause.where})"
    if cause.definition is None:
        return f"step {cause.step}", value, f"input{where}"
    text = term_text(specification, cause.definition)
    before = f"at step {cause.step - 1}: " if cause.delayed else ""
    return f"step {cause.step}", value, f"= {before}{text}{where}"


def falsified_lines(specification: Specification, result: Result, causes: Iterator[Cause]) -> Iterator[str]:
    word = "reaches it" if result.verdict == "proved" else "breaks it"
    yield f"    how the run {word}, from the end:"
    yield from cause_lines(specification, causes)
