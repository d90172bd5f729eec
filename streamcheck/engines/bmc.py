"""Bounded model checking: the shortest runs that break properties, and facts that they hold up to a depth.

[Laurent, "Bounded model checking"]:   I[x0] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ⊨ P[xk]   for k = 0, 1, …

Vocabulary: I, T are in the composed unrolling (state by substitution from the initial values); A the assumptions,
which count at every step; P the open properties, all at once.

Asserted in the solver, after step k: A[x0] … A[xk], and P[x0] … P[xk] of the properties that hold there.

Every `named` steps the Bool state gets names, with equations to what it stands for: z3 rewrites whatever is asserted
from the leaves up, and the history of a flag would be gone through again at every step (a violation at step 601: 46 s
without, 2 s with). Numbers stay nested, for bounds on them often collapse on the way.

Departure: the properties of one step are asked about together (`some P is false`), and the model shows which are; only
the rest is asked about again. If that is too much for the solver, each is asked about by itself, with a small budget.
Those that are too hard then leave the `StepSearch` for one of their own, with a solver of its own and a larger budget:
the others go on to the next step. So each property gets as far as it can alone. Searches take turns by the work they
have done, and what is too hard for the largest budget is given up. (A later step is never asked about in the solver of
an earlier question: its assumptions would exclude runs that end before.) A step whose assumptions cannot be met ends
the search: no run goes on.

Functions that are uninterpreted to the solver (sin, …): a model that breaks a property only with other functions than
the real ones is refuted by their values at the model's arguments, which are added as lemmas, and the question put
again.

Limits: it proves only properties of systems without infinite runs (else see `completeness`), and terms grow with the
depth if inputs do not fold away.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, assert_never

from streamcheck.core.evaluate import evaluate, is_unknown_function
from streamcheck.core.simplify import conjunction, disjunction, implication, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, walk
from streamcheck.core.types import Value
from streamcheck.engines.options import BmcOptions
from streamcheck.engines.protocol import Event, Inbox, Invariants, Progress, Settled, Task, TrueUpTo
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Falsified, Proved, SolverFamily, Unknown
from streamcheck.smt.contract import AnySolver
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import HUGE_NUMBERS, Composed
from streamcheck.smt.work import work_done

OTHER_FUNCTIONS = "a counterexample only for other functions than those of math.h"
NO_RUN = "the solver's model is not a run (an irrational value?)"
JOINT_SHARE = 0.2  # of the patience that a query about several properties gets (heuristic)
STEP_WORK = 20_000  # the work of a step itself, added to the solver's (heuristic)
MAX_GUESSES = 50  # models that only other functions than those of math.h make, per step (heuristic)


@dataclass(slots=True)
class StepSearch:
    """The search for violations of some properties, step by step. `k` is the next step."""

    runs: Composed
    solver: AnySolver
    open: dict[str, Claim]
    k: int = 0
    level: int = 0  # of its budget for a query about one property
    work: int = 0  # of the solver
    is_begun: bool = False  # step k, whose assumptions are asserted

    def check(self, *assumed: Term, share: float = 1.0) -> bool | None:
        """The solver's answer, whose work is counted."""
        began = work_done()
        answer = self.solver.check(*assumed, share=share)
        self.work += work_done() - began
        return answer


