"""The dependency graph of a specification as SVG: inputs on the left, what depends on them further right.

Each node is right of what it reads at the same step; delayed edges, dashed, may go back. An edge over several columns
has a lane in each of those between, so it passes behind no node. Within a column, nodes and lanes are ordered by where
their neighbours are, which keeps crossings few.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from streamcheck.problem.dependency_graph import DependencyGraph, GraphEdge, GraphNode, NodeKind
from streamcheck.problem.specification import Specification

MOST_NODES = 120  # a larger graph is no picture
ROW, LANE, GAP, MARGIN, LETTER, PADDING, HEIGHT = 38, 14, 46, 10, 7.2, 18, 26
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
    width = max((p.right for p in places.values()), default=0) + MARGIN
    height = max((p.middle for p in places.values()), default=0) + HEIGHT / 2 + 2 * MARGIN
    title = html.escape(f"the streams of {specification.name}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" role="img" '
            f'aria-label="{title}" font-family="sans-serif" font-size="12">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>',
            *(_edge(edge, places) for edges in graph.edges.values() for edge in edges),
            *(_node(node, places[node.key]) for node in graph.nodes),
            "</svg>",
        ]
    )


@dataclass(frozen=True, slots=True)
class NodePlace:
    """The place of a node, or of a lane: its ends and its middle, and the number of its column."""

    left: float
    right: float
    middle: float
    column: int


def _places(graph: DependencyGraph) -> dict[str, NodePlace]:
    """The place of each node, and of each lane by `_lane`."""
    columns = _columns(graph)
    labels = {node.key: _label(node) for node in graph.nodes}
    places: dict[str, NodePlace] = {}
    ordered = _order_columns(graph, [[node.key for node in column] for column in columns])
    heights = [sum(ROW if key in labels else LANE for key in column) for column in ordered]
    left = float(MARGIN)
    for number, column in enumerate(ordered):
        wide = max(len(labels.get(key, "")) for key in column) * LETTER + PADDING
        top = MARGIN + (max(heights) - heights[number]) / 2
        for key in column:
            middle = top + (HEIGHT if key in labels else LANE) / 2
            places[key] = NodePlace(left, left + wide, middle, number)
            top += ROW if key in labels else LANE
        left += wide + GAP
    return places


def _lane(target: str, column: int) -> str:
    """The key of the lane in a column for the edges to what is read; no node's key has a 0 in it."""
    return f"{target}\0{column}"


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


def _order_columns(graph: DependencyGraph, columns: list[list[str]]) -> list[list[str]]:
    """Each column with its lanes, by the mean place of the neighbours."""
    at = {key: i for i, column in enumerate(columns) for key in column}
    columns = [list(column) for column in columns]
    beside: dict[str, list[str]] = {key: [] for key in at}
    for edge in (edge for edges in graph.edges.values() for edge in edges):
        way = [edge.target, *_lanes(edge, at[edge.target], at[edge.source]), edge.source]
        for number, lane in enumerate(way[1:-1], at[edge.target] + 1):
            if lane not in beside:
                beside[lane] = []
                columns[number].append(lane)
        for one, other in pairwise(way):
            beside[one].append(other)
            beside[other].append(one)
    place = {key: float(i) for column in columns for i, key in enumerate(column)}
    for _ in range(ROUNDS):
        for number, column in enumerate(columns):
            mean = {key: sum(place[k] for k in beside[key]) / max(1, len(beside[key])) for key in column}
            columns[number] = sorted(column, key=mean.__getitem__)
            place |= {key: float(i) for i, key in enumerate(columns[number])}
    return columns


def _lanes(edge: GraphEdge, begin: int, end: int) -> list[str]:
    """The lanes of an edge from one column to another that is further right."""
    return [_lane(edge.target, number) for number in range(begin + 1, end)]


def _label(node: GraphNode) -> str:
    return node.label if len(node.label) <= LONGEST else node.label[: LONGEST - 1] + "…"


def _node(node: GraphNode, place: NodePlace) -> str:
    x, y, width = place.left, place.middle - HEIGHT / 2, place.right - place.left
    round_corners = HEIGHT / 2 if node.kind in ("wire", "constant") else 3
    return (
        f'<g class="node {node.kind}" data-key="{html.escape(node.key)}">'
        f"<title>{html.escape(f'{node.kind} {node.label}')}</title>"
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="{round_corners:.0f}" '
        f'fill="{FILLS[node.kind]}" stroke="#777"/>'
        f'<text x="{x + width / 2:.0f}" y="{y + HEIGHT / 2 + 4:.0f}" text-anchor="middle" fill="#222">'
        f"{html.escape(_label(node))}</text></g>"
    )


def _edge(edge: GraphEdge, places: Mapping[str, NodePlace]) -> str:
    """An arrow from what is read to what reads it."""
    begin, end = places[edge.target], places[edge.source]
    lanes = [places[lane] for lane in _lanes(edge, begin.column, end.column)]
    parts = [f"M{begin.right:.0f} {begin.middle:.0f}"]
    for one, other in pairwise([begin, *lanes, end]):
        parts.append(_curve(one.right, one.middle, other.left, other.middle))
        parts += [f"H{other.right:.0f}"] * (other is not end)
    dashed = ' stroke-dasharray="4 3"' if edge.delayed else ""
    ends = f'data-source="{html.escape(edge.source)}" data-target="{html.escape(edge.target)}"'
    path = " ".join(parts)
    return f'<path class="edge" {ends} d="{path}" fill="none" stroke="#777"{dashed} marker-end="url(#tip)"/>'


def _curve(x1: float, y1: float, x2: float, y2: float) -> str:
    """From the end of one to the begin of another; below both, if that is not further right."""
    if x2 > x1:
        bend = max(GAP / 2, (x2 - x1) / 2)
        return f"C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    below = max(y1, y2) + ROW * 0.8
    return f"C{x1 + GAP:.0f} {below:.0f} {x2 - GAP:.0f} {below:.0f} {x2:.0f} {y2:.0f}"
