"""Explanations of verdicts on programs: the invariants of lines in C, and the statements that an error depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.option_words import OptionWords
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term
from streamcheck.core.types import Value, plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.result import PathCause
from streamcheck.problem.verdict import Certificate, LocationInvariants, Unknown
from streamcheck.report.c_text import conditions, variable_text
from streamcheck.report.explanation import KINDS
from streamcheck.report.trace import TraceOptions, fits
from streamcheck.report.values import as_text

MOST_CAUSES = 40
MOST_EARLIER = 6  # values of a statement that was executed many times
MOST_KNOWN = 12  # lines that are known of an open property
WIDEST = 60  # characters of a statement


def location_lines(program: Automaton, invariants: Mapping[str, Term]) -> Iterator[str]:
    """The conditions at each line, which hold whenever the program is there."""
    rows: dict[tuple[int, str], dict[str, None]] = {}
    for location, invariant in invariants.items():
        if location in program.lines and invariant is not TRUE:
            word = "loop at line" if location in program.loops else "line"
            texts = list(conditions(invariant))
            unsaid = len(conjuncts(invariant)) - len(texts)
            texts += [f"and {plural(unsaid, 'condition')} that C has no short form for"] if unsaid else []
            rows.setdefault((program.lines[location].line, word), {}).update(dict.fromkeys(texts))
    for line, word in sorted(rows):
        margin = f"      {word} {line}: "
        for i, text in enumerate(rows[line, word]):
            yield f"{' ' * len(margin) if i else margin}{text}"


def program_proof_lines(
    program: Automaton, proof: LocationInvariants, blocks: Certificate | None = None
) -> Iterator[str]:
    """The invariants of the lines. `blocks` is the certificate about code without loops as single steps."""
    rows = list(location_lines(program, dict(proof.at)))
    if blocks is not None and (blocks.kind != "inductive" or blocks.k > 1):
        steps, kinds = plural(blocks.k, "step"), KINDS.get(blocks.kind, "")
        if blocks.kind in ("complete", "ended"):
            ends = "none has more different states" if blocks.kind == "complete" else "none is longer"
            yield f"    every run was followed for {steps}, and {ends} (a step is code between two loops)"
        else:
            yield f"    it is shown by induction over {steps}{kinds} (a step is code between two loops):"
            yield f"    no run gets to the error in {steps}, and after {steps} that keep away from it, so does the next"
        if rows:
            yield "    these conditions hold whenever the program is at the line:"
    elif proof.rounds > 1:
        yield f"    every path was followed through at most {proof.rounds} rounds of the loops, and none is left"
    elif rows:
        yield "    these conditions hold whenever the program is at the line, and exclude the error:"
    else:
        yield "    the conditions on the way to the error contradict each other: no invariant is needed"
    yield from rows


def together(proofs: Sequence[LocationInvariants]) -> dict[str, Term]:
    """The conditions that the proofs give for the lines of their program."""
    known: dict[str, list[Term]] = {}
    for proof in proofs:
        for place, invariant in proof.at:
            known.setdefault(place, []).append(invariant)
    return {place: conjunction(*dict.fromkeys(those)) for place, those in known.items()}


def known_lines(program: Automaton, known: Mapping[str, Term], unknown: Unknown, words: OptionWords) -> Iterator[str]:
    """The conditions that hold at lines, as proofs of other properties have shown, for an open one."""
    rows = list(location_lines(program, known))
    if rows:
        yield "    known from the proofs of other properties, whenever the program is at the line:"
        yield from rows[:MOST_KNOWN]
        if len(rows) > MOST_KNOWN:
            yield f"      … {len(rows) - MOST_KNOWN} more"
    if unknown.running and not unknown.provers:  # else no time would help, or more time is all that is needed
        yield f"    to try: a condition that should hold at a loop ({words.predicate}); more time ({words.timeout})"


def program_cause_lines(causes: list[PathCause], first: Mapping[Term, Value], options: TraceOptions) -> Iterator[str]:
    """A line for each statement, with its last values, and those of earlier executions behind; if variables are chosen,
    those with their values."""
    causes = [cause for cause in causes if _has_chosen(cause.values, options)]
    first = first if _has_chosen(first, options) else {}
    yield "    how the program gets there, from the end:"
    rows = [(_line(cause), cause.edge.text[:WIDEST], _values(cause)) for cause in causes]
    if first:
        rows.append(("", "at the beginning", _assignments(first)))
    shown = rows if options.full else rows[:MOST_CAUSES]
    widths = [max((len(row[i]) for row in shown), default=0) for i in range(2)]
    for where, text, values in shown:
        yield f"      {where:{widths[0]}}  {text:{widths[1]}}  {values}".rstrip()
    if len(rows) > len(shown):
        yield f"      …  {plural(len(rows) - len(shown), 'line')} more ({options.words.full})"


def _has_chosen(values: Mapping[Term, Value], options: TraceOptions) -> bool:
    names = [name for v in values for name in (str(v.payload), variable_text(str(v.payload)))]
    return not options.rows or any(fits(name, pattern) for name in names for pattern in options.rows)


def _line(cause: PathCause) -> str:
    return "" if cause.edge.where is None else f"line {cause.edge.where.line}"


def _values(cause: PathCause) -> str:
    text = _assignments(cause.values)
    if not cause.earlier and not cause.more:
        return text
    if cause.edge.updates and not cause.more and len(cause.values) == 1:
        texts = [_brief(values) for values in cause.earlier]
        shown = texts if len(texts) <= MOST_EARLIER else [*texts[: MOST_EARLIER - 1], "…", texts[-1]]
        return f"{text}, before: {', '.join(shown)}"
    return f"{text} (the last of {1 + len(cause.earlier) + cause.more:,} times)".lstrip()


def _assignments(values: Mapping[Term, Value]) -> str:
    return ", ".join(f"{variable_text(str(v.payload))} = {as_text(v.type, value)}" for v, value in values.items())


def _brief(values: Mapping[Term, Value]) -> str:
    return as_text(*next((v.type, value) for v, value in values.items())) if len(values) == 1 else _assignments(values)
