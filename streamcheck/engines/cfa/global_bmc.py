"""Global bounded model checking of an automaton [Penelle, Algorithm 3], forward and backward.

    line 3    ψ = (q_0 = q_in) ∧ step(q_0, X_0, q_1, X_1) ∧ … ∧ step(q_i-1, X_i-1, q_i, X_i)
    line 4    ψ has no model: no execution is that long, so none reaches the error
    line 6    ψ ∧ (q_i = q_bad) has one: a feasible path

`step` is the disjunction of the edges (section 3.3): q = source ∧ guard ∧ updates ∧ q' = target. Each edge of each
step has a Bool variable that implies its disjunct; the model's true ones are the path. Backward, the roles of q_in
and q_bad, and of X_i and X_i+1, are exchanged (section 3.3.1).
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import count
from typing import ClassVar

from streamcheck.core.simplify import conjunction, disjunction, simplify
from streamcheck.core.term import Term, substitute, term, variable
from streamcheck.core.types import BOOL
from streamcheck.engines.cfa.base import Answer, Exhausted, Inconclusive, ProgramEngine, Unsafe
from streamcheck.engines.cfa.dfs_bmc import Direction
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import at


class GlobalBmc(ProgramEngine):
    name: ClassVar[str] = "global-bmc"
    direction: ClassVar[Direction] = "forward"
    whole: ClassVar[bool] = True

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        (error,) = program.bad
        first, last = (program.entry, error) if self.direction == "forward" else (error, program.entry)
        steps, solver = StepFormula(program, self.direction), Solver(problem.patience)
        solver.add(steps.is_at(first, 0))
        for i in count():
            possible = solver.check()  # line 4
            if possible is False:
                return Exhausted(self.direction, i)
            feasible = solver.check(steps.is_at(last, i)) if possible else None  # line 7
            if feasible:
                return Unsafe(steps.path(solver, i))
            if feasible is None:
                return Inconclusive(solver.reason)
            yield Progress(i)
            solver.add(steps.step(i))
        raise AssertionError


class GlobalBmcBackward(GlobalBmc):
    name: ClassVar[str] = "global-bmc-backward"
    direction: ClassVar[Direction] = "backward"
    whole: ClassVar[bool] = False


class StepFormula:
    """The step formula between copies of the location and the variables."""

    def __init__(self, program: Automaton, direction: Direction) -> None:
        self.program, self.direction = program, direction
        self.taken: list[list[tuple[Term, Edge]]] = []

    def is_at(self, location: str, i: int) -> Term:
        return term("eq", at(self.program.place, i), self.program.code(location))

    def step(self, i: int) -> Term:
        """Between copies i and i + 1."""
        before, after = (i, i + 1) if self.direction == "forward" else (i + 1, i)
        self.taken.append([])
        return conjunction(
            *(self._edge(edge, number, before, after) for number, edge in enumerate(self.program.edges)),
            disjunction(*(label for label, _ in self.taken[-1])),
        )

    def _edge(self, edge: Edge, number: int, before: int, after: int) -> Term:
        label = variable(f"edge:{number}@{min(before, after)}", BOOL)
        self.taken[-1].append((label, edge))
        now = {v: at(v, before) for v in (*self.program.variables, *edge.choices)}
        images = substitute([*edge.roots()], now)
        simple = simplify(images.values())
        news = {v: simple[images[t]] for v, t in edge.updates}
        moved = (term("same", at(v, after), news.get(v, now[v])) for v in self.program.variables)
        ends = self.is_at(edge.source, before), self.is_at(edge.target, after)
        return term("implies", label, conjunction(*ends, simple[images[edge.guard]], *moved))

    def path(self, solver: Solver, length: int) -> list[Edge]:
        """The edges that the model takes."""
        model = solver.model()
        path = [next(edge for label, edge in labels if model[label]) for labels in self.taken[:length]]
        return path if self.direction == "forward" else path[::-1]
