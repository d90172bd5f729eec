"""Verdicts for people: a line for each property, and counterexamples as tables, a column for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from streamcheck.core.option_words import OptionWords
from streamcheck.core.types import plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Explanation, Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import CHECKERS, Unknown
from streamcheck.report.equations import term_text
from streamcheck.report.program import integers_text, path_table
from streamcheck.report.trace import AS_USUAL, TraceOptions, trace_table
from streamcheck.report.wraps import wrap_lines

MODELS = {"bits": "bit-vectors", "integers": "wrapping integers", "cells": "cells of arrays", "modes": "mode by mode"}
HOW = {
    "compressed": ", path compression",
    "complete": ", all states seen",
    "ended": ", every run ends",
    "unwound": ", loops unwound",
}
MOST_NAMES = 3
WIDEST_NAME = 40  # characters that the names have in front of their verdicts, at most

Paint = Callable[[str, str], str]  # a text in the colour of a verdict


def plain(text: str, _verdict: str) -> str:
    return text


@dataclass(slots=True)
class Report:
    """The lines of a report, part by part, as they come: the title, each result, the warnings."""

    problem: Problem  # with the properties that were asked about
    machine: bool
    bound: int | None
    quiet: bool = False
    paint: Paint = plain
    trace: TraceOptions = AS_USUAL
    more: Callable[[Result], Iterable[str]] = lambda _: ()  # lines below a result
    _longest: int = field(init=False)  # characters of a name

    def __post_init__(self) -> None:
        self._longest = max((len(p.name) for p in self.problem.properties), default=0)

    def title(self) -> str:
        problem = self.problem
        title = problem.name + (f" ({integers_text(problem)})" if isinstance(problem, Automaton) else "")
        return title + ("" if problem.properties else ": no properties")

    def result(self, result: Result) -> Iterator[str]:
        most = WIDEST_NAME if self.trace.width is None else min(WIDEST_NAME, self.trace.width // 3)
        wide = min(self._longest, most)
        how = how_text(result, machine=self.machine, bound=self.bound)
        word = self.paint(f"{verdict_word(result):9}", result.verdict)
        yield f"  {word}  {result.name:{wide}}  {how}".rstrip()
        if self.quiet:
            return
        if result.path is not None:
            yield from path_table(result.path, self.trace)
        elif isinstance(self.problem, Specification) and result.run is not None and not _is_expected(result):
            yield from trace_table(self.problem, result.prop, result.run, self.trace)
            yield from wrap_lines(self.problem, result.prop, result.run)
        elif result.unknown is not None:
            yield from self._knowledge(result, result.unknown)
        yield from self.more(result)

    def _knowledge(self, result: Result, unknown: Unknown) -> Iterator[str]:
        """The knowledge about a property without a verdict, and why each engine stopped."""
        if result.explanation is not None and isinstance(self.problem, Specification):
            yield from _explanation(self.problem, result, result.explanation, self.trace)
        if unknown.provers:
            yield f"    to try: more time ({self.trace.words.timeout})"
        by_reason: dict[str, list[str]] = {}
        for engine, reason in unknown.reasons.items():
            if engine not in unknown.provers:  # the verdict's own line names those
                by_reason.setdefault(reason, []).append(engine)
        if unknown.running:
            yield f"    still at work: {', '.join(unknown.running)}"
        for reason, engines in by_reason.items():
            yield f"    {reason}: {', '.join(engines)}"

    def warnings(self, verdicts: Verdicts) -> Iterator[str]:
        word = self.paint("error", "falsified") if verdicts.strict else self.paint("warning", "unknown")
        for warning in verdicts.warnings:
            yield f"  {word}: {warning}"
        if verdicts.parts and not self.quiet:
            yield "  by parts:"
            yield from (f"    {part}" for part in verdicts.parts)


def report(verdicts: Verdicts, *, quiet: bool = False, trace: TraceOptions = AS_USUAL) -> Iterator[str]:
    """All lines, in the spec's order."""
    parts = Report(verdicts.problem, verdicts.machine, verdicts.bound, quiet, trace=trace)
    yield parts.title()
    for result in verdicts.results:
        yield from parts.result(result)
    yield from parts.warnings(verdicts)


def goal_word(claim: Claim) -> str:
    """The verb for a property that no run breaks (or, of a `reachable` one, meets) up to some step."""
    return "not reached" if claim.goal is Goal.REACHABLE else "true"


