"""Explanations for people: the invariant of a proof in the spec's own syntax, the causes of a violation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from streamcheck.core.term import Term, cone, variables
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Cause, Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.report.equations import term_text
from streamcheck.report.values import as_text

MOST_CAUSES = 40
KINDS = {
    "inductive": "",
    "compressed": ", on runs without repeated states",
    "complete": ", and no run has more different states",
    "ended": ", and every run ends",
}


def proof_lines(specification: Specification, claim: Claim, proof: Certificate) -> Iterator[str]:
    """The invariants as properties that can be pasted into the spec, and what unnamed cells in them are."""
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
    for i, term in enumerate(others, 1):
        yield f'      spec.prop("{_name(claim, i, len(others))}", {python_text(specification, term)})'
    for equality in proof.equalities:
        yield f"      where {term_text(specification, equality)}"
    yield from _cells(specification, others)


def _name(claim: Claim, i: int, count: int) -> str:
    stem = re.sub(r"\W+", "_", claim.name)
    return f"{stem}_invariant" if count == 1 else f"{stem}_invariant_{i}"


def python_text(specification: Specification, term: Term) -> str:
    """The term as Python reads it."""
    return re.sub(r"\b(true|false)\b", lambda m: m[0].capitalize(), term_text(specification, term))


def _cells(specification: Specification, terms: Iterable[Term]) -> Iterator[str]:
    """The definitions of cells without a name of the user's."""
    unnamed = {c.var: c for c in specification.cells if not c.named}
    used = [v for v in variables(list(terms)) if v in unnamed]
    if used:
        below = cone(used, {v: c.next for v, c in unnamed.items()})
        for var, cell in unnamed.items():
            if var in below:
                initial = term_text(specification, cell.initial)
                yield f"      where {cell.name} = [{initial}] ++ ({term_text(specification, cell.next)})"


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
