"""Programs for people: paths with lines and values, and the automaton as Graphviz DOT."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, assert_never

from streamcheck.core.term import Term
from streamcheck.core.types import Value, plural
from streamcheck.problem.automaton import Automaton, Executed, Repeated
from streamcheck.problem.result import PathReplay
from streamcheck.report.c_text import conditions, variable_text
from streamcheck.report.trace import TraceOptions, fits
from streamcheck.report.values import as_json, as_text

HEAD, TAIL = 20, 20  # statements of a long path that are shown
ELEMENTS = 3  # of an array, changed by one statement
BEGINNING = "at the beginning"
ChangedValue: TypeAlias = tuple[str, Term, Value]  # the variable's name in C, and its new value


def integers_text(program: Automaton) -> str:
    return "mathematical integers" if program.integers == "math" else "integers as C has them"


@dataclass(frozen=True, slots=True)
class PathRow:
    """A statement of a path, or rounds of some; the first row is the beginning. `number` counts the statements executed
    up to here. `values` are those after it that matter at the beginning or have been written, and are known."""

    number: int
    step: Executed | Repeated | None
    changes: tuple[ChangedValue, ...]
    values: Mapping[Term, Value]

    @property
    def line(self) -> int | None:
        where = self.step.edge.where if isinstance(self.step, Executed) else None
        return None if where is None else where.line

    @property
    def where(self) -> str:
        """Its line, or lines."""
        if isinstance(self.step, Repeated):
            return _lines(self.step)
        return "" if self.line is None else f"line {self.line}"

    @property
    def text(self) -> str:
        match self.step:
            case None:
                return BEGINNING
            case Executed(edge=edge):
                return edge.text
            case Repeated(times=times):
                return f"{times:,} more times the same"
        assert_never(self.step)


def path_rows(path: PathReplay) -> Iterator[PathRow]:
    changes = [(variable_text(str(v.payload)), v, value) for v, value in path.first.items()]
    yield PathRow(0, None, tuple(changes), path.first)
    before: Mapping[Term, Value] = {}
    number, shown = 0, dict.fromkeys(path.first)
    for step in path.statements:
        edges = (step.edge,) if isinstance(step, Executed) else step.edges
        number += len(edges) * (1 if isinstance(step, Executed) else step.times)
        shown |= dict.fromkeys(v for edge in edges for v, _ in edge.updates)
        values = {v: step.values[v] for v in shown if v in step.values}
        yield PathRow(number, step, tuple(_changes(step, before)), values)
        before = step.values


def path_table(path: PathReplay, options: TraceOptions) -> Iterator[str]:
    """A line for each statement: its line, its text and its changes."""
    chosen = [row for row in path_rows(path) if row.step is not None or row.changes]
    if options.steps is not None:
        first, last = options.steps
        chosen = [row for row in chosen if first <= row.number <= last]
        if not chosen:
            wanted = options.words.steps.format(first, last)
            yield f"      the run has {plural(path.length, 'statement')}, none of them in {wanted}"
            return
    if options.rows:
        chosen = [row for row in chosen if any(_is_wanted(name, options) for name, _, _ in row.changes)]
    numbers = "{} " if options.steps is not None else ""
    rows = [(numbers.format(r.number) + r.where, r.text, _brief(_changes_wanted(r.changes, options))) for r in chosen]
    if len(rows) > HEAD + TAIL + 1 and not options.full and options.steps is None:
        rows = [*rows[:HEAD], (f"… {len(rows) - HEAD - TAIL} more ({options.words.full})", "", ""), *rows[-TAIL:]]
    widths = [min(max((len(row[i]) for row in rows), default=0), 60) for i in range(2)]
    for where, text, changes in rows:
        yield f"      {where:{widths[0]}}  {text:{widths[1]}}  {changes}".rstrip()


def _changes_wanted(changes: Iterable[ChangedValue], options: TraceOptions) -> Iterator[ChangedValue]:
    return (change for change in changes if not options.rows or _is_wanted(change[0], options))


def _is_wanted(name: str, options: TraceOptions) -> bool:
    """True if the variable, or the array or struct that it is a part of, is asked for."""
    stem = re.split(r"[.\[]", name)[0]
    return any(fits(n, pattern) for n in (name, stem) for pattern in options.rows)


def _lines(step: Repeated) -> str:
    """`line 3` or `lines 3-7`: from the first to the last of what is repeated."""
    lines = [edge.where.line for edge in step.edges if edge.where is not None]
    if not lines:
        return ""
    return f"line {lines[0]}" if len(set(lines)) == 1 else f"lines {min(lines)}-{max(lines)}"


def _brief(changes: Iterable[ChangedValue]) -> str:
    """`x = 1, a[0] = 2`; of an array the first few elements, and the number of the others."""
    texts: dict[str, list[str]] = {}
    for name, v, value in changes:
        texts.setdefault(name.split("[")[0], []).append(f"{name} = {as_text(v.type, value)}")
    shown = (
        those[:ELEMENTS] + ([f"… {rest} more"] if (rest := len(those) - ELEMENTS) > 0 else [])
        for those in texts.values()
    )
    return ", ".join(text for those in shown for text in those)


def _changes(step: Executed | Repeated, before: Mapping[Term, Value]) -> Iterator[ChangedValue]:
    """The variables that the statement wrote, as far as their values are known; of arrays, the elements that it
    changed."""
    edges = (step.edge,) if isinstance(step, Executed) else step.edges
    written = dict.fromkeys(v for edge in edges for v, _ in edge.updates)
    for v in written:
        if v in step.values and (len(written) == 1 or v not in before or before[v] != step.values[v]):
            yield variable_text(v.payload), v, step.values[v]


def path_json(path: PathReplay) -> list[dict[str, Any]]:
    return [
        _row_json(row) | {"values": {name: as_json(v.type, value) for name, v, value in row.changes}}
        for row in path_rows(path)
        if row.step is not None or row.changes
    ]


def _row_json(row: PathRow) -> dict[str, Any]:
    """The statement; of those that are repeated, the number of rows above that are, and the times."""
    if isinstance(row.step, Repeated):
        return {"line": None, "statement": "rounds", "rows": len(row.step.edges), "times": row.step.times}
    return {"line": row.line, "statement": row.text}


def invariants_json(source: Automaton, invariants: Mapping[str, Term]) -> list[dict[str, Any]]:
    """The invariants of locations that have a line, as far as C can express them."""
    rows = ((location, " && ".join(_parts(term))) for location, term in invariants.items() if location in source.lines)
    return [{"line": source.lines[location].line, "invariant": text} for location, text in rows if text]


def _parts(term: Term) -> Sequence[str]:
    return [f"({c})" if "||" in c or "?" in c else c for c in conditions(term)]


def show_automaton(automaton: Automaton) -> str:
    """The automaton that engines see, as Graphviz DOT."""
    lines = [f"digraph {_quote(automaton.name)} {{", "  node [fontname=Helvetica, fontsize=11, shape=ellipse];"]
    lines.append("  edge [fontname=Courier, fontsize=10, color=gray30];")
    for location in automaton.locations:
        style = ", style=bold" if location == automaton.entry else ""
        if location in automaton.bad:
            style = ", shape=doubleoctagon, color=red"
        lines.append(f"  {_quote(location)} [label={_quote(location)}{style}];")
    for edge in automaton.edges:
        label = edge.text if edge.where is None else f"{edge.where.line}: {edge.text}"
        lines.append(f"  {_quote(edge.source)} -> {_quote(edge.target)} [label={_quote(label)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
