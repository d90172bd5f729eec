"""k-induction under structural abstraction, one property after the other.

[Laurent, "Structural abstraction"]: replace T by a weaker T♯ that keeps the definitions of a set R of variables.

    start      R is empty: only the property's own definition is kept
    unsat      what is shown of T♯ holds for T
    sat        a counterexample (s_0 … s_k): is  ⋀ x_ij = s_ij ∧ I[x0] ∧ ⋀ T[xi, xi+1]  satisfiable, over the variables
               x_j of T♯?  Then it is one of T; otherwise the unsatisfiable core names the x_j that are candidates
    refine     the deepest candidate in the dependency graph joins R, and with it those successors of its definition
               that are definitions themselves (heuristic: a wire is cheap, a state variable brings a new cycle)

A counterexample of the step case is checked without the initial condition.

Ingredients: `transform.abstract` (the graph, T♯), `_spurious` (the check), `_refine`.

Certificates name what was left free, so that the checker need not look at it either.

Limits, worst first: every refinement unrolls T♯ anew; the step case is plain k-induction, without path compression.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from itertools import count
from typing import ClassVar, Literal

from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import Value
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.options import StructuralOptions
from streamcheck.engines.protocol import Event, Inbox, Progress, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Trace, Unknown
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import Chained, Composed, at
from streamcheck.transform.abstract import Abstraction, Graph, abstract

LOG = logging.getLogger(__name__)


class Structural:
    name: ClassVar[str] = "structural"

    def __init__(self, options: StructuralOptions | None = None) -> None:
        self.options = options or StructuralOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.system = problem.system
        self.claims = {p.name: p.term for p in self.system.properties}
        self.kept: dict[str, set[str]] = {p.name: set() for p in self.system.properties}  # R, by property
        searches = {p.name: self._search(p) for p in self.system.properties}
        for k in count():
            for prop in decided_properties(inbox()):
                searches.pop(prop, None)
            if not searches:
                return
            for name, search in list(searches.items()):
                for event in search:
                    if isinstance(event, Progress):
                        break
                    yield event
                    if isinstance(event, Proved | Falsified | Unknown):
                        del searches[name]
                        break
            yield Progress(k)

    def _search(self, claim: Claim) -> Iterator[Event]:
        """One property: base and step case for k = 1, 2, … with one R for both."""
        graph = Graph.of(self.system, claim)
        kept = self.kept[claim.name]
        for k in count(1):
            outcome = yield from self._case(graph, claim, kept, k - 1, initial=True)
            if isinstance(outcome, Trace):
                yield Falsified(claim.name, outcome)
                return
            if outcome is None:
                yield Unknown(claim.name, "the solver gave up, or nothing is left to refine")
                return
            outcome = yield from self._case(graph, claim, kept, k, initial=False)
            if outcome is True:
                free = tuple(sorted(abstract(graph, claim, kept).free))
                yield Proved(claim.name, Certificate("inductive", k, (claim.term,), free))
                return
            yield Progress(k)

    def _case(
        self, graph: Graph, claim: Claim, kept: set[str], k: int, *, initial: bool
    ) -> Generator[Event, None, Trace | bool | None]:
        """True if the case holds, a Trace of T if the base fails, False if the step does, None if the solver gave
        up."""
        while True:
            abstraction = abstract(graph, claim, kept)
            values = _counterexample(abstraction.system, k, initial=initial)
            if not isinstance(values, dict):
                return values
            verdict = self._spurious(abstraction, kept, k, values, initial=initial)
            if not isinstance(verdict, set):
                return verdict
            if not self._refine(graph, kept, verdict):
                return None if initial else False
            yield Progress(k)

    def _spurious(
        self, abstraction: Abstraction, kept: set[str], k: int, values: dict[Term, Value], *, initial: bool
    ) -> Trace | set[str] | bool | None:
        """⋀ x_ij = s_ij ∧ I[x0] ∧ ⋀ T[xi, xi+1]: a run of T (a trace from the start, else False), or the names in the
        core."""
        runs = Composed(self.system) if initial else Chained(self.system)
        solver = Solver(small_cores=True)
        fixed: dict[Term, str] = {}
        for i in range(k + 1):
            if isinstance(runs, Chained) and i:
                solver.add(*runs.equations(i - 1))
            solver.add(*(runs.image(a.term, i) for a in self.system.assumptions))
            for var in [*(s.var for s in abstraction.system.state), *abstraction.system.inputs]:
                name, meant = var.payload.removesuffix("#"), var
                if name in abstraction.free and abstraction.free[name][0] is var:
                    meant = abstraction.free[name][1]
                equation = term("same", runs.image(meant, i), constant(var.type, values[at(var, i)]))
                fixed[equation] = name
        answer = solver.check(*fixed)
        if answer is None:
            return None
        if answer is False:
            return {fixed[equation] for equation in solver.core(fixed)}
        if isinstance(runs, Composed):
            values = solver.values([*runs.leaves(k + 1)])
            broken = not runs.holds(runs.image(self.claims[abstraction.system.properties[0].name], k), values)
            return runs.trace(values, k + 1) if broken else None
        return False

    def _refine(self, graph: Graph, kept: set[str], core: set[str]) -> bool:
        """Keep the deepest candidate, and the definitions that it reads. False if nothing is left to refine."""
        known = [name for name in core if name in graph.depth]
        candidates = {name for name in known if name not in kept}
        frontier = known  # a kept variable alone may carry the conflict: then what it is made of is refined
        while not candidates and frontier:
            below = {after for name in frontier for after in graph.successors[name]}
            candidates = below - kept
            frontier = [name for name in below if name not in known]
            known += frontier
        candidates = candidates or set(graph.depth) - kept  # the conflict is T's own, without any of the values
        if not candidates:
            return False
        by_depth = sorted(candidates, key=lambda name: (graph.depth[name], name))
        chosen = {"deepest": by_depth[-1:], "shallowest": by_depth[:1], "all": by_depth}[self.options.refine]
        kept.update(chosen)
        if self.options.wires:
            states = {s.var.payload for s in self.system.state}
            kept.update(s for name in chosen for s in graph.successors[name] if s not in states)
        LOG.info("structural: keeps %s", ", ".join(sorted(kept)))
        return True


def _counterexample(system: TransitionSystem, k: int, *, initial: bool) -> dict[Term, Value] | Literal[True] | None:
    """Values of all variables at steps 0 … k that break the property at k (and, without the initial condition, not
    before). True if there are none, None if the solver gave up."""
    chain, solver = Chained(system), Solver()
    claim = system.properties[0]
    if initial:
        solver.add(chain.is_initial(0))
    for i in range(k + 1):
        if i:
            solver.add(*chain.equations(i - 1))
        solver.add(conjunction(*(chain.image(a.term, i) for a in system.assumptions)))
        if i < k:
            solver.add(chain.image(claim.term, i))
    # I[x0] ∧ T♯[x0, x1] ∧ … ∧ P[x0] ∧ … ∧ P[xk-1] ∧ ¬P[xk]
    solver.add(negation(chain.image(claim.term, k)))
    answer = solver.check()
    if answer is not True:
        return None if answer is None else True
    return solver.values([at(v, i) for i in range(k + 1) for v in chain.variables])
