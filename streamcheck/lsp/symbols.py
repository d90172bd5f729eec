"""The names of a problem that an editor can ask about: types, cost in the state, places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from streamcheck.codegen.text import size
from streamcheck.core.location import Location
from streamcheck.core.term import Term
from streamcheck.core.types import Type, plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Cell, Specification

MOST_WORK = 3_000_000  # terms to walk for the costs: of larger specs, only the cells have one
UNBOUNDED = ("int", "real")


def symbols_of(problem: Problem) -> Iterator[dict[str, Any]]:
    """A row for each name: `name`, `kind`, `type`, `file` and `line`, and `about`: its unit, doc and cost."""
    if isinstance(problem, Automaton):
        yield from _of_program(problem)
    else:
        yield from _of_specification(problem)


def _of_specification(spec: Specification) -> Iterator[dict[str, Any]]:
    for given in spec.inputs:
        about = [text for text in (given.doc, given.unit and f"unit: {given.unit}") if text]
        yield _row(given.name, "input" if given.extern else "unknown", given.type, given.where, about)
    for constant in spec.constants:
        yield _row(constant.label, "constant, any value", constant.var.type, constant.where, [])
    cells = {cell.var: cell for cell in spec.cells}
    streams = [(c.name, c.var, c.where) for c in spec.cells if c.named]
    streams += [(n.name, n.term, n.where) for n in spec.wires]
    defined = {name for name, _, _ in streams} | {given.name for given in spec.inputs}
    streams += [(n.name, n.term, n.where) for n in spec.observers if n.name not in defined]
    affordable = len(streams) * spec.size <= MOST_WORK
    for name, term, where in streams:
        cost = list(_cost(spec, term, cells, affordable))
        yield _row(name, "stream", term.type, where, cost)


def _cost(spec: Specification, term: Term, cells: dict[Term, Cell], affordable: bool) -> Iterator[str]:
    own = cells.get(term)
    if own is not None:
        yield f"state: {_bytes([term.type])}"
    if affordable:
        below = [var.type for var in spec.needed_by([term]) if var in cells and var is not term]
        if below:
            yield f"depends on {plural(len(below), 'other cell' if own else 'cell')} of {_bytes(below)}"
        elif own is None:
            yield "needs no state"


def _bytes(types: Iterable[Type]) -> str:
    kept = list(types)
    if any(type.kind in UNBOUNDED for type in kept):
        return "unbounded size, which cannot be compiled"
    return plural(sum(map(size, kept)), "byte")


def _of_program(program: Automaton) -> Iterator[dict[str, Any]]:
    for var in program.variables:
        name = str(var.payload)
        yield _row(name, "variable", var.type, program.source_names.get(name), [])


def _row(name: str, kind: str, type: Type, where: Location | None, about: list[str]) -> dict[str, Any]:
    file, line = (None, None) if where is None else (where.file, where.line)
    return {"name": name, "kind": kind, "type": str(type), "file": file, "line": line, "about": about}
