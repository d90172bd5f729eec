"""The dependency graph of a specification as SVG: inputs on the left, what depends on them further right.

Each node is right of what it reads at the same step; delayed edges, dashed, may go back. Within a column, nodes are
ordered by where their neighbours are, which keeps crossings few.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace

from streamcheck.problem.dependency_graph import DependencyGraph, GraphEdge, GraphNode, NodeKind
from streamcheck.problem.specification import Specification

MOST_NODES = 120  # a larger graph is no picture
ROW, GAP, MARGIN, LETTER, PADDING, HEIGHT = 38, 46, 10, 7.2, 18, 26
LONGEST = 28  # letters of a label
ROUNDS = 4  # of ordering
FILLS: Mapping[NodeKind, str] = {
    "input": "#cfe3f7",
    "constant": "#e8eef5",
    "cell": "#ffffff",
    "wire": "#f3f3f3",
    "trigger": "#f9d0b5",
    "observer": "#e9e2f5",
    "assume": "#fdf3c8",
    "prop": "#d6efd5",
}


def graph_svg(specification: Specification) -> str:
    """The graph, without the properties that operators imply; or a line that it is too large."""
    written = tuple(p for p in specification.properties if not p.is_implied)
    graph = DependencyGraph.of(replace(specification, properties=written))
    if len(graph.nodes) > MOST_NODES:
        name = html.escape(specification.name)
        return f"<p>{name}: {len(graph.nodes)} streams and claims, too many for a picture</p>"
    places = _places(graph)
    width = max((x + w for x, _, w in places.values()), default=0) + MARGIN
    height = max((y for _, y, _ in places.values()), default=0) + HEIGHT + 2 * MARGIN
    title = html.escape(f"the streams of {specification.name}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
            f'aria-label="{title}" font-family="sans-serif" font-size="12">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>',
            *(_edge(edge, places) for edges in graph.edges.values() for edge in edges),
            *(_node(node, *places[node.key]) for node in graph.nodes),
            "</svg>",
        ]
    )


def _places(graph: DependencyGraph) -> dict[str, tuple[float, float, float]]:
    """The left end, the top and the width of each node."""
    columns = _order_columns(graph, _columns(graph))
    places: dict[str, tuple[float, float, float]] = {}
    tallest, left = max(map(len, columns), default=0), float(MARGIN)
    for column in columns:
        wide = max(len(_label(node)) for node in column) * LETTER + PADDING
        top = MARGIN + (tallest - len(column)) * ROW / 2
        for i, node in enumerate(column):
            places[node.key] = left, top + i * ROW, wide
        left += wide + GAP
    return places


def _columns(graph: DependencyGraph) -> list[list[GraphNode]]:
    """Nodes by the length of the longest path of edges without delay to them; cells after the inputs."""
    depth: dict[str, int] = {}
    for node in graph.nodes:
        stack = [node.key]
        while stack:
            key = stack[-1]
            reads = [e.target for e in graph.edges.get(key, ()) if not e.delayed and e.target != key]
            pending = [target for target in reads if target not in depth]
            if pending and key not in depth:
                depth.setdefault(key, 0)
                stack.extend(pending)
                continue
            stack.pop()
            delayed = any(e.delayed for e in graph.edges.get(key, ()))
            depth[key] = max([1 if delayed else 0, *(depth[target] + 1 for target in reads)])
    columns: dict[int, list[GraphNode]] = {}
    for node in graph.nodes:
        columns.setdefault(depth[node.key], []).append(node)
    return [columns[d] for d in sorted(columns)]


def _order_columns(graph: DependencyGraph, columns: list[list[GraphNode]]) -> list[list[GraphNode]]:
    """Each column by the mean place of the neighbours."""
    beside: dict[str, list[str]] = {node.key: [] for node in graph.nodes}
    for edges in graph.edges.values():
        for edge in edges:
            beside[edge.source].append(edge.target)
            beside[edge.target].append(edge.source)
    place = {node.key: float(i) for column in columns for i, node in enumerate(column)}
    for _ in range(ROUNDS):
        for number, column in enumerate(columns):
            mean = {n.key: sum(place[k] for k in beside[n.key]) / max(1, len(beside[n.key])) for n in column}
            columns[number] = sorted(column, key=lambda node, mean=mean: mean[node.key])  # type: ignore[misc]
            place |= {node.key: float(i) for i, node in enumerate(columns[number])}
    return columns


def _label(node: GraphNode) -> str:
    return node.label if len(node.label) <= LONGEST else node.label[: LONGEST - 1] + "…"


def _node(node: GraphNode, x: float, y: float, width: float) -> str:
    round_corners = HEIGHT / 2 if node.kind in ("wire", "constant") else 3
    return (
        f'<g class="node {node.kind}" data-key="{html.escape(node.key)}">'
        f"<title>{html.escape(f'{node.kind} {node.label}')}</title>"
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="{round_corners:.0f}" '
        f'fill="{FILLS[node.kind]}" stroke="#777"/>'
        f'<text x="{x + width / 2:.0f}" y="{y + HEIGHT / 2 + 4:.0f}" text-anchor="middle" fill="#222">'
        f"{html.escape(_label(node))}</text></g>"
    )


def _edge(edge: GraphEdge, places: Mapping[str, tuple[float, float, float]]) -> str:
    """An arrow from what is read to what reads it."""
    (x1, y1, w1), (x2, y2, _) = places[edge.target], places[edge.source]
    begin, end = (x1 + w1, y1 + HEIGHT / 2), (x2, y2 + HEIGHT / 2)
    bend = max(GAP / 2, abs(end[0] - begin[0]) / 2) if end[0] > begin[0] else GAP
    sag = 0 if end[0] > begin[0] else ROW * 0.8
    first, second = (begin[0] + bend, begin[1] + sag), (end[0] - bend, end[1] + sag)
    points = " ".join(f"{x:.0f} {y:.0f}" for x, y in (first, second, end))
    dashed = ' stroke-dasharray="4 3"' if edge.delayed else ""
    start = f"M{begin[0]:.0f} {begin[1]:.0f}"
    ends = f'data-source="{html.escape(edge.source)}" data-target="{html.escape(edge.target)}"'
    return f'<path class="edge" {ends} d="{start} C{points}" fill="none" stroke="#777"{dashed} marker-end="url(#tip)"/>'
