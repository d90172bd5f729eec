"""The frames F[0, l] ⊆ F[1, l] ⊆ … ⊆ F[∞, l] of every place l, in one incremental solver.

F[i, l] holds in every state in which a run is at l after at most i levels. While i < first(l), it is the set of initial
states of l; from then on, a set of lemmas. Each lemma is kept once, at the highest level at which it is known to hold
[EMB11, sec. III], so F[i, l] is what is kept at i, i + 1, …, ∞. The lemmas at ∞ hold by themselves: from those of the
sources, every transition leads to those of its target.

Asserted in the solver:
    the facts of the space (assumptions), and invariants that other engines found
    under the literal `initial l`: the initial states of l
    under the literal `l up to i`: each lemma kept at l and i; without a literal if i = ∞ and l is the only place
    under an indicator of its own: every guard and image that was assumed, so that literals make up unsatisfiable cores
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.printer import one_line
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, TRUE, Term, variable, variables
from streamcheck.core.types import BOOL, Value, plural
from streamcheck.engines.ic3.cubes import Cube, Facts, lemma
from streamcheck.engines.ic3.space import FOR_EVER, Exclusion, StateSpace, Transition
from streamcheck.smt.contract import NewSolver
from streamcheck.smt.solver import Solver

LOG = logging.getLogger(__name__)
MOST_INDICATORS = 8_000  # formulas a solver has seen; beyond, a fresh one is faster (heuristic)


class NoAnswer(Exception):
    """The solver gave up; the argument is its reason."""


@dataclass(slots=True, eq=False)
class Lemma:
    """¬cube, which holds at the place up to frame `level`."""

    place: str
    cube: Cube
    level: int

    @property
    def term(self) -> Term:
        return lemma(self.cube)


class Frames:
    def __init__(
        self, space: StateSpace, patience: int | None, new_solver: NewSolver = Solver, *, incremental: bool = True
    ) -> None:
        self.space = space
        self.new_solver = new_solver
        self.patience = patience
        self.incremental = incremental
        self.invariants: dict[Term, None] = {}  # from other engines
        self.kept: dict[str, dict[int, dict[Lemma, None]]] = {place: {} for place in space.entering}  # by level
        self.queries = 0
        self._renew()

    # The solver

    def _renew(self) -> None:
        self.solver = self.new_solver(self.patience)
        self.solver.add(*self.space.facts, *self.invariants)
        for place, initial in self.space.initial.items():
            if initial is not FALSE:
                self.solver.add_under(_initial(place), initial)
        for place in self.kept:
            for one in self.lemmas(place, 0):
                self._assert(one)

    def _assert(self, one: Lemma) -> None:
        """Nothing is asked about errors: no transition leads from there."""
        if one.place in self.space.errors:
            return
        if one.level == FOR_EVER and len(self.space.places) == 1:
            self.solver.add(one.term)
        else:
            self.solver.add_under(_label(one.place, one.level), one.term)

    def labels(self, place: str, level: int) -> dict[Term, int]:
        """The literals under which F[level, place] stands, and the highest level at which each of them holds."""
        if level < self.space.first[place]:
            return {_initial(place): min(self.space.first[place] - 1, FOR_EVER)}
        kept = self.kept[place]
        return {_label(place, i): i for i in sorted(kept) if i >= level and kept[i]}

    def check(self, *assumed: Term) -> bool:
        """Satisfiability of what is asserted and of these terms."""
        if not self.incremental:
            self._renew()
        elif self.solver.size > MOST_INDICATORS:
            LOG.info("solver restarted after %s", plural(self.queries, "query"))
            self._renew()
        self.queries += 1
        answer = self.solver.check(*assumed)
        if answer is None:
            raise NoAnswer(self.solver.reason)
        return answer

    def model(self) -> Mapping[Term, Value]:
        return self.solver.model()

    def assume(self, invariants: Iterable[Term]) -> None:
        """Add invariants that other engines found."""
        for invariant in invariants:
            if invariant not in self.invariants:
                self.invariants[invariant] = None
                self.solver.add(invariant)

    # One step

    def exclusion(self, transition: Transition, cube: Cube, level: int, *, inductive: bool) -> Exclusion | None:
        """The reason why the transition does not lead from F[level - cost] into the cube. None if it does; then `model`
        has a state that it leads from. `inductive`: the step begins outside the cube if it begins at the same place,
        which is right for cubes without initial states [Tegzes, "Strengthen query"]."""
        source, before = transition.source, level - transition.cost
        labels = self.labels(source, before)
        images = {c: image for c in cube if (image := transition.image(c)) is not TRUE}
        loop = inductive and source == transition.target and before >= self.space.first[source]
        outside = [lemma(cube)] if loop else []
        guard = [transition.guard] if transition.guard is not TRUE else []
        # F[i-cost, source] ∧ (¬c) ∧ A ∧ guard ∧ c'
        if self.check(*labels, *outside, *guard, *images.values()):
            return None
        core = {*self.solver.core([*labels, *images.values()])}
        highest = min([i + transition.cost for label, i in labels.items() if label in core], default=FOR_EVER)
        return Exclusion(tuple(c for c in images if images[c] in core), min(highest, FOR_EVER), asked=True)

    def syntactic_exclusion(self, transition: Transition, cube: Cube, level: int) -> Exclusion | None:
        """The same without the solver, if it can be seen: no state of the source is reached by then, or guard, updates
        and lemmas of the source contradict the cube [Werner, section 4.4, "Syntactical Analysis"]."""
        source, before = transition.source, level - transition.cost
        first = self.space.first[source]
        if before < first and self.space.initial[source] is FALSE:
            return Exclusion((), min(first - 1 + transition.cost, FOR_EVER))
        known = [(one.cube, min(one.level + transition.cost, FOR_EVER)) for one in self.lemmas(source, before)]
        return transition.syntactic_exclusion(cube, known)

    # Initial states

    def is_initial(self, place: str, cube: Cube) -> bool:
        """True if some initial state of the place is in the cube."""
        if self.space.initial[place] is FALSE or self.excluding_literals(cube):
            return False
        if not cube:
            return True
        return self.check(_initial(place), *cube)  # I ∧ A ∧ c

    def excluding_literals(self, cube: Cube) -> Cube:
        """The literals that are false in every initial state, as far as known initial values show."""
        evaluation = Evaluation(self.space.values)
        return tuple(c for c in cube if self._has_initial_value(c) and evaluation.of(c) is False)

    def initial_value(self, number: Term) -> Value | None:
        """The value of a term in the initial states; None if known initial values do not determine it."""
        return Evaluation(self.space.values).of(number) if self._has_initial_value(number) else None

    def _has_initial_value(self, given: Term) -> bool:
        return all(v in self.space.values for v in variables([given]))

    # Lemmas

    def lemmas(self, place: str, level: int) -> Iterator[Lemma]:
        """The lemmas of F[level, place]."""
        for kept_at, lemmas in self.kept[place].items():
            if kept_at >= level:
                yield from lemmas

    def lemmas_at(self, level: int) -> list[Lemma]:
        """The lemmas of all places that hold up to this level and are not known to hold at the next."""
        return [one for place in self.space.places for one in self.kept[place].get(level, ())]

    def is_subsumed(self, place: str, cube: Cube, level: int) -> bool:
        """True if the cube is syntactically subsumed by one that F[level, place] excludes."""
        if level < self.space.first[place] and self.space.initial[place] is FALSE:
            return True
        facts = Facts(cube)
        return any(facts.imply_all(one.cube) for one in self.lemmas(place, level))

    def admits(self, place: str, level: int, values: Mapping[Term, Value]) -> bool:
        """True if the state is in F[level, place]."""
        if level < self.space.first[place] and self.space.initial[place] is FALSE:
            return False
        evaluation = Evaluation(values)
        return all(any(evaluation.of(c) is False for c in one.cube) for one in self.lemmas(place, level))

    def add(self, place: str, cube: Cube, level: int) -> None:
        """Add the lemma ¬cube to F[level, place], and remove what it subsumes."""
        for lemmas in [lemmas for i, lemmas in self.kept[place].items() if i <= level]:
            for old in [old for old in lemmas if Facts(old.cube).imply_all(cube)]:
                del lemmas[old]
        new = Lemma(place, cube, level)
        self.kept[place].setdefault(level, {})[new] = None
        self._assert(new)
        if LOG.isEnabledFor(logging.DEBUG):
            LOG.debug("lemma %s: %s", self._frame_text(place, level), one_line(new.term))

    def _frame_text(self, place: str, level: int) -> str:
        frame = "of every frame" if level == FOR_EVER else f"of frame {level}"
        return frame if len(self.space.places) == 1 else f"{frame} at {place}"

    def replace(self, one: Lemma, cube: Cube, level: int) -> None:
        """Put the lemma, which may be stronger now, at a higher level."""
        self.kept[one.place][one.level].pop(one, None)
        self.add(one.place, cube, level)

    def __contains__(self, one: Lemma) -> bool:
        return one in self.kept[one.place].get(one.level, ())

    def is_fixpoint(self, level: int) -> bool:
        """F[level, l] = F[level + 1, l] at every place l but the errors."""
        if any(self.space.first[place] == level + 1 for place in self.space.places):
            return False
        return not self.lemmas_at(level)

    def terms(self, place: str, level: int) -> list[Term]:
        """The lemmas of F[level, place] as terms."""
        return [one.term for one in self.lemmas(place, level)]

    def formula(self, place: str, level: int) -> Term:
        """F[level, place]"""
        if level < self.space.first[place]:
            return self.space.initial[place]
        return conjunction(*self.terms(place, level))


def _label(place: str, level: int) -> Term:
    return variable(f"frame:{'ever' if level == FOR_EVER else level}@{place}", BOOL)


def _initial(place: str) -> Term:
    return variable(f"initial:{place}", BOOL)
