"""Verdicts for people: a line for each property, and counterexamples as tables, a column for each step."""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.term import Term
from streamcheck.core.types import plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Goal
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import CHECKERS, Unknown
from streamcheck.report.program import integers_text, path_table
from streamcheck.report.values import as_text

HEAD, TAIL = 2, 8  # shown columns of a long run: its beginning, and the steps before the violation
MODELS = {"bits": "bit-vectors", "integers": "wrapping integers"}
HOW = {"compressed": ", path compression", "complete": ", all states seen", "ended": ", every run ends"}
MARKS = "  * changed since the step before    ( ) = don't care"


def report(verdicts: Verdicts, *, quiet: bool) -> Iterator[str]:
    problem = verdicts.problem
    title = problem.name + (f" ({integers_text(problem)})" if isinstance(problem, Automaton) else "")
    yield title + ("" if verdicts.results else ": no properties")
    wide = min(max((len(r.name) for r in verdicts.results), default=0), 40)
    for result in verdicts.results:
        how = _how(result, machine=verdicts.machine, bound=verdicts.bound)
        yield f"  {_word(result):9}  {result.name:{wide}}  {how}".rstrip()
        if result.path is not None and not quiet:
            yield from path_table(result)
        elif isinstance(problem, Specification) and result.run is not None and not quiet and not _is_expected(result):
            yield from run_table(problem, result)
    for warning in verdicts.warnings:
        yield f"  warning: {warning}"


def _word(result: Result) -> str:
    if result.prop.goal is Goal.REACHABLE and result.verdict == "proved":
        return "reachable"
    if result.prop.goal is Goal.REACHABLE and result.verdict == "falsified":
        return "never"
    return result.verdict


def _is_expected(result: Result) -> bool:
    """True for a witness that nobody asked for."""
    return result.prop.is_implied and result.prop.goal is Goal.REACHABLE and result.verdict == "proved"


def _how(result: Result, *, machine: bool, bound: int | None) -> str:
    if result.unknown is not None:
        return "; ".join(_why_unknown(result, result.unknown))
    if result.verdict == "bounded":
        return f"{_within(result, bound)}; {result.engine}, {result.seconds:.2f} s"
    where = f"k = {result.k}" if result.proof is not None else f"step {result.k}"
    if result.path is not None:
        count = len(result.path.statements)
        where = f"{count} statement{'' if count == 1 else 's'}"
    where += "" if result.shortest else " (may not be the shortest counterexample)"
    how = HOW.get(result.kind, "")
    model = f", {MODELS[result.model]}" if machine else ""
    checked = "" if result.prover == "z3" else f", checked by {' or '.join(CHECKERS[result.prover])}"
    return f"{result.engine}, {where}{how}{model}{checked}, {result.seconds:.2f} s"


def _within(result: Result, bound: int | None) -> str:
    assert bound is not None
    word = "reaches" if result.prop.goal is Goal.REACHABLE else "breaks"
    return f"no run of at most {plural(bound, 'step')} {word} it"


def _why_unknown(result: Result, unknown: Unknown) -> Iterator[str]:
    """The reason, how far the property holds, why each engine stopped, and which ones were still at work."""
    yield unknown.reason
    if unknown.depth is not None:
        word = "not reached" if result.prop.goal is Goal.REACHABLE else "true"
        yield f"{word} up to step {unknown.depth}"
    for engine, reason in unknown.reasons.items():
        line = f"{engine}: {reason}"
        if line != unknown.reason:
            yield line
    if unknown.running:
        yield f"still running: {', '.join(unknown.running)}"


def run_table(specification: Specification, result: Result) -> Iterator[str]:
    """The run behind a result: externs first, then the user's streams, then the property."""
    assert result.run is not None
    length = len(result.run.steps)
    shown = list(range(length))
    if length > HEAD + TAIL + 1:
        shown = [*range(HEAD), *range(length - TAIL, length)]
    table = [["step", *map(str, shown)]]
    inputs = set(specification.choices())
    for name, node in _rows(specification, result):
        table.append([name, *(_cell(result, node, i, chosen=node in inputs) for i in shown)])
    if len(shown) < length:
        for n, row in enumerate(table):
            row.insert(1 + HEAD, "…" if n == 0 else "")
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        yield ("      " + "  ".join(cells)).rstrip()
    yield "    " + MARKS


def _rows(specification: Specification, result: Result) -> list[tuple[str, Term]]:
    rows: list[tuple[str, Term]] = [(v.payload, v) for v in specification.choices()]
    rows += [(c.name, c.var) for c in specification.cells if c.free or c.named]
    rows += [(n.name, n.term) for n in (*specification.wires, *specification.observers)]
    rows.append((result.name, result.prop.term))
    first: dict[Term, str] = {}
    for name, node in rows:  # a term with several names is shown once
        first.setdefault(node, name)
    return [(name, node) for node, name in first.items()]


def _cell(result: Result, node: Term, i: int, *, chosen: bool) -> str:
    assert result.run is not None
    steps = result.run.steps
    text = as_text(node.type, steps[i][node])
    if chosen and node.payload not in result.run.matters[i]:
        return f"({text})"
    changed = i > 0 and text != as_text(node.type, steps[i - 1][node])
    return f"{text}*" if changed else f"{text} "
