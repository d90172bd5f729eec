"""A transition system as text."""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.printer import Printer, as_notation
from streamcheck.problem.transition import TransitionSystem
from streamcheck.report.equations import GOALS


def show_system(system: TransitionSystem) -> str:
    return "\n".join(_lines(system)) + "\n"


def _lines(system: TransitionSystem) -> Iterator[str]:
    printer = Printer({d.term: d.name for d in system.definitions if d.term.args}, system.roots())
    yield f"system {system.name}"
    for var in system.inputs:
        yield f"  input   {var.payload} : {var.type}"
    for s in system.state:
        start = "" if s.init is None else f" := {as_notation(s.init.type, s.init.payload)}"
        yield f"  state   {s.var.payload} : {s.var.type}{start}"
    named = {d.term for d in system.definitions}
    for node, name in printer.names.items():
        if node in named or node in {n for _, n, _ in printer.extra}:
            yield f"  define  {name} : {node.type} = {printer.definition(node)}"
    for s in system.state:
        yield f"  next    {s.var.payload}' = {printer.use(s.next)}"
    for claim in system.assumptions:
        yield f"  assume  {claim.name}: {printer.use(claim.term)}"
    for claim in system.properties:
        kind = "implied" if claim.is_implied else GOALS[claim.goal]
        yield f"  {kind:7} {claim.name}: {printer.use(claim.term)}"
