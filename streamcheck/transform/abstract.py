"""Structural abstraction: a system in which only chosen definitions are kept, the others free.

[Laurent, "Structural abstraction"]: each variable is a vertex of the dependency graph, with an edge x → y if y
appears in the definition of x. T♯ keeps the definitions of the variables in R and drops the others' clauses.

Variables here are the state variables and the named definitions (wires). A dropped state variable becomes an input; a
dropped definition becomes an input in place of its term. What holds in T♯ holds in T, which has fewer runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from streamcheck.core.term import Term, rebuild, variable, walk
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import Definition, TransitionSystem


@dataclass(frozen=True, slots=True)
class Graph:
    """The dependency graph, from a claim and the assumptions. `depth` counts edges from there."""

    system: TransitionSystem
    named: dict[Term, str]  # the terms that are vertices: state variables and definitions
    depth: dict[str, int]
    successors: dict[str, tuple[str, ...]]

    @staticmethod
    def of(system: TransitionSystem, claim: Claim) -> Graph:
        named = {d.term: d.name for d in system.definitions if d.term.args}
        named |= {s.var: s.var.payload for s in system.state}
        meaning = {name: term for term, name in named.items()} | {s.var.payload: s.next for s in system.state}
        graph = Graph(system, named, {}, {})
        frontier = list(graph.below([claim.term, *(a.term for a in system.assumptions)]))
        level = 0
        while frontier:
            fresh = [name for name in dict.fromkeys(frontier) if name not in graph.depth]
            graph.depth.update(dict.fromkeys(fresh, level))
            for name in fresh:
                term = meaning[name]
                roots = [term] if name in {s.var.payload for s in system.state} else list(term.args)
                graph.successors[name] = tuple(graph.below(roots))
            frontier = [after for name in fresh for after in graph.successors[name]]
            level += 1
        return graph

    def below(self, roots: Iterable[Term]) -> Iterator[str]:
        """The nearest vertices at or below these terms."""
        seen: set[Term] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if node in self.named:
                yield self.named[node]
            else:
                stack.extend(node.args)


@dataclass(frozen=True, slots=True)
class Abstraction:
    """T♯ for the claim alone. `free` maps the names of dropped variables that T♯ depends on to what stands for them in
    T♯ and in T."""

    system: TransitionSystem
    free: dict[str, tuple[Term, Term]]


def abstract(graph: Graph, claim: Claim, kept: set[str]) -> Abstraction:
    system = graph.system
    cut = {term: name for term, name in graph.named.items() if name not in kept}
    images: dict[Term, Term] = {}
    for node in _walk_to(cut, system, claim, kept):
        images[node] = (
            variable(f"{cut[node]}#", node.type) if node in cut else rebuild(node, [images[a] for a in node.args])
        )
    state = [s for s in system.state if s.var not in cut and s.var in images]
    free = {cut[node]: (images[node], node) for node in images if node in cut}
    inputs = [v for v in system.inputs if v in images]
    abstracted = replace(
        system,
        state=tuple(replace(s, next=images[s.next]) for s in state),
        inputs=(*inputs, *(image for image, _ in free.values())),
        definitions=tuple(Definition(d.name, images[d.term]) for d in system.definitions if d.term in images),
        assumptions=tuple(replace(a, term=images[a.term]) for a in system.assumptions),
        properties=(replace(claim, term=images[claim.term]),),
    )
    return Abstraction(abstracted, free)


def _walk_to(cut: dict[Term, str], system: TransitionSystem, claim: Claim, kept: set[str]) -> Iterator[Term]:
    """The terms that T♯ depends on, arguments first: not below what is cut, and through the kept state."""
    nexts = {s.var: s.next for s in system.state if s.var.payload in kept}
    done: set[Term] = set(cut)
    seen_cut: set[Term] = set()
    pending = [claim.term, *(a.term for a in system.assumptions)]
    while pending:
        following: list[Term] = []
        for root in pending:
            if root in cut and root not in seen_cut:
                seen_cut.add(root)
                yield root
            for node in walk([root], done):
                for a in node.args:
                    if a in cut and a not in seen_cut:
                        seen_cut.add(a)
                        yield a
                yield node
                if node in nexts:
                    following.append(nexts[node])
        pending = following