class Bmc:
    name: ClassVar[str] = "bmc"
    prover: ClassVar[SolverFamily] = "z3"
    # Of the patience, for a query about one property, level by level (heuristic).
    shares: ClassVar[Sequence[float]] = (1 / 64, 1 / 16, 1 / 4, 1, 4, 8)

    def __init__(self, options: BmcOptions | None = None) -> None:
        self.options = options or BmcOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.problem = problem
        self.broken_at: dict[str, int] = {}  # the step at which others found a violation
        self.true_up_to: dict[str, int] = {}  # as others have found
        first = StepSearch(Composed(problem.system), self.new_solver(problem.patience), {})
        first.open = {p.name: p for p in problem.system.properties}
        self.searches = [first]
        self.deepest = 0
        while True:
            self._read(inbox)
            self.searches = [s for s in self.searches if s.open]
            if not self.searches:
                return
            search = min(self.searches, key=lambda s: s.work)
            search.work += STEP_WORK
            yield from self._turn(search)
            yield self._progress()

    def new_solver(self, patience: int | None) -> AnySolver:
        return Solver(patience)

    def _progress(self) -> Progress:
        """The step that the furthest search is at."""
        self.deepest = max([self.deepest, *(s.k - 1 for s in self.searches)])
        return Progress(self.deepest)

    def _read(self, inbox: Inbox) -> None:
        for fact in inbox():
            match fact:
                case Proved(prop) | Settled(prop):
                    self._drop(prop)
                case Falsified(prop, trace):  # is there a shorter run?
                    self.broken_at[prop] = trace.length - 1
                case TrueUpTo(prop, depth):
                    self.true_up_to[prop] = max(depth, self.true_up_to.get(prop, -1))
                case Invariants():
                    pass
                case _:
                    assert_never(fact)
        for search in self.searches:
            for name in [name for name in search.open if self.broken_at.get(name, search.k + 1) <= search.k]:
                self._drop(name)

    def _drop(self, prop: str) -> None:
        for search in self.searches:
            search.open.pop(prop, None)

    def _turn(self, search: StepSearch) -> Iterator[Event]:
        """The next step of a search, or once more the same step with a larger budget."""
        k = search.k
        if not search.is_begun:
            search.is_begun = True
            if (yield from self._begin(search)):
                return
        hard = yield from self._step(search)
        if hard and (search.solver.patience is None or search.level == len(self.shares) - 1):
            for name in hard:
                del search.open[name]
                yield Unknown(name, search.solver.reason)
        elif hard and len(hard) == len(search.open):
            search.level += 1
            return
        elif hard:
            self.searches.append(self._apart(search, hard))
        known = self._known_properties(search)
        yield from (TrueUpTo(name, k) for name in search.open if name not in known)
        search.k, search.is_begun = k + 1, False

    def _begin(self, search: StepSearch) -> Generator[Event, None, bool]:
        """Assert that there is a run up to step k. True if there is none, or none that can be looked at."""
        if search.runs.is_huge(search.k):
            yield from (Unknown(name, HUGE_NUMBERS.format(k=search.k)) for name in search.open)
            search.open.clear()
            return True
        self._assert_step(search, search.k)
        assumed = conjunction(*(search.runs.image(a.term, search.k) for a in self.problem.system.assumptions))
        # I ∧ T^k ∧ A: is there a run of k + 1 steps at all?
        if assumed is FALSE or (assumed is not TRUE and search.check() is False):
            # Every run ends before step k, and was seen whole: a complete proof.
            for name, p in search.open.items():
                yield Proved(name, Certificate("ended", max(search.k, 1), (p.term,), prover=self.prover))
            search.open.clear()
            return True
        return False

    def _assert_step(self, search: StepSearch, k: int) -> None:
        if self.options.named and k % self.options.named == 0:
            search.solver.add(*search.runs.name_state(k))
        search.solver.add(conjunction(*(search.runs.image(a.term, k) for a in self.problem.system.assumptions)))

    def _known_properties(self, search: StepSearch) -> set[str]:
        """The open properties that others have shown to hold at step k."""
        return {name for name in search.open if self.true_up_to.get(name, -1) >= search.k}

    def _apart(self, search: StepSearch, hard: Collection[str]) -> StepSearch:
        """A search for those that are too hard for this one, which it leaves to it."""
        runs, solver = Composed(self.problem.system), self.new_solver(self.problem.patience)
        claims = {name: search.open.pop(name) for name in hard}
        other = StepSearch(runs, solver, claims, search.k, search.level + 1, search.work)
        for step in range(search.k):
            self._assert_step(other, step)
            solver.add(*(runs.image(p.term, step) for p in claims.values()))
        return other

    def _step(self, search: StepSearch) -> Generator[Event, None, list[str]]:
        """Falsified for every open property that some run breaks at step k. Returns those that are too hard; the others
        hold there, and those that are known to are not asked about."""
        images = {name: search.runs.image(p.term, search.k) for name, p in search.open.items()}
        known = self._known_properties(search)
        hard: list[str] = []
        search.solver.add(*(image for name, image in images.items() if name in known))
        asked = {name: image for name, image in images.items() if image is not TRUE and name not in known}
        groups = [asked] if self.options.together else [{name: image} for name, image in asked.items()]
        while groups:
            pending = groups.pop(0)
            if pending is not asked and len(pending) == 1:
                yield self._progress()
            answered = yield from self._find_violations(search, pending)
            if answered:
                search.solver.add(*pending.values())
            elif len(pending) > 1:
                groups += [{name: image} for name, image in pending.items()]
            else:
                hard += pending
        return hard

    def _find_violations(self, search: StepSearch, pending: dict[str, Term]) -> Generator[Event, None, bool]:
        """Takes the properties that some run breaks out of `pending`. False if the solver gives up."""
        runs, solver, k, guesses = search.runs, search.solver, search.k, 0
        while pending:
            # I ∧ T^k ∧ A ∧ (¬P_1[xk] ∨ ¬P_2[xk] ∨ …)
            own = self.shares[search.level]
            share = own if len(pending) == 1 else JOINT_SHARE * max(1.0, own)
            answer = search.check(disjunction(*(negation(image) for image in pending.values())), share=share)
            if answer is False:
                break
            if answer is None:
                return False
            values = runs.complete(solver.values([*runs.leaves(k + 1)]))
            results = evaluate(pending.values(), values)
            broken = [name for name, image in pending.items() if results[image] is False]
            lemmas = [] if broken else _real_values([*pending.values(), *runs.names.values()], values)
            if lemmas and guesses < MAX_GUESSES:
                guesses += 1
                solver.add(*lemmas)
                continue
            for name in broken:
                del pending[name], search.open[name]
                yield Falsified(name, runs.trace(values, k + 1))
            if not broken:  # a model that is no run: irrational, or of uninterpreted functions
                name = next(iter(pending))
                guessed = any(is_unknown_function(node) for node in walk([pending[name]]))
                del pending[name], search.open[name]
                yield Unknown(name, OTHER_FUNCTIONS if guessed else NO_RUN)
        return True


def violation(system: TransitionSystem, claim: Claim, steps: int) -> Falsified | None:
    """The shortest run of at most this many steps that breaks the claim."""
    for event in Bmc().run(Task(replace(system, properties=(claim,))), list):
        if isinstance(event, Falsified):
            return event
        if isinstance(event, Unknown) or (isinstance(event, Progress) and event.depth >= steps - 1):
            return None
    return None


def _real_values(images: Iterable[Term], values: Mapping[Term, Value]) -> list[Term]:
    """For each uninterpreted function: at the model's arguments, its value is the real one."""
    results = evaluate(images, values)
    lemmas = []
    for node in results:
        if is_unknown_function(node):
            at = conjunction(*(term("same", a, constant(a.type, results[a])) for a in node.args))
            lemmas.append(implication(at, term("same", node, constant(node.type, results[node]))))
    return lemmas
