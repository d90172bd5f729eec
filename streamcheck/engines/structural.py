"""Structural abstraction under IC3 or k-induction, one property after the other.

[Laurent, "Structural abstraction"]: replace T by a weaker T♯ that keeps the definitions of a set R of variables.

    start      R is empty: only the property's own definition is kept
    unsat      what is shown of T♯ holds for T
    sat        a counterexample (s_0 … s_k): is  ⋀ x_ij = s_ij ∧ I[x0] ∧ ⋀ T[xi, xi+1]  satisfiable, over the variables
               x_j of T♯?  Then it is one of T; otherwise the unsatisfiable core names the x_j that are candidates
    refine     the deepest candidate in the dependency graph joins R, and with it those successors of its definition
               that are definitions themselves (heuristic: a wire is cheap, a state variable brings a new cycle)

A counterexample of the step case is checked without the initial condition.

Ingredients: `transform.abstract` (the graph, T♯), `abstract_unroll` (T♯ and T, each unrolled once: a refinement only
adds to T♯), `_spurious` (the check), `_refine`. "proof": T♯ is proved by IC3 or by k-induction.

Certificates name what was left free, so that the checker need not look at it either.

Limits: the step case is plain k-induction, without path compression; IC3 begins anew with every refinement.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import count
from typing import ClassVar

from streamcheck.core.evaluate import evaluate
from streamcheck.core.term import Term
from streamcheck.core.types import Value, default
from streamcheck.engines.abstract_unroll import AbstractRuns, ConcreteRuns, Values
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.ic3.cooper_ic3 import Ic3
from streamcheck.engines.options import StructuralOptions
from streamcheck.engines.protocol import Event, Inbox, Progress, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Trace, Unknown
from streamcheck.smt.unroll import Composed
from streamcheck.transform.abstract import Abstraction, Graph, abstract

LOG = logging.getLogger(__name__)
PATIENCE = 5_000_000  # for each query: what T has beyond T♯ may be as hard as can be (heuristic)


class Structural:
    name: ClassVar[str] = "structural"

    def __init__(self, options: StructuralOptions | None = None) -> None:
        self.options = options or StructuralOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.system, self.patience = problem.system, min(problem.patience or PATIENCE, PATIENCE)
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
        """One property, with one R for everything that is tried."""
        graph = Graph.of(self.system, claim)
        search = self._by_ic3 if self.options.proof == "ic3" else self._by_induction
        yield from search(graph, claim, self.kept[claim.name])

    def _by_induction(self, graph: Graph, claim: Claim, kept: set[str]) -> Iterator[Event]:
        """Base and step case for k = 1, 2, …"""
        base, step = (Case(graph, claim, initial=initial, patience=self.patience) for initial in (True, False))
        for k in count(1):
            outcome = yield from self._case(base, graph, kept, k - 1)
            if isinstance(outcome, Trace):
                yield Falsified(claim.name, outcome)
                return
            if outcome is None:
                yield Unknown(claim.name, "the solver gave up, or nothing is left to refine")
                return
            outcome = yield from self._case(step, graph, kept, k)
            if outcome is True:
                free = tuple(sorted(abstract(graph, claim, kept).free))
                yield Proved(claim.name, Certificate("inductive", k, (claim.term,), free))
                return
            yield Progress(k)

    def _case(self, case: Case, graph: Graph, kept: set[str], k: int) -> Generator[Event, None, Trace | bool | None]:
        """True if the case holds, a Trace of T if the base fails, False if the step does, None if the solver gave
        up."""
        while True:
            case.abstract.keep(sorted(kept))
            values = case.abstract.violation(k)
            if not isinstance(values, dict):
                return None if values is None else True
            verdict = self._spurious(case, k, values)
            if not isinstance(verdict, set):
                return verdict
            if not self._refine(graph, kept, verdict):
                return None if case.initial else False
            yield Progress(k)

    def _spurious(self, case: Case, k: int, values: Values) -> Trace | set[str] | bool | None:
        """The names in the core if no run of T has the values; else a trace from the start, or False."""
        conflict = case.concrete.conflict(values, k)
        if conflict is not False:
            return None if conflict is True else conflict
        runs = case.concrete.runs
        if not isinstance(runs, Composed):
            return False
        found = case.concrete.solver.values([*runs.leaves(k + 1)])
        broken = not runs.holds(runs.image(case.claim.term, k), found)
        return runs.trace(found, k + 1) if broken else None

    def _by_ic3(self, graph: Graph, claim: Claim, kept: set[str]) -> Iterator[Event]:
        """IC3 on T♯, anew after each refinement."""
        case = Case(graph, claim, initial=True, patience=self.patience)
        for depth in count():
            abstraction = abstract(graph, claim, kept)
            for event in Ic3().run(Task(abstraction.system, self.patience), list):
                match event:
                    case Proved(_, certificate):
                        free = tuple(sorted(abstraction.free))
                        yield Proved(claim.name, replace(certificate, free=free))
                        return
                    case Falsified(_, Trace() as trace):
                        verdict = self._spurious(case, trace.length - 1, _values(abstraction, trace))
                        break
                    case Unknown():
                        yield event
                        return
                    case Progress():
                        yield Progress(depth)
                    case _:
                        pass  # lemmas are about T♯
            if isinstance(verdict, Trace):
                yield Falsified(claim.name, verdict)
                return
            if not isinstance(verdict, set) or not self._refine(graph, kept, verdict):
                yield Unknown(claim.name, "the solver gave up, or nothing is left to refine")
                return

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


class Case:
    """The base or the step case: T♯ and T unrolled."""

    def __init__(self, graph: Graph, claim: Claim, *, initial: bool, patience: int | None) -> None:
        self.claim = claim
        self.initial = initial
        self.abstract = AbstractRuns(graph, claim, initial=initial, patience=patience)
        self.concrete = ConcreteRuns(graph, initial=initial, patience=patience)


def _values(abstraction: Abstraction, trace: Trace) -> Values:
    """The values of all variables of T♯ along its run."""
    system, values = abstraction.system, Values()
    state: dict[Term, Value] = {}
    for i, given in enumerate(trace.inputs):
        inputs = {v: given.get(str(v.payload), default(v.type)) for v in system.inputs}
        if i == 0:
            begun = evaluate([s.init for s in system.state if s.init is not None], inputs)
            state = {
                s.var: trace.constants[str(s.var.payload)] if s.init is None else begun[s.init] for s in system.state
            }
        now = {**state, **inputs}
        values.update({(v, i): value for v, value in now.items()})
        after = evaluate([s.next for s in system.state], now)
        state = {s.var: after[s.next] for s in system.state}
    return values
