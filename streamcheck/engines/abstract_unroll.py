"""Structural abstractions unrolled in one solver each: what is kept is only added to, so nothing is taken back.

Every vertex of the dependency graph has a variable of its own at every step. While it is not kept it is free; once it
is, an equation with what it is made of joins those that are there, at every step so far and to come. A violation at
the last step is assumed, not asserted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, constant, fold, rebuild, substitute, term, variable, variables
from streamcheck.core.types import Value
from streamcheck.problem.claim import Claim
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import Chained, Composed, at
from streamcheck.transform.abstract import Graph

Values: TypeAlias = dict[tuple[Term, int], Value]  # of variables at steps


class AbstractRuns:
    """The runs of T♯, from the initial states or from any."""

    def __init__(self, graph: Graph, claim: Claim, *, initial: bool, patience: int | None) -> None:
        self.graph = graph
        self.claim = claim.term
        self.initial = initial
        self.solver = Solver(patience)
        self.symbols = {name: variable(f"{name}#", node.type) for node, name in graph.named.items()}
        self.meanings = {name: node for node, name in graph.named.items()}
        self.states = {s.var.payload: s for s in graph.system.state}
        self.kept: dict[str, None] = {}
        self.occurring: list[dict[Term, None]] = []  # by step: what the formulas of that step are about
        self._images = {node: self.symbols[name] for node, name in graph.named.items()}

    def image(self, given: Term) -> Term:
        """The term over the variables of the nearest vertices."""
        return self._cut([given])[given]

    def _cut(self, roots: Iterable[Term]) -> dict[Term, Term]:
        return fold(roots, rebuild, self._images)

    def _add(self, given: Term, step: int) -> None:
        self.solver.add(self._at(given, step))

    def _at(self, given: Term, step: int) -> Term:
        read = variables([given])
        self.occurring[step].update(dict.fromkeys(read))
        return substitute([given], {v: at(v, step) for v in read})[given]

    def keep(self, names: Iterable[str]) -> None:
        """The definitions of these count from now on."""
        for name in names:
            if name not in self.kept and name in self.symbols:
                self.kept[name] = None
                for step in range(len(self.occurring)):
                    self._define(name, step)

    def _define(self, name: str, step: int) -> None:
        """Add the meaning of the vertex at this step."""
        symbol = self.symbols[name]
        state = self.states.get(name)
        if state is None:
            node = self.meanings[name]
            made = rebuild(node, [self.image(a) for a in node.args])
            self._add(term("same", symbol, made), step)
        elif step:
            self.occurring[step][symbol] = None
            self.solver.add(term("same", at(symbol, step), self._at(self.image(state.next), step - 1)))
        elif self.initial and state.init is not None:
            self._add(term("same", symbol, self.image(state.init)), 0)

    def violation(self, k: int) -> Values | bool | None:
        """Values of what occurs at steps 0 … k, with the claim broken at the last alone; False if there are none, None
        if the solver gave up."""
        claim = self.image(self.claim)
        while len(self.occurring) <= k:
            step = len(self.occurring)
            self.occurring.append({})
            for assumption in self.graph.system.assumptions:
                self._add(self.image(assumption.term), step)
            for name in self.kept:
                self._define(name, step)
            if step:
                self._add(claim, step - 1)
        # I[x0] ∧ T♯[x0, x1] ∧ … ∧ P[x0] ∧ … ∧ P[xk-1] ∧ ¬P[xk]
        answer = self.solver.check(negation(self._at(claim, k)))
        if answer is not True:
            return answer
        model = self.solver.model()
        return {(v, i): model[at(v, i)] for i in range(k + 1) for v in self.occurring[i]}


class ConcreteRuns:
    """The runs of T itself, to ask if values of some of its variables are those of one."""

    def __init__(self, graph: Graph, *, initial: bool, patience: int | None) -> None:
        self.system = graph.system
        self.runs = Composed(self.system) if initial else Chained(self.system)
        self.solver = Solver(patience)
        self.meanings = {f"{name}#": node for node, name in graph.named.items()}
        self.steps = 0

    def conflict(self, values: Values, k: int) -> set[str] | bool | None:
        """The names of a core of the values that no run has together; False if some run has them all, None if the
        solver gave up."""
        while self.steps <= k:
            if self.steps and isinstance(self.runs, Chained):
                self.solver.add(*self.runs.equations(self.steps - 1))
            self.solver.add(*(self.runs.image(a.term, self.steps) for a in self.system.assumptions))
            self.steps += 1
        # ⋀ x_ij = s_ij ∧ I[x0] ∧ ⋀ T[xi, xi+1]
        fixed = dict(self._equations(values))
        answer = self.solver.check(*fixed)
        if answer is False:
            return {fixed[equation] for equation in self.solver.core(fixed)}
        return None if answer is None else False

    def _equations(self, values: Values) -> Iterator[tuple[Term, str]]:
        for (v, i), value in values.items():
            name = str(v.payload)
            meant = self.meanings.get(name, v)
            yield term("same", self.runs.image(meant, i), constant(v.type, value)), name.removesuffix("#")
