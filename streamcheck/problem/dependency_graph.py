"""The dependency graph of a specification [Laurent, "Structural abstraction"]: an edge from x to y if y appears in the
definition of x; delayed if x holds the previous value of y."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from streamcheck.core.term import Term
from streamcheck.problem.specification import Specification

NodeKind: TypeAlias = Literal["input", "constant", "cell", "wire", "trigger", "observer", "assume", "prop"]


@dataclass(frozen=True, slots=True)
class GraphNode:
    key: str
    label: str
    kind: NodeKind


@dataclass(frozen=True, slots=True)
class GraphEdge:
    source: str  # whose definition reads
    target: str
    delayed: bool = False


@dataclass(frozen=True, slots=True)
class DependencyGraph:
    nodes: tuple[GraphNode, ...]
    edges: Mapping[str, tuple[GraphEdge, ...]]  # by source

    @staticmethod
    def of(specification: Specification) -> DependencyGraph:
        named: dict[Term, str] = {w.term: w.name for w in specification.wires}
        nodes: list[GraphNode] = []
        reads: list[tuple[str, tuple[Term, ...], bool]] = []
        for i in specification.inputs:
            named[i.var] = i.name
            nodes.append(GraphNode(i.name, i.name, "input"))
        for c in specification.constants:
            named[c.var] = c.name
            nodes.append(GraphNode(c.name, c.name, "constant"))
        for cell in specification.cells:
            named[cell.var] = cell.name
            label = cell.name if cell.named or cell.where is None else f"‹line {cell.where.line}›"
            nodes.append(GraphNode(cell.name, label, "cell"))
            reads.append((cell.name, (cell.next,), True))
        for wire in specification.wires:
            nodes.append(GraphNode(wire.name, wire.name, "wire"))
            reads.append((wire.name, wire.term.args, False))
        for trigger in specification.triggers:
            nodes.append(GraphNode(f"trigger {trigger.name}", trigger.name, "trigger"))
            reads.append((nodes[-1].key, tuple(trigger.terms()), False))
        claims: tuple[tuple[NodeKind, tuple[tuple[str, Term], ...]], ...] = (
            ("observer", tuple((o.name, o.term) for o in specification.observers)),
            ("assume", tuple((a.name, a.term) for a in specification.assumptions)),
            ("prop", tuple((p.name, p.term) for p in specification.properties)),
        )
        for kind, items in claims:
            for name, term in items:
                nodes.append(GraphNode(f"{kind} {name}", name, kind))
                reads.append((nodes[-1].key, (term,), False))
        edges = {
            key: tuple(GraphEdge(key, target, delayed) for target in _named_below(roots, named))
            for key, roots, delayed in reads
        }
        return DependencyGraph(tuple(nodes), edges)


def _named_below(roots: tuple[Term, ...], named: dict[Term, str]) -> Iterator[str]:
    """The nearest named terms."""
    seen: set[Term] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in named:
            yield named[node]
        else:
            stack.extend(reversed(node.args))
