"""The dependency graph as Graphviz DOT. Edges to a previous value are dashed, instances of components are boxes around
their streams."""

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
    yield from _boxes("", _insides([i.name for i in specification.instances if i.name], [n.key for n in graph.nodes]))


def _insides(instances: list[str], keys: list[str]) -> dict[str, list[str]]:
    """The streams and instances that lie directly in each instance; for "" the instances of the spec itself."""
    known, insides = {*instances}, {name: list[str]() for name in ("", *instances)}
    for name in dict.fromkeys([*instances, *keys]):
        dots = [i for i, letter in enumerate(name) if letter == "." and name[:i] in known]
        around = name[: max(dots)] if dots else ""
        if around or name in known:
            insides[around].append(name)
    return insides


def _boxes(around: str, insides: Mapping[str, list[str]]) -> Iterator[str]:
    for name in insides[around]:
        if name in insides:
            yield f"  subgraph {_quote(f'cluster {name}')} {{ label={_quote(name)};"
            yield from _boxes(name, insides)
            yield "  }"
        else:
            yield f"  {_quote(name)};"


def _label(node: GraphNode) -> str:
    return f"label={_quote(node.label)}, " if node.kind == "trigger" else ""


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
