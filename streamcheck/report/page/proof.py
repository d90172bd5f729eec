"""The verdicts of a proof on a page: a table, then each property with its run, its proof and what it depends on."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterable, Iterator

from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Goal
from streamcheck.problem.dependency_graph import DependencyGraph
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.graph_svg import graph_svg
from streamcheck.report.outputs.proved_file import ProvedFile
from streamcheck.report.page.document import LEGEND, Page, fold_out, script_json
from streamcheck.report.page.signals import RunTimeline, path_timeline, run_timeline_of
from streamcheck.report.page.sources import hash_of
from streamcheck.report.path_files import path_html_table
from streamcheck.report.trace_files import html_table
from streamcheck.report.verdicts import Report, how_text, verdict_word

MOST_CELLS = 4000  # of a table below a timeline

Explain = Callable[[Result], Iterable[str]]


def add_proof(page: Page, proof: ProvedFile, explain: Explain, number: int = 0) -> None:
    """Add the section of a spec. `explain` has the lines that explain a result; `number` keeps the anchors apart from
    those of other specs."""
    verdicts = proof.verdicts
    problem = verdicts.problem
    report = Report(problem, verdicts.machine, verdicts.bound)
    page.add([f'<section class="spec" id="spec-{number}"><h2>{html.escape(report.title())}</h2>'])
    page.add(_facts(proof))
    page.add(f'<p class="warning">warning: {html.escape(warning)}</p>' for warning in verdicts.warnings)
    page.add(f'<p class="alarm" role="alert">ALARM: {html.escape(alarm)}</p>' for alarm in verdicts.alarms)
    page.add(_table(verdicts, number))
    parts = [
        line
        for i, result in enumerate(verdicts.results)
        for line in _property(page, proof, result, list(explain(result)), f"p-{number}-{i}")
    ]
    page.add([f'<p class="legend">{LEGEND}</p>'] * any('class="timeline"' in part for part in parts))
    page.add(parts)
    if isinstance(problem, Specification):
        page.add(_graph(problem, verdicts))
    if verdicts.parts:
        page.add(fold_out("By parts", ["<ul>", *(f"<li>{html.escape(p)}</li>" for p in verdicts.parts), "</ul>"]))
    page.add(["</section>"])


def run_page(problem: Problem, result: Result) -> Page:
    """The run of one result alone."""
    page = Page(f"{problem.name}: {result.name}")
    page.section(result.name, [verdict_word(result)], [f'<p class="legend">{LEGEND}</p>', *_run(page, problem, result)])
    return page


def _facts(proof: ProvedFile) -> Iterator[str]:
    digest = hash_of(proof.file)
    words = [r.verdict for r in proof.verdicts.results]
    counts = [f"{words.count(word)} {word}" for word in dict.fromkeys(words)]
    about = [html.escape(proof.file), *counts, f"{proof.verdicts.seconds:.2f} s"]
    yield f'<p class="facts">{" · ".join(about)}</p>'
    if digest is not None:
        yield f'<p class="facts">SHA-256 of the file: <code>{digest}</code></p>'


def _table(verdicts: Verdicts, number: int) -> Iterator[str]:
    yield '<table class="verdicts"><caption>Verdicts</caption>'
    yield "<thead><tr>" + "".join(f'<th scope="col">{t}</th>' for t in ("verdict", "property", "how", "line"))
    yield "</tr></thead><tbody>"
    for i, result in enumerate(verdicts.results):
        how = how_text(result, machine=verdicts.machine, bound=verdicts.bound)
        where = "" if result.prop.where is None else result.prop.where.short
        name = html.escape(result.name)
        yield (
            f'<tr><td class="{result.verdict}">{verdict_word(result)}</td>'
            f'<th scope="row"><a href="#p-{number}-{i}">{name}</a></th>'
            f"<td>{html.escape(how)}</td><td>{html.escape(where)}</td></tr>"
        )
    yield "</tbody></table>"


def _property(page: Page, proof: ProvedFile, result: Result, why: list[str], anchor: str) -> Iterator[str]:
    verdicts = proof.verdicts
    is_open = " open" * (result.verdict in ("falsified", "unknown") and not result.prop.is_implied)
    word, name = verdict_word(result), html.escape(result.name)
    yield f'<details class="property" id="{anchor}"{is_open}>'
    yield f'<summary><span class="{result.verdict}">{word}</span> <h3>{name}</h3></summary>'
    yield f"<p>{html.escape(how_text(result, machine=verdicts.machine, bound=verdicts.bound))}</p>"
    if result.prop.where is not None:
        text = f"{result.prop.where}: {result.prop.where.text}"
        yield f'<p class="line"><code>{html.escape(text)}</code></p>'
    yield from _run(page, verdicts.problem, result)
    report = Report(verdicts.problem, verdicts.machine, verdicts.bound)
    if result.unknown is not None:
        yield from _lines("What is known", list(report.result(result))[1:], is_open=True)
    yield from _lines("Why", why, is_open=result.verdict == "proved")
    saved = proof.saved.get(result.name)
    if saved is not None:
        yield (
            f'<p class="facts">certificate: <code>{html.escape(os.path.basename(saved))}</code>, '
            f"SHA-256 <code>{hash_of(saved)}</code></p>"
        )
    yield "</details>"


def _lines(title: str, lines: list[str], *, is_open: bool) -> list[str]:
    if not lines:
        return []
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    text = html.escape("\n".join(line[indent:] for line in lines))
    return fold_out(title, [f"<pre>{text}</pre>"], is_open=is_open)


def _run(page: Page, problem: Problem, result: Result) -> Iterator[str]:
    """The timeline of the run that breaks or reaches the property, or on which it is not inductive."""
    claim = result.prop
    if isinstance(problem, Automaton):
        if result.path is not None:
            yield from with_table(page, path_timeline(claim, result.path), path_html_table(result.path))
        return
    run = result.run
    if run is None and result.explanation is not None:
        run = result.explanation.fails
        if run is not None:
            yield "<p>Not inductive: a run from a state that perhaps no run reaches.</p>"
    if run is not None:
        cells = len(run.steps) * (len(problem.cells) + len(problem.wires) + len(problem.inputs))
        table = html_table(problem, claim, run) if cells <= MOST_CELLS else ""
        yield from with_table(page, run_timeline_of(problem, claim, run), table)


def with_table(page: Page, timeline: RunTimeline, table: str) -> Iterator[str]:
    """A timeline, and the same as a table (if that is not too large)."""
    yield page.timeline(timeline)
    yield from fold_out("The run as a table", [f'<div class="wide">{table}</div>'], kind="as-table") if table else ()


def _graph(specification: Specification, verdicts: Verdicts) -> Iterator[str]:
    """The dependency graph; the script marks the part that the chosen property depends on."""
    graph = DependencyGraph.of(specification)
    written = [r for r in verdicts.results if not r.prop.is_implied and r.prop.goal is not Goal.INFINITELY_OFTEN]
    cones = {r.name: sorted(_cone(graph, f"prop {r.name}")) for r in written}
    picture = [
        '<div class="graph">',
        '<p><label>Depends on: <select><option value="">(choose a property)</option>',
        *(f"<option>{html.escape(name)}</option>" for name in cones),
        "</select></label> An arrow goes from a stream to what reads it; dashed: one step later.</p>",
        f'<div class="wide">{graph_svg(specification)}</div>',
        f'<script type="application/json" class="cones">{script_json(cones)}</script></div>',
    ]
    yield from fold_out("Dataflow", picture)


def _cone(graph: DependencyGraph, key: str) -> set[str]:
    """The nodes that this one depends on, at this step or before."""
    found, stack = {key}, [key]
    while stack:
        for edge in graph.edges.get(stack.pop(), ()):
            if edge.target not in found:
                found.add(edge.target)
                stack.append(edge.target)
    return found
