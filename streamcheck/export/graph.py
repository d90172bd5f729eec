"""The dependency graph as Graphviz DOT. Edges to a previous value are dashed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamcheck.problem.dependency_graph import DependencyGraph, GraphNode, NodeKind
from streamcheck.problem.specification import Specification

SHAPES: Mapping[NodeKind, str] = {
    "input": "shape=invhouse, style=filled, fillcolor=lightblue",
    "constant": "shape=invhouse, style=dotted",
    "cell": "shape=box",
    "wire": "shape=ellipse",
    "trigger": "shape=cds, style=filled, fillcolor=lightsalmon",
    "observer": "shape=note",
    "assume": "shape=note",
    "prop": "shape=note",
}


def show_graph(specification: Specification) -> str:
    return "\n".join(["digraph " + _quote(specification.name) + " {", *_lines(specification), "}"]) + "\n"


def _lines(specification: Specification) -> Iterator[str]:
    yield "  rankdir=LR; node [fontname=Helvetica, fontsize=11]; edge [color=gray30];"
    graph = DependencyGraph.of(specification)
    for node in graph.nodes:
        yield f"  {_quote(node.key)} [{_label(node)}{SHAPES[node.kind]}];"
        for edge in graph.edges.get(node.key, ()):
            style = " [style=dashed]" if edge.delayed else ""
            yield f"  {_quote(edge.source)} -> {_quote(edge.target)}{style};"


def _label(node: GraphNode) -> str:
    return f"label={_quote(node.label)}, " if node.kind == "trigger" else ""


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
