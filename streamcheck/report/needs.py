"""Cores, cuts and coverage as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from streamcheck import __version__
from streamcheck.core.printer import Printer
from streamcheck.core.term import substitute, variable
from streamcheck.core.types import plural
from streamcheck.problem.needs import AllNeeds, Core, Cut, Element, Needs
from streamcheck.problem.specification import Specification
from streamcheck.report.equations import term_text
from streamcheck.report.trace import AS_USUAL, TraceOptions, trace_table
from streamcheck.report.verdicts_json import steps_json

WIDEST = 90  # characters of an equation


def why_lines(whole: AllNeeds) -> Iterator[str]:
    """The cores of each property, then the elements that no property needs."""
    yield whole.specification.name
    for needs in whole.properties:
        yield from _needs_lines(whole, needs)
    yield from _coverage_lines(whole)


def cut_lines(whole: AllNeeds, trace: TraceOptions = AS_USUAL, *, runs: bool = True) -> Iterator[str]:
    """The minimal cuts of each property, each with its run."""
    yield whole.specification.name
    for needs in whole.properties:
        if not needs.cores:
            yield f"  {_verdict(needs)}"
            continue
        found = plural(len(needs.cuts), "minimal cut") if needs.cuts else "no cut"
        yield f"  {needs.claim.name}: {found}{'' if needs.all_cuts else ', may have others'}{_open(needs)}"
        for cut in needs.cuts:
            yield f"    without {_names(cut.elements)} a run breaks it"
            yield from _element_lines(whole.specification, cut.elements)
            if runs:
                yield from trace_table(cut.weakened.specification, cut.weakened.claim, cut.run, trace)


def _needs_lines(whole: AllNeeds, needs: Needs) -> Iterator[str]:
    if not needs.cores:
        yield f"  {_verdict(needs)}"
        return
    name, specification, count = needs.claim.name, whole.specification, len(whole.elements)
    if needs.complete:
        yield f"  {name}: all of its minimal cores: {len(needs.cores)}, of {plural(count, 'element')}"
        for word, title in (("must", "in each core"), ("may", "in some core")):
            elements = [e for e in whole.elements if needs.need(e) == word]
            if elements:
                yield f"    {title}"
                yield from _element_lines(specification, elements)
        if len(needs.cores) > 1:
            for i, core in enumerate(needs.cores):
                yield f"    core {i + 1}: {_names(core.elements)}{_strength(needs, i)}"
        yield from _inputs_line(needs.cores[0]) if len(needs.cores) == 1 else ()
        return
    for core in needs.cores:
        size = f"{len(core.elements)} of {plural(count, 'element')}"
        yield f"  {name}: holds by {size}{_minimality(core)}{_open(needs)}"
        yield from _element_lines(specification, core.elements, core)
        yield from _inputs_line(core)


def _strength(needs: Needs, number: int) -> str:
    stronger = [f"core {j + 1}" for i, j in needs.weaker if i == number]
    return f"  (weaker than {', '.join(stronger)})" if stronger else ""


def _minimality(core: Core) -> str:
    if core.minimal:
        return ", shown minimal"
    return f", {len(core.breaks)} of them shown to be needed" if core.breaks else ", not shown minimal"


def _open(needs: Needs) -> str:
    return f" ({plural(needs.open, 'question')} without an answer in the time)" if needs.open else ""


def _inputs_line(core: Core) -> Iterator[str]:
    yield f"    inputs: {', '.join(core.inputs) or 'none'}"


def _verdict(needs: Needs) -> str:
    return f"{needs.claim.name}: {needs.verdict}{f', {needs.reason}' if needs.reason else ''}"


def _names(elements: Sequence[Element]) -> str:
    return ", ".join(e.name for e in elements) or "anything"


def _coverage_lines(whole: AllNeeds) -> Iterator[str]:
    proved = [needs for needs in whole.properties if needs.cores]
    if not proved:
        return
    several = len(proved) > 1
    which, verb, uses = ("these properties", "hold", "use") if several else ("this property", "holds", "uses")
    if not whole.coverage_gaps:
        yield f"  {which} {uses} each of {plural(len(whole.elements), 'element')}"
        return
    gaps = f"{len(whole.coverage_gaps)} of {plural(len(whole.elements), 'element')}"
    yield f"  {which} {verb} whatever these are ({gaps})"
    yield from _element_lines(whole.specification, whole.coverage_gaps)


def _element_lines(
    specification: Specification, elements: Iterable[Element], core: Core | None = None
) -> Iterator[str]:
    """A line for each: its place, its name and its definition; a mark if a core is not shown to need it."""
    rows = [(e.where.short if e.where else "", _title(e), _definition(specification, e), e) for e in elements]
    wide = max((len(place) for place, _, _, _ in rows), default=0)
    wide_name = max((len(title) for _, title, _, _ in rows), default=0)
    for place, title, text, element in rows:
        mark = "  (not shown to be needed)" if core and core.breaks and element not in core.breaks else ""
        yield f"      {place:{wide}}  {title:{wide_name}}  {text}{mark}".rstrip()


def _title(element: Element) -> str:
    return {"equation": element.name, "delay": "", "assumption": f"assume {element.name.removeprefix('assume ')}"}[
        element.kind
    ]


def _definition(specification: Specification, element: Element) -> str:
    """Other elements are shown by their names, whatever they are: they may be free."""
    cells = {c.var: c for c in specification.cells}
    own = [cells[t] for t in element.terms if t in cells]
    shown = own[-1].next if own else element.terms[0]
    others = {w.term: variable(w.name, w.term.type) for w in specification.wires if own or w.term is not shown}
    text = term_text(specification, substitute([shown], others)[shown])
    if own:
        values = ", ".join(Printer({}, [c.initial]).definition(c.initial) for c in own)
        text = f"[{values}] ++ {text}"
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def needs_json(whole: AllNeeds, file: str) -> dict[str, Any]:
    """The object that `why --json` and `cuts --json` print."""
    numbers = {e: i for i, e in enumerate(whole.elements)}
    return {
        "tool": "streamcheck",
        "version": __version__,
        "file": file,
        "spec": whole.specification.name,
        "seconds": round(whole.seconds, 3),
        "elements": [_element_json(whole.specification, e) for e in whole.elements],
        "properties": [_needs_json(needs, numbers) for needs in whole.properties],
        "uncovered": [numbers[e] for e in whole.coverage_gaps],
    }


def _element_json(specification: Specification, element: Element) -> dict[str, Any]:
    where = None if element.where is None else {"file": element.where.file, "line": element.where.line}
    names = {"name": element.name, "also": list(element.also)}
    return {"kind": element.kind, **names, "where": where, "text": _definition(specification, element)}


def _needs_json(needs: Needs, numbers: dict[Element, int]) -> dict[str, Any]:
    row: dict[str, Any] = {"name": needs.claim.name, "verdict": needs.verdict}
    if not needs.cores:
        return row | {"reason": needs.reason}
    row |= {"cores": [_core_json(core, numbers) for core in needs.cores], "complete": needs.complete}
    row |= {"weaker": [list(pair) for pair in needs.weaker]}
    row |= {"cuts": [_cut_json(cut, numbers) for cut in needs.cuts], "all_cuts": needs.all_cuts, "open": needs.open}
    if needs.complete:
        row |= {w: [i for e, i in numbers.items() if needs.need(e) == w] for w in ("must", "may", "never")}
    return row


def _core_json(core: Core, numbers: dict[Element, int]) -> dict[str, Any]:
    return {
        "elements": [numbers[e] for e in core.elements],
        "needed": [numbers[e] for e in core.elements if e in core.breaks],
        "minimal": core.minimal,
        "inputs": list(core.inputs),
    }


def _cut_json(cut: Cut, numbers: dict[Element, int]) -> dict[str, Any]:
    weak = cut.weakened
    run = {"length": cut.run.length, "steps": steps_json(weak.specification, weak.claim, cut.run)}
    return {"elements": [numbers[e] for e in cut.elements], "counterexample": run}
