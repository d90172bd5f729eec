"""Which of some invariants a term needs, to hold at the next step or after k.

A certificate is checked sooner without invariants that nothing in it needs: those that other engines found, or that a
part of an earlier frame left behind.

Asserted in the solver. T[x0, x1], A[x0], A[x1]; under a literal for each candidate c, c[x0] and what else it stands
for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import Term, variable
from streamcheck.core.types import BOOL
from streamcheck.problem.transition import TransitionSystem
from streamcheck.smt.contract import AnySolver
from streamcheck.smt.unroll import Chained

FEW = 8  # invariants, which are checked as they are (heuristic)


class Cores:
    def __init__(self, steps: Chained, solver: AnySolver) -> None:
        self.steps = steps
        self.solver = solver
        assumed = [steps.image(a.term, i) for a in steps.system.assumptions for i in (0, 1)]
        self.known = [*steps.equations(0), *assumed]  # without labels
        solver.add(*self.known)
        self._labels: dict[Term, Term] = {}

    def label(self, candidate: Term) -> Term:
        if candidate not in self._labels:
            label = self._labels[candidate] = variable(f"candidate {len(self._labels)}", BOOL)
            self.solver.add_under(label, self.steps.image(candidate, 0))
        return self._labels[candidate]

    def closure(
        self, goals: Sequence[Term], inductive: Sequence[Term], needs: dict[Term, list[Term]]
    ) -> dict[Term, None]:
        """The goals, the invariants in their cores, those that these need in turn, and so on. `needs` is what is known
        of that already, and grows."""
        chosen = dict.fromkeys(goals)
        pending = list(goals)
        while pending:
            one = pending.pop()
            if one not in needs:
                needs[one] = self.core_of(one, inductive)
            new = [c for c in needs[one] if c not in chosen]
            chosen.update(dict.fromkeys(new))
            pending += new
        return chosen

    def core_of(self, goal: Term, inductive: Sequence[Term]) -> list[Term]:
        """Those of the inductive that the goal follows from, at the next step."""
        labels = list(map(self.label, inductive))
        # A ∧ T ∧ C[x0] ∧ ¬goal[x1]
        if self.solver.check(*labels, negation(self.steps.image(goal, 1))) is not False:
            return list(inductive)
        used = {*self.solver.core(labels)}
        return [c for c in inductive if self.label(c) in used]


def needed_at_depth(
    steps: Chained, k: int, hypotheses: Sequence[Term], goals: Sequence[Term], lemmas: Sequence[Term], solver: AnySolver
) -> list[Term]:
    """Those of the lemmas, which always hold, that the goals follow from at step k, if the hypotheses hold at the k
    steps before, and those that are no goals at step k too. All of them if the solver has no answer."""
    assumed = [a.term for a in steps.system.assumptions]
    always = [*assumed, *(h for h in hypotheses if h not in goals)]
    solver.add(*(e for i in range(k) for e in steps.equations(i)))
    solver.add(*(steps.image(t, i) for i in range(k) for t in (*always, *goals)))
    solver.add(*(steps.image(t, k) for t in always))
    labels = {variable(f"lemma {i}", BOOL): one for i, one in enumerate(lemmas)}
    for label, one in labels.items():
        solver.add_under(label, conjunction(*(steps.image(one, i) for i in range(k + 1))))
    # A ∧ T ∧ … ∧ L[x0] ∧ … ∧ L[xk] ∧ H[x0] ∧ … ∧ H[xk-1] ∧ ¬goals[xk]
    if solver.check(*labels, disjunction(*(negation(steps.image(g, k)) for g in goals))) is not False:
        return list(lemmas)
    return [labels[label] for label in solver.core([*labels])]


def needed_for(
    system: TransitionSystem,
    goal: Term,
    inductive: Iterable[Term],
    solver: Callable[[], AnySolver],
    needs: dict[Term, list[Term]],
) -> list[Term]:
    """Those of the invariants, inductive together, that the goal follows from at the same step, with those that they
    need in turn, as far as `needs` does not say what these are. All of them if the solver has no answer."""
    every, now, steps = list(dict.fromkeys(inductive)), solver(), Chained(system)
    labels = {variable(f"invariant {i}", BOOL): one for i, one in enumerate(every)}
    now.add(*(a.term for a in system.assumptions))
    for label, one in labels.items():
        now.add_under(label, one)
    # A ∧ C ∧ ¬goal
    if now.check(*labels, negation(goal)) is not False:
        return every
    first = [labels[label] for label in now.core([*labels])]
    return list(Cores(steps, solver()).closure(first, every, needs))
