"""The documentation in the header, as Doxygen reads it: units, and ranges that are assumed or proved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from streamcheck.codegen import text
from streamcheck.codegen.names import CNames
from streamcheck.core.operators import OPERATORS
from streamcheck.core.term import Term
from streamcheck.core.types import EnumType
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import Input, Specification, Trigger

WORDS = {"ge": "at least", "le": "at most", "gt": "above", "lt": "below", "eq": "always", "ne": "never"}


def range_words(claims: Iterable[Claim], how: str) -> dict[Term, str]:
    """`at least 0, at most 9 (proved)` for each term that the claims compare with constants at every step."""
    words: dict[Term, list[str]] = {}
    for claim in claims:
        if claim.goal is Goal.ALWAYS:
            for term, word in _bounds(claim.term):
                if word not in words.setdefault(term, []):
                    words[term].append(word)
    return {term: f"{', '.join(found)} ({how})" for term, found in words.items()}


def _bounds(claim: Term) -> Iterator[tuple[Term, str]]:
    if claim.op == "and":
        for part in claim.args:
            yield from _bounds(part)
    elif claim.op in WORDS:
        a, b = claim.args
        op = OPERATORS[claim.op].mirrored if a.is_const else claim.op
        term, bound = (b, a) if a.is_const else (a, b)
        if bound.is_const and not term.is_const and term.type.is_number:
            yield term, f"{WORDS[op]} {text.literal(term.type, bound.payload).text.rstrip('uf')}"


def range_notes(specification: Specification, proved: Iterable[Claim]) -> dict[Term, str]:
    """All that is assumed or proved of the ranges of terms."""
    known = [range_words(specification.assumptions, "assumed"), range_words(proved, "proved")]
    terms = dict.fromkeys(term for words in known for term in words)
    return {term: "; ".join(words[term] for words in known if term in words) for term in terms}


def description(given: Input, notes: Mapping[Term, str]) -> str:
    """The comment of an input."""
    about = [given.doc, given.unit and f"in {given.unit}"]
    about += [f"a {given.type.name}" if isinstance(given.type, EnumType) else "", notes.get(given.var, "")]
    shown = ", ".join(part for part in about if part)
    return f" {text.comment(shown)}" if shown else ""


def handler_notes(
    trigger: Trigger, names: CNames, externs: Iterable[Input], notes: Mapping[Term, str]
) -> Iterator[str]:
    """The comment of a handler: the spec's line, and what is known of the parameters."""
    units = {i.var: f"in {i.unit}" for i in externs if i.unit}
    lines = [text.comment(text.source(trigger.where))]
    for name, (_, arg) in zip(names.parameters(trigger.name), trigger.args, strict=True):
        about = ", ".join(part for part in (units.get(arg), notes.get(arg)) if part)
        if about:
            lines.append(text.comment(f"@param {name} {about}"))
    if len(lines) == 1:
        yield lines[0]
        return
    yield lines[0].removesuffix(" */")
    yield from (f" *{line[2:-3]}" for line in lines[1:])
    yield " */"


def as_documentation(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a header with comments as Doxygen reads them: before what they describe, or after a member. A
    comment that another follows describes nothing by itself."""
    for line, after in pairwise([*lines, ""]):
        before, comment, rest = line.partition("/* ")
        if comment and not before.strip() and not after.lstrip().startswith("/* "):
            yield f"{before}/** {rest}"
        elif comment and before.rstrip().endswith(";"):
            yield f"{before}/**< {rest}"
        else:
            yield line
