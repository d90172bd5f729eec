"""Explanations for people: the invariant of a proof in the spec's own syntax, the causes of a violation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from linecache import getlines

from streamcheck.core.types import plural
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
}


def proof_lines(specification: Specification, claim: Claim, proof: Certificate, taken: set[str]) -> Iterator[str]:
    """The invariants, as properties that can be pasted into the spec if that is Python. `taken` are names that other
    explanations define, to which those of this one are added."""
    others = [t for t in proof.invariants if t is not claim.invariant]
    if not others:
        by_itself = "it holds" if proof.kind in ("complete", "ended") else "it is an invariant by itself: it holds"
        subject = by_itself
    elif claim.invariant in proof.invariants:
        subject = "it is an invariant together with what is below: they hold"
    else:
        subject = "it follows from what is below, which holds"
    yield f"    {subject} {_how_shown(proof)}"
    where = specification.where
    source = "" if where is None or not where.file.endswith(".py") else "".join(getlines(where.file))  # of a cell, too
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


def cause_lines(specification: Specification, causes: Iterator[Cause]) -> Iterator[str]:
    """The causes, from the last step back. The first value of each name has a line, with what it was computed from and
    the line of the spec; its values at earlier steps stand side by side."""
    rows: list[tuple[str, str, str]] = []
    known: set[str] = set()
    for step, group in groupby(sorted(causes, key=lambda cause: -cause.step), lambda cause: cause.step):
        again: list[str] = []
        for cause in group:
            value = f"{_name_of(specification, cause)} = {as_text(cause.term.type, cause.value)}"
            if cause.name in known:
                again.append(value)
            else:
                rows.append((f"step {step}", value, _definition(specification, cause)))
                known.add(cause.name)
        if again:
            rows.append((f"step {step}", ", ".join(again), ""))
    shown = rows[:MOST_CAUSES]
    widths = [max(len(row[0]) for row in shown), max((len(row[1]) for row in shown if row[2]), default=0)]
    for when, value, definition in shown:
        yield f"      {when:{widths[0]}}  {value:{widths[1]}}  {definition}".rstrip()
    if len(rows) > MOST_CAUSES:
        yield "      …"


def _name_of(specification: Specification, cause: Cause) -> str:
    """The name; of a delay without one, the delay."""
    return cause.name if cause.term.op != "var" else term_text(specification, cause.term)


def _definition(specification: Specification, cause: Cause) -> str:
    where = "" if cause.where is None else f"  ({cause.where})"
    if cause.definition is None:
        return f"input{where}"
    before = f"at step {cause.step - 1}: " if cause.delayed else ""
    return f"= {before}{term_text(specification, cause.definition)}{where}"


def falsified_lines(specification: Specification, result: Result, causes: Iterator[Cause]) -> Iterator[str]:
    word = "reaches it" if result.verdict == "proved" else "breaks it"
    yield f"    how the run {word}, from the end:"
    yield from cause_lines(specification, causes)
