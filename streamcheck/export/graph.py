"""The dependency graph of [Laurent, "Structural abstraction"] as Graphviz DOT: an edge x → y if y appears in
the definition of x, dashed if x holds the previous value of y."""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.term import Term
from streamcheck.problem.specification import Specification


def show_graph(specification: Specification) -> str:
    return "\n".join(["digraph " + _quote(specification.name) + " {", *_lines(specification), "}"]) + "\n"


def _lines(specification: Specification) -> Iterator[str]:
    yield "  rankdir=LR; node [fontname=Helvetica, fontsize=11]; edge [color=gray30];"
    named: dict[Term, str] = {w.term: w.name for w in specification.wires}
    for i in specification.inputs:
        named[i.var] = i.name
        yield f"  {_quote(i.name)} [shape=invhouse, style=filled, fillcolor=lightblue];"
    for c in specification.constants:
        named[c.var] = c.name
        yield f"  {_quote(c.name)} [shape=invhouse, style=dotted];"
    for cell in specification.cells:
        named[cell.var] = cell.name
        yield f"  {_quote(cell.name)} [shape=box];"
    for wire in specification.wires:
        yield f"  {_quote(wire.name)} [shape=ellipse];"
        yield from _edges(wire.name, wire.term.args, named)
    for cell in specification.cells:
        yield from _edges(cell.name, (cell.next,), named, " [style=dashed]")
    for trigger in specification.triggers:
        name = _quote(f"trigger {trigger.name}")
        yield f"  {name} [label={_quote(trigger.name)}, shape=cds, style=filled, fillcolor=lightsalmon];"
        yield from _edges(f"trigger {trigger.name}", (trigger.guard, *(a for _, a in trigger.args)), named)
    for kind, items in (
        ("observer", specification.observers),
        ("assume", specification.assumptions),
        ("prop", specification.properties),
    ):
        for item in items:
            node = f"{kind} {item.name}"
            yield f"  {_quote(node)} [shape=note];"
            yield from _edges(node, (item.term,), named)


def _edges(source: str, roots: tuple[Term, ...], named: dict[Term, str], style: str = "") -> Iterator[str]:
    """Edges to the nearest named terms below the roots."""
    seen: set[Term] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in named:
            yield f"  {_quote(source)} -> {_quote(named[node])}{style};"
        else:
            stack.extend(reversed(node.args))


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