def verdict_word(result: Result) -> str:
    if result.prop.goal is Goal.REACHABLE and result.verdict == "proved":
        return "reachable"
    if result.prop.goal is Goal.REACHABLE and result.verdict == "falsified":
        return "never"
    return result.verdict


def _is_expected(result: Result) -> bool:
    """True for a witness that nobody asked for."""
    return result.prop.is_implied and result.prop.goal is Goal.REACHABLE and result.verdict == "proved"


def how_text(result: Result, *, machine: bool, bound: int | None) -> str:
    if result.unknown is not None:
        return "; ".join(_why_unknown(result, result.unknown))
    if result.verdict == "bounded":
        kept = "kept and checked again, " * result.kept
        return f"{_within(result, bound)}; {result.engine}, {kept}{result.seconds:.2f} s"
    where = f"k = {result.k}" if result.proof is not None else f"step {result.k}"
    if result.prop.is_about_infinite_runs:
        where = _where_in_infinite_runs(result)
    if result.path is not None:
        count = result.path.length
        where = f"{count} statement{'' if count == 1 else 's'}"
    where += "" if result.shortest else " (may not be the shortest counterexample)"
    how = HOW.get(result.kind, "")
    model = f", {MODELS[result.model]}" if machine else ""
    checked = "" if result.prover == "z3" else f", checked by {' or '.join(CHECKERS[result.prover])}"
    kept = ("kept and checked again, " if result.proof is not None else "kept and replayed again, ") * result.kept
    return f"{result.engine}, {where}{how}{model}{checked}, {kept}{result.seconds:.2f} s"


def _where_in_infinite_runs(result: Result) -> str:
    run = result.run
    if run is not None and run.loop is not None:
        return f"a run of {plural(run.length, 'step')} that goes on forever"
    return f"k-liveness, k = {result.k}" if result.kind == "k-liveness" else "no run comes back to a state"


def _within(result: Result, bound: int | None) -> str:
    assert bound is not None
    word = "reaches" if result.prop.goal is Goal.REACHABLE else "breaks"
    return f"no run of at most {plural(bound, 'step')} {word} it"


def _why_unknown(result: Result, unknown: Unknown) -> Iterator[str]:
    """The reason, and how far the property holds."""
    yield unknown.reason
    if unknown.depth is not None:
        yield f"{goal_word(result.prop)} up to step {unknown.depth}"


def _explanation(
    specification: Specification, result: Result, explanation: Explanation, options: TraceOptions
) -> Iterator[str]:
    if explanation.fails is not None:
        steps = plural(len(explanation.fails.steps) - 1, "step")
        word = "is reached" if result.prop.goal is Goal.REACHABLE else "fails"
        if explanation.unreachable:
            state = "a state that no run reaches (this is proved)"
        else:
            early = f" (none does before step {explanation.not_before})" if explanation.not_before else ""
            state = f"a state that perhaps no run reaches{early}"
        yield f"    not inductive: after {steps} from {state}, it {word}"
        anywhere = replace(specification, cells=tuple(replace(c, free=True) for c in specification.cells))
        yield from trace_table(anywhere, result.prop, explanation.fails, options)
        yield from wrap_lines(anywhere, result.prop, explanation.fails)
    if explanation.missing:
        yield f"    {explanation.missing}"
    if explanation.lemmas:
        yield f"    known: {'; '.join(term_text(specification, t) for t in explanation.lemmas)}"
    if explanation.candidates:
        texts = "; ".join(term_text(specification, t) for t in explanation.candidates)
        excludes = "excludes that state" if explanation.fails is not None else "may help"
        yield f"    not proved, but true in random runs, and each {excludes}: {texts}"
    yield f"    to try: {'; '.join(_advice(specification, result.prop, explanation, options.words))}"


def _advice(specification: Specification, claim: Claim, explanation: Explanation, words: OptionWords) -> Iterator[str]:
    if explanation.fails is not None:
        free, below = explanation.fails.matters[0], specification.needed_by([claim.term])
        names = [c.name for c in specification.cells if c.named and c.name in free and c.var in below]
        about = f", such as a bound on {' or '.join(names[:MOST_NAMES])}" if names else ""
        yield f"another property that the first state breaks{about}"
    yield f"more time ({words.timeout})"
