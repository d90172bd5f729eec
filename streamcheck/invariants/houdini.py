"""The largest set of candidates that is inductive together.

[FL01]: assume all, drop what a model refutes, until none is. What remains does not depend on the order, so one
candidate more never costs another.

Asserted in the solvers. `first`: I[x0], A[x0]. `onward`: what `engines.cores` asserts. A candidate that `prove_each`
asks alone has a solver of its own: T, A, c[x0], without labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import disjunction, negation
from streamcheck.core.term import Term
from streamcheck.engines.cores import Cores
from streamcheck.problem.transition import TransitionSystem
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import Chained

LOT = 32  # candidates in a query
ALONE = 8  # that part of the patience is for a candidate without the others (heuristic)


class GaveUp(Exception):
    """The solver did not answer."""


class Houdini:
    def __init__(self, system: TransitionSystem, patience: int | None) -> None:
        self.steps = Chained(system)
        self.patience = patience
        self.first, self.onward = Solver(patience), Solver(patience)
        self.first.add(self.steps.is_initial(0), *(self.steps.image(a.term, 0) for a in system.assumptions))
        self.cores = Cores(self.steps, self.onward)
        self._alone: set[Term] = set()  # candidates that need no other

    def assume_with(self, candidate: Term, instances: Iterable[Term]) -> None:
        """Assume the instances at a step at which the candidate holds: it stands for them too."""
        for instance in instances:
            self.onward.add_under(self.cores.label(candidate), self.steps.image(instance, 0))

    def inductive(self, candidates: Sequence[Term]) -> list[Term]:
        """The largest inductive set among them."""
        alive = self._survivors(self.first, list(dict.fromkeys(candidates)), 0, labelled=False)
        return self._survivors(self.onward, alive, 1, labelled=True)

    def _survivors(self, solver: Solver, alive: list[Term], step: int, *, labelled: bool) -> list[Term]:
        images = {c: self.steps.image(c, step) for c in alive}
        while alive:
            # A ∧ (I or T ∧ C[x0]) ∧ (¬c_1 ∨ ¬c_2 ∨ …)
            labels = map(self.cores.label, alive) if labelled else ()
            answer = solver.check(*labels, disjunction(*(negation(images[c]) for c in alive)))
            if answer is None:
                raise GaveUp(solver.reason)
            if answer is False:
                return alive
            evaluation = Evaluation(solver.model())
            kept = [c for c in alive if evaluation.of(images[c]) is True]
            if len(kept) == len(alive):  # a model that our values do not express
                raise GaveUp("a model without values")
            alive = kept
        return alive

    def prove_each(self, candidates: Sequence[Term]) -> list[Term]:
        """The same for candidates with hard models and easy proofs (polynomials): each is refuted or proved by itself,
        and dropped if it is neither."""
        alive = [c for c in dict.fromkeys(candidates) if self._excludes(self.first, (), c, 0)]
        self._alone.update(c for c in alive if c in self._alone or self._is_inductive_alone(c))
        while True:
            labels = [self.cores.label(c) for c in alive]
            kept = [c for c in alive if c in self._alone or self._excludes(self.onward, labels, c, 1)]
            if len(kept) == len(alive):
                return kept
            alive = kept

    def _is_inductive_alone(self, candidate: Term) -> bool:
        """Asked without labels and the other candidates: z3 takes seconds for some products under labels, and
        milliseconds without."""
        solver = Solver(None if self.patience is None else self.patience // ALONE)
        solver.add(*self.cores.known, self.steps.image(candidate, 0))
        # A ∧ T ∧ c[x0] ∧ ¬c[x1]
        return solver.check(negation(self.steps.image(candidate, 1))) is False

    def _excludes(self, solver: Solver, labels: Sequence[Term], candidate: Term, step: int) -> bool:
        # A ∧ (I or T ∧ C[x0]) ∧ ¬c
        return solver.check(*labels, negation(self.steps.image(candidate, step))) is False

    def parts_with(
        self, goals: Mapping[str, Sequence[Term]], inductive: Sequence[Term]
    ) -> list[tuple[list[str], list[Term]]]:
        """Small inductive parts, each with the names of the goals that it contains. Goals that need mostly the same
        invariants have one part, which is then checked once."""
        needs: dict[Term, list[Term]] = {one: [] for one in self._alone}
        parts: list[tuple[list[str], dict[Term, None]]] = []
        for name, terms in goals.items():
            own = self.cores.closure(terms, inductive, needs)
            near = (part for part in parts if 2 * len(own.keys() & part[1].keys()) > len(own))
            names, shared = next(near, ([], {})) if len(own) > 1 else ([], {})
            if not names:
                parts.append((names, shared))
            names.append(name)
            shared.update(own)
        return [(names, list(shared)) for names, shared in parts]


def all_inductive(system: TransitionSystem, candidates: Sequence[Term], patience: int | None) -> bool:
    """True if all candidates are inductive together. Asked without labels, and of a few at a time, which is often far
    easier than `inductive`."""
    steps = Chained(system)
    first, onward = Solver(patience), Solver(patience)
    first.add(steps.is_initial(0), *(steps.image(a.term, 0) for a in system.assumptions))
    onward.add(*steps.equations(0), *(steps.image(a.term, i) for a in system.assumptions for i in (0, 1)))
    onward.add(*(steps.image(c, 0) for c in candidates))
    lots = [candidates[i : i + LOT] for i in range(0, len(candidates), LOT)]
    return all(
        # A ∧ (I or T ∧ C[x0]) ∧ (¬c_1 ∨ ¬c_2 ∨ …)
        solver.check(disjunction(*(negation(steps.image(c, step)) for c in lot))) is False
        for step, solver in enumerate((first, onward))
        for lot in lots
    )
