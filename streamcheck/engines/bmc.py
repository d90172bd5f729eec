"""Bounded model checking: the shortest runs that break properties, and facts that they hold up to a depth.

[Laurent, "Bounded model checking"]:   I[x0] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ⊨ P[xk]   for k = 0, 1, …

Vocabulary: I, T are in the composed unrolling (state by substitution from the initial values); A the assumptions,
which count at every step; P the open properties, all at once.

Asserted in the solver, after step k: A[x0] … A[xk], and P[x0] … P[xk] of the properties that hold there.

Every `named` steps the Bool state gets names, with equations to what it stands for: z3 rewrites whatever is asserted
from the leaves up, and the history of a flag would be gone through again at every step (a violation at step 601: 46 s
without, 2 s with). Numbers stay nested, for bounds on them often collapse on the way.

Departure: the properties of one step are asked about together (`some P is false`), and the model shows which are; only
the rest is asked about again. If that is too much for the solver, each is asked about by itself, and only those that
are too hard alone are given up. A step whose assumptions cannot be met ends the search: no run goes on.

Functions that are uninterpreted to the solver (sin, …): a model that breaks a property only with other functions than
the real ones is refuted by their values at the model's arguments, which are added as lemmas, and the question put
again.

Limits: it proves only properties of systems without infinite runs (else see `completeness`), and terms grow with the
depth if inputs do not fold away.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
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
from streamcheck.smt.unroll import Composed

OTHER_FUNCTIONS = "a counterexample only for other functions than those of math.h"
NO_RUN = "the solver's model is not a run (an irrational value?)"
JOINT_SHARE = 0.2  # of the patience that a query about several properties gets (heuristic)
MAX_GUESSES = 50  # models that only other functions than those of math.h make, per step (heuristic)


class Bmc:
    name: ClassVar[str] = "bmc"
    prover: ClassVar[SolverFamily] = "z3"
    most_attempts: ClassVar[int] = 4  # at a query about one property, each with twice the patience (heuristic)

    def __init__(self, options: BmcOptions | None = None) -> None:
        self.options = options or BmcOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system = problem.system
        runs, solver = Composed(system), self.new_solver(problem.patience)
        open_claims = {p.name: p for p in system.properties}
        broken_at: dict[str, int] = {}  # the step at which others found a violation
        true_up_to: dict[str, int] = {}  # as others have found
        for k in count():
            for fact in inbox():
                match fact:
                    case Proved(prop) | Settled(prop):
                        open_claims.pop(prop, None)
                    case Falsified(prop, trace):  # is there a shorter run?
                        broken_at[prop] = trace.length - 1
                    case TrueUpTo(prop, depth):
                        true_up_to[prop] = max(depth, true_up_to.get(prop, -1))
                    case Invariants():
                        pass
                    case _:
                        assert_never(fact)
            for name in [name for name, step in broken_at.items() if step <= k]:
                open_claims.pop(name, None)
            if not open_claims:
                return
            if self.options.named and k % self.options.named == 0:
                solver.add(*runs.name_state(k))
            assumed = conjunction(*(runs.image(a.term, k) for a in system.assumptions))
            solver.add(assumed)
            # I ∧ T^k ∧ A: is there a run of k + 1 steps at all?
            if assumed is FALSE or (assumed is not TRUE and solver.check() is False):
                # Every run ends before step k, and was seen whole: a complete proof.
                for name, p in open_claims.items():
                    yield Proved(name, Certificate("ended", max(k, 1), (p.term,), prover=self.prover))
                return
            known = {name for name, depth in true_up_to.items() if depth >= k}
            yield from self._step(k, open_claims, runs, solver, known)
            yield Progress(k)

    def new_solver(self, patience: int | None) -> AnySolver:
        return Solver(patience)

    def _step(
        self, k: int, open_claims: dict[str, Claim], runs: Composed, solver: AnySolver, known: Collection[str]
    ) -> Iterator[Event]:
        """Falsified for every open property that some run breaks at step k, then TrueUpTo for the others. Those that
        are known to hold there are not asked about."""
        images = {name: runs.image(p.term, k) for name, p in open_claims.items()}
        solver.add(*(image for name, image in images.items() if name in known))
        asked = {name: image for name, image in images.items() if image is not TRUE and name not in known}
        groups = [asked] if self.options.together else [{name: image} for name, image in asked.items()]
        while groups:
            pending = groups.pop(0)
            if pending is not asked and len(pending) == 1:
                yield Progress(max(k - 1, 0))
            answered = yield from self._find_violations(k, pending, open_claims, runs, solver)
            if answered:
                solver.add(*pending.values())
            elif len(pending) > 1:
                groups += [{name: image} for name, image in pending.items()]
            else:
                for name in pending:
                    del open_claims[name]
                    yield Unknown(name, solver.reason)
        yield from (TrueUpTo(name, k) for name in open_claims if name not in known)

    def _find_violations(
        self,
        k: int,
        pending: dict[str, Term],
        open_claims: dict[str, Claim],
        runs: Composed,
        solver: AnySolver,
    ) -> Generator[Event, None, bool]:
        """Takes the properties that some run breaks out of `pending`. False if the solver gives up: on one property,
        not before its patience has been doubled a few times."""
        guesses, attempts = 0, 1
        while pending:
            # I ∧ T^k ∧ A ∧ (¬P_1[xk] ∨ ¬P_2[xk] ∨ …)
            share = 1.0 if len(pending) == 1 else JOINT_SHARE
            answer = solver.check(disjunction(*(negation(image) for image in pending.values())), share=share)
            if answer is False:
                break
            if answer is None:
                if len(pending) > 1 or solver.patience is None or attempts == self.most_attempts:
                    return False
                attempts += 1
                solver.more_patience()
                yield Progress(max(k - 1, 0))
                continue
            values = runs.complete(solver.values([*runs.leaves(k + 1)]))
            results = evaluate(pending.values(), values)
            broken = [name for name, image in pending.items() if results[image] is False]
            lemmas = [] if broken else _real_values([*pending.values(), *runs.names.values()], values)
            if lemmas and guesses < MAX_GUESSES:
                guesses += 1
                solver.add(*lemmas)
                continue
            for name in broken:
                del pending[name], open_claims[name]
                yield Falsified(name, runs.trace(values, k + 1))
            if not broken:  # a model that is no run: irrational, or of uninterpreted functions
                name = next(iter(pending))
                guessed = any(is_unknown_function(node) for node in walk([pending[name]]))
                del pending[name], open_claims[name]
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
