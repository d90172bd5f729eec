"""Depth-first bounded model checking of an automaton [Penelle, Algorithm 2], forward and backward.

    line 1    the path is longer than the bound: not exhausted
    line 3    the path has no execution: exhausted
    line 5    it ends in the error: a counterexample
    line 8    otherwise the answers of the edges that continue it, together

([Penelle] prints line 1 as `k > l` for `l > k`.) The solver's assertions for a path are pushed and popped with its last
edge, and a variable has a new name only if an edge changes it (section 4.2.2): `names` has the name of each at the
end.

Backward is the same search in the reversed automaton, from the error to the entry: an edge is followed from its
target, and what it changes gets a new name for the time before.

Departures: the recursion is a stack. The bound grows by one, so that the first counterexample is a shortest one.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import count
from typing import ClassVar, Literal, TypeAlias

from streamcheck.core.simplify import simplify
from streamcheck.core.term import Term, substitute, term, variable
from streamcheck.engines.cfa.base import Answer, Exhausted, Inconclusive, ProgramEngine, Unsafe
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.smt.solver import Solver

Direction: TypeAlias = Literal["forward", "backward"]
Exploration: TypeAlias = "Sequence[Edge] | Literal['exhausted', 'not exhausted', 'gave up']"
A_TURN = 50  # nodes


class DfsBmc(ProgramEngine):
    name: ClassVar[str] = "dfs-bmc"
    direction: ClassVar[Direction] = "forward"
    whole: ClassVar[bool] = True  # a loop makes executions endless even if it leads to no error

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        for k in count():
            exploration = yield from explore(program, k, self.direction, problem.patience)
            match exploration:
                case "gave up":
                    return Inconclusive("a query took too long")
                case "exhausted":
                    return Exhausted(self.direction, k + 1)  # a path of k edges may end in another's error
                case "not exhausted":
                    yield Progress(k)
                case path:
                    return Unsafe(path)
        raise AssertionError


class DfsBmcBackward(DfsBmc):
    name: ClassVar[str] = "dfs-bmc-backward"
    direction: ClassVar[Direction] = "backward"
    whole: ClassVar[bool] = False


def explore(
    program: Automaton, bound: int, direction: Direction, patience: int | None = None
) -> Generator[Progress, None, Exploration]:
    """Every path from the entry (to the error) of at most so many edges."""
    search = _Search(program, direction, Solver(patience))
    exhausted = True
    pending: list[tuple[int, Edge | None]] = [(0, None)]  # depth, and the edge that leads there
    for visited in count(1):
        if not pending:
            return "exhausted" if exhausted else "not exhausted"
        if visited % A_TURN == 0:
            yield Progress(bound)
        depth, edge = pending.pop()
        if depth > bound:  # line 1
            exhausted = False
            continue
        search.go(depth, edge)
        # guard ∧ x' = t of each edge of the path, over the names that are current when it is taken
        answer = search.solver.check() if edge is not None else True
        if answer is None:
            return "gave up"
        if not answer:  # line 3
            continue
        if search.location == search.goal:  # line 5
            return search.path()
        pending.extend((depth + 1, following) for following in reversed(search.next_edges()))  # line 8
    raise AssertionError


class _Search:
    """The path to the present node: its edges, the variables' names after each, and its formula in the solver."""

    def __init__(self, program: Automaton, direction: Direction, solver: Solver) -> None:
        (error,) = program.bad
        self.program, self.direction, self.solver = program, direction, solver
        self.start, self.goal = (program.entry, error) if direction == "forward" else (error, program.entry)
        self.edges: list[Edge] = []
        self.names: list[dict[Term, Term]] = [{v: v for v in program.variables}]

    @property
    def location(self) -> str:
        if not self.edges:
            return self.start
        return self.edges[-1].target if self.direction == "forward" else self.edges[-1].source

    def next_edges(self) -> Sequence[Edge]:
        around = self.program.edges_from if self.direction == "forward" else self.program.edges_to
        return around[self.location]

    def path(self) -> Sequence[Edge]:
        return self.edges if self.direction == "forward" else self.edges[::-1]

    def go(self, depth: int, edge: Edge | None) -> None:
        """Go to the node at that depth, by the edge; the path beyond its parent is removed."""
        while len(self.edges) >= max(depth, 1):
            self.edges.pop()
            self.names.pop()
            self.solver.pop()
        if edge is not None:
            self.solver.push()
            self.solver.add(*self._step(edge, depth))
            self.edges.append(edge)

    def _step(self, edge: Edge, depth: int) -> list[Term]:
        old = self.names[-1]
        new = {**old, **{v: variable(f"{v.payload}@{depth}", v.type) for v, _ in edge.updates}}
        self.names.append(new)
        before, after = (old, new) if self.direction == "forward" else (new, old)
        chosen = {c: variable(f"{c.payload}@{depth}", c.type) for c in edge.choices}
        images = substitute([*edge.roots()], {**before, **chosen})
        simple = simplify(images.values())
        equations = [term("same", after[v], simple[images[t]]) for v, t in edge.updates]
        return [simple[images[edge.guard]], *equations]
