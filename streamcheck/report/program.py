"""Programs for people: paths with lines and values, and the automaton as Graphviz DOT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from streamcheck.core.term import Term
from streamcheck.core.types import Value
from streamcheck.problem.automaton import Automaton, Executed, Repeated
from streamcheck.problem.result import Result
from streamcheck.report.c_text import conditions, variable_text
from streamcheck.report.values import as_json, as_text

HEAD, TAIL = 20, 20  # statements of a long path that are shown
ELEMENTS = 3  # of an array, changed by one statement


def integers_text(program: Automaton) -> str:
    return "mathematical integers" if program.integers == "math" else "integers as C has them"


def path_table(result: Result) -> Iterator[str]:
    """A line for each statement: its line, its text and its changes."""
    assert result.path is not None
    rows = [_row(step, before) for step, before in _with_before(result)]
    begin = _brief(initial_values(result))
    if begin:
        rows.insert(0, ("", "at the beginning", begin))
    if len(rows) > HEAD + TAIL + 1:
        rows = [*rows[:HEAD], (f"… {len(rows) - HEAD - TAIL} more", "", ""), *rows[-TAIL:]]
    widths = [min(max(len(row[i]) for row in rows), 60) if rows else 0 for i in range(2)]
    for where, text, changes in rows:
        yield f"      {where:{widths[0]}}  {text:{widths[1]}}  {changes}".rstrip()


def initial_values(result: Result) -> Iterator[tuple[str, Term, Value]]:
    """The first values of variables that matter."""
    assert result.path is not None
    for v, value in result.path.first.items():
        yield variable_text(str(v.payload)), v, value


def _with_before(result: Result) -> Iterator[tuple[Executed | Repeated, Mapping[Term, Value]]]:
    assert result.path is not None
    before: Mapping[Term, Value] = {}
    for step in result.path.statements:
        yield step, before
        before = step.values


def _row(step: Executed | Repeated, before: Mapping[Term, Value]) -> tuple[str, str, str]:
    changes = _brief(_changes(step, before))
    if isinstance(step, Repeated):
        return _lines(step), f"{step.times:,} more times the same", changes
    line = step.edge.where
    return ("" if line is None else f"line {line.line}"), step.edge.text, changes


def _lines(step: Repeated) -> str:
    """`line 3` or `lines 3-7`: from the first to the last of what is repeated."""
    lines = [edge.where.line for edge in step.edges if edge.where is not None]
    if not lines:
        return ""
    return f"line {lines[0]}" if len(set(lines)) == 1 else f"lines {min(lines)}-{max(lines)}"


def _brief(changes: Iterable[tuple[str, Term, Value]]) -> str:
    """`x = 1, a[0] = 2`; of an array the first few elements, and the number of the others."""
    texts: dict[str, list[str]] = {}
    for name, v, value in changes:
        texts.setdefault(name.split("[")[0], []).append(f"{name} = {as_text(v.type, value)}")
    shown = (
        those[:ELEMENTS] + ([f"… {rest} more"] if (rest := len(those) - ELEMENTS) > 0 else [])
        for those in texts.values()
    )
    return ", ".join(text for those in shown for text in those)


def _changes(step: Executed | Repeated, before: Mapping[Term, Value]) -> Iterator[tuple[str, Term, Value]]:
    """The variables that the statement wrote, as far as their values are known; of arrays, the elements that it
    changed."""
    edges = (step.edge,) if isinstance(step, Executed) else step.edges
    written = dict.fromkeys(v for edge in edges for v, _ in edge.updates)
    for v in written:
        if v in step.values and (len(written) == 1 or v not in before or before[v] != step.values[v]):
            yield variable_text(v.payload), v, step.values[v]


def path_json(result: Result) -> list[dict[str, Any]]:
    begin = {name: as_json(v.type, value) for name, v, value in initial_values(result)}
    first = [{"line": None, "statement": "at the beginning", "values": begin}] if begin else []
    return first + [
        _row_json(step) | {"values": {name: as_json(v.type, value) for name, v, value in _changes(step, before)}}
        for step, before in _with_before(result)
    ]


def _row_json(step: Executed | Repeated) -> dict[str, Any]:
    """The statement; of those that are repeated, the number of rows above that are, and the times."""
    if isinstance(step, Repeated):
        return {"line": None, "statement": "rounds", "rows": len(step.edges), "times": step.times}
    return {"line": None if step.edge.where is None else step.edge.where.line, "statement": step.edge.text}


def invariants_json(source: Automaton, invariants: Mapping[str, Term]) -> list[dict[str, Any]]:
    """The invariants of locations that have a line."""
    return [
        {"line": source.lines[location].line, "invariant": " && ".join(_parts(term)) or "1"}
        for location, term in invariants.items()
        if location in source.lines
    ]


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
