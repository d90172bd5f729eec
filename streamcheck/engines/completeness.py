"""The completeness test of bounded model checking, which ends on bounded state spaces.

[Laurent, "Path compression"]: after BMC step k, test

    I[x0] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ⊨ ¬C_k[x0, …, xk]

with C_k: the states are pairwise different and only the first is initial. If it holds, every run has been
seen within k steps, up to cycles: what is true at steps 0 … k - 1 is true for ever. ([Laurent] prints C_k over
x0 … xk-1; with k transitions there are k + 1 states, and the period counter they prove at k = 6 needs all of them.)

C_k is added lazily, pair by pair, as in `kinduction`.

Limits: systems whose states never repeat, or that have long non-repeating runs, gain nothing from it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import accumulate, count
from typing import ClassVar, assert_never

from streamcheck.core.evaluate import evaluate, value_of
from streamcheck.core.floats import identity
from streamcheck.core.simplify import conjunction, negation, simple
from streamcheck.core.term import FALSE, TRUE, Term, term
from streamcheck.core.types import Value, plural
from streamcheck.engines.options import CompletenessOptions
from streamcheck.engines.protocol import Event, Inbox, Invariants, Progress, Settled, Task, TrueUpTo, Waiting
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Unknown
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import HUGE_NUMBERS, Composed

LOG = logging.getLogger(__name__)
MOST_VALUES = 20_000  # state variables times steps: beyond, comparing states costs more than it finds (heuristic)


class Completeness:
    name: ClassVar[str] = "completeness"

    def __init__(self, options: CompletenessOptions | None = None) -> None:
        self.options = options or CompletenessOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.system = problem.system
        self.runs, self.solver = Composed(self.system), Solver(problem.patience)
        self.states = [s.var for s in self.system.state]
        self.initial: list[Term] = []  # the condition that the run begins anew, by step
        self.assumed = 0  # at so many steps
        open_claims = {p.name: p.term for p in self.system.properties}
        true_up_to: dict[str, int] = {}
        closed_at: int | None = None  # the k at which no compressed run was left
        # From `stride` on, not every depth is tested: a look at all states takes ever longer (heuristic)
        for k in accumulate(count(), lambda k, _: k + 1 + k // self.options.stride):
            for fact in inbox():
                match fact:
                    case TrueUpTo(prop, depth):
                        true_up_to[prop] = max(depth, true_up_to.get(prop, -1))
                    case Proved(prop) | Falsified(prop) | Settled(prop):
                        open_claims.pop(prop, None)
                    case Invariants():
                        pass
                    case _:
                        assert_never(fact)
            if not open_claims:
                return
            if closed_at is None and k * len(self.states) > MOST_VALUES:
                yield from (Unknown(name, "too many values to look for repeated states") for name in open_claims)
                return
            if closed_at is None and self.runs.is_huge(k):
                yield from (Unknown(name, HUGE_NUMBERS.format(k=k)) for name in open_claims)
                return
            if closed_at is None:
                answer = self._no_compressed_run(k)
                if answer is None:
                    yield from (Unknown(name, self.solver.reason) for name in open_claims)
                    return
                closed_at = k if answer and k else None
                if closed_at:
                    LOG.info("completeness: all states are reached within %s", plural(k, "step"))
            for name in [n for n in open_claims if closed_at is not None and true_up_to.get(n, -1) >= closed_at - 1]:
                yield Proved(name, Certificate("complete", closed_at or 1, (open_claims.pop(name),)))
            yield Progress(k) if closed_at is None else Waiting()

    def _no_compressed_run(self, k: int) -> bool | None:
        """True if I ∧ T^k ∧ A ∧ C_k is unsatisfiable, None if the solver does not know."""
        for i in range(self.assumed, k + 1):
            self.solver.add(conjunction(*(self.runs.image(a.term, i) for a in self.system.assumptions)))
        self.runs.reach(k)
        self.assumed = k + 1
        while True:
            answer = self.solver.check()
            if answer is not True:
                return None if answer is None else True
            values = self.solver.values([*self.runs.leaves(k + 1)])
            repeated = self._repetition(k, values)
            if repeated is None:
                return False
            self.solver.add(repeated)

    def _repetition(self, k: int, values: dict[Term, Value]) -> Term | None:
        """The part of C_k that the model's run breaks, or None."""
        frames = self.runs.frames[: k + 1]
        results = evaluate((frame[v] for frame in frames for v in self.states), values)
        states = [tuple(identity(results[frame[v]]) for v in self.states) for frame in frames]
        first: dict[object, int] = {}
        for j, state in enumerate(states):
            if state in first:
                return self._differ(frames[first[state]], frames[j])
            first[state] = j
        for j in range(len(self.initial), k + 1):
            self.initial.append(self._initial(frames[j]))
        for initial in self.initial[1 : k + 1]:
            if initial is TRUE or (initial is not FALSE and value_of(initial, values)):
                return negation(initial)
        return None

    def _differ(self, a: dict[Term, Term], b: dict[Term, Term]) -> Term:
        return negation(conjunction(*(simple(term("same", a[v], b[v])) for v in self.states)))

    def _initial(self, frame: dict[Term, Term]) -> Term:
        begun = [(frame[s.var], s.init) for s in self.system.state if s.init is not None]
        return conjunction(*(simple(term("same", value, init)) for value, init in begun))
