"""The trace F[0] ⊆ F[1] ⊆ … ⊆ F[∞], in one incremental solver.

F[0] is I; F[i] for i > 0 is a set of lemmas that hold in every state that i steps reach; F[∞] holds in all that any
number of steps reach. Each lemma is kept once, at the highest frame where it is known to hold [EMB11, sec. III], so
F[i] is what is kept at i, i + 1, …, ∞.

Asserted in the solver: A[x, in]; under the literal `step`, of the assumptions that speak of the state alone, A[x'];
invariants that others found; F[∞]; under the literal of frame 0, I; under the literal of frame i, each lemma kept at i.

There are no primed variables: a literal over x' is the literal with every state variable replaced by its next-state
function (the image), behind an indicator of its own, so that unsatisfiable cores speak of literals.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, simplify
from streamcheck.core.term import Term, substitute, term, variable, variables
from streamcheck.core.types import BOOL
from streamcheck.engines.ic3.cubes import Cube, Facts, lemma
from streamcheck.problem.transition import TransitionSystem
from streamcheck.smt.solver import Solver

FOR_EVER = 1 << 30
STEP = variable("step", BOOL)
MOST_INDICATORS = 8_000  # formulas a solver has seen; beyond, a fresh one is faster (heuristic)


class GaveUp(Exception):
    """The solver did not answer; the reason is the argument."""


@dataclass(slots=True, eq=False)
class Lemma:
    """¬cube, which holds up to frame `level`."""

    cube: Cube
    level: int


class Frames:
    def __init__(self, system: TransitionSystem, patience: int | None) -> None:
        self.system = system
        self.patience = patience
        self.nexts = {s.var: s.next for s in system.state}
        self.assumptions = [a.term for a in system.assumptions]
        self.invariants: dict[Term, None] = {}  # from other engines
        self.kept: list[dict[Lemma, None]] = [{}]  # by level
        self.always: dict[Lemma, None] = {}  # F[∞]
        self._images: dict[Term, Term] = {}
        self._initial = {s.var: s.init.payload for s in system.state if s.init is not None and s.init.is_const}
        self.queries = 0
        self._renew()

    # The solver

    def _renew(self) -> None:
        self.solver = Solver(self.patience)
        stays = [a for a in self.assumptions if all(v in self.nexts for v in variables([a]))]
        self.solver.add(*self.assumptions, *self.invariants)
        self.solver.add_under(STEP, conjunction(*(self.image(a) for a in stays)))
        begun = [term("same", s.var, s.init) for s in self.system.state if s.init is not None]
        self.solver.add_under(_label(0), conjunction(*begun))
        for one in self.always:
            self.solver.add(lemma(one.cube))
        for level, lemmas in enumerate(self.kept):
            for one in lemmas:
                self.solver.add_under(_label(level), lemma(one.cube))

    def labels(self, level: int) -> list[Term]:
        """The literals under which F[level] stands."""
        if level == 0:
            return [_label(0)]
        return [_label(i) for i in range(level, len(self.kept)) if self.kept[i]]

    def check(self, *assumed: Term) -> bool:
        if self.solver.size > MOST_INDICATORS:
            self._renew()
        self.queries += 1
        answer = self.solver.check(*assumed)
        if answer is None:
            raise GaveUp(self.solver.reason)
        return answer

    def image(self, given: Term) -> Term:
        """given[x'], over x and the inputs."""
        found = self._images.get(given)
        if found is None:
            image = substitute([given], self.nexts)[given]
            found = self._images[given] = simplify([image])[image]
        return found

    def assume(self, invariants: Iterable[Term]) -> None:
        """Invariants that others found."""
        for invariant in invariants:
            if invariant not in self.invariants:
                self.invariants[invariant] = None
                self.solver.add(invariant)

    # Questions

    def reaches(self, cube: Cube, level: int, *, strengthened: bool = True) -> bool:
        """Whether a step leads from F[level] into the cube. The strengthened query [thesis] asks from
        outside the cube, which is right for cubes without initial states."""
        # F[level] ∧ ¬c ∧ A ∧ T ∧ c'
        outside = [lemma(cube)] if strengthened and level else []
        return self.check(STEP, *self.labels(level), *outside, *map(self.image, cube))

    def core(self, cube: Cube) -> tuple[Cube, int]:
        """After `reaches` said no: the literals that were needed, and the highest frame their negation holds in."""
        labels = [_label(i) for i in range(len(self.kept))]
        needed = {*self.solver.core([*labels, *map(self.image, cube)])}
        levels = [i for i, label in enumerate(labels) if label in needed]
        return tuple(c for c in cube if self.image(c) in needed), min(levels) + 1 if levels else FOR_EVER

    def is_initial(self, cube: Cube) -> bool:
        """Whether some initial state is in the cube."""
        if self.excluding(cube):
            return False
        return self.check(_label(0), *cube)  # I ∧ A ∧ c

    def excluding(self, cube: Cube) -> Cube:
        """The literals that are false in every initial state, as far as initial values alone tell."""
        evaluation = Evaluation(self._initial)
        return tuple(c for c in cube if self._is_known(c) and evaluation.of(c) is False)

    def _is_known(self, literal: Term) -> bool:
        return all(v in self._initial for v in variables([literal]))

    def initial_value(self, number: Term) -> object | None:
        """The value of a term in the initial states, where initial values alone tell."""
        return Evaluation(self._initial).of(number) if self._is_known(number) else None

    # Lemmas

    def at_least(self, level: int) -> Iterator[Lemma]:
        """The lemmas of F[level]."""
        for lemmas in self.kept[level:]:
            yield from lemmas
        yield from self.always

    def blocked(self, cube: Cube, level: int) -> bool:
        """Whether a lemma of F[level] excludes the cube, by its looks."""
        facts = Facts(cube)
        return any(facts.imply_all(one.cube) for one in self.at_least(level))

    def reach(self, level: int) -> None:
        while len(self.kept) <= level:
            self.kept.append({})

    def add(self, cube: Cube, level: int) -> Lemma:
        """The lemma ¬cube in F[level], in the place of weaker ones that reach no further."""
        new = Lemma(cube, level)
        places = self.kept if level == FOR_EVER else self.kept[: level + 1]
        for lemmas in places:
            for old in [old for old in lemmas if Facts(old.cube).imply_all(cube)]:
                del lemmas[old]
        self._keep(new)
        return new

    def raise_to(self, one: Lemma, cube: Cube, level: int) -> None:
        """The lemma, perhaps stronger, at a higher frame."""
        self.kept[one.level].pop(one, None)
        self.add(cube, level)

    def _keep(self, one: Lemma) -> None:
        if one.level == FOR_EVER:
            self.always[one] = None
            self.solver.add(lemma(one.cube))
        else:
            self.reach(one.level)
            self.kept[one.level][one] = None
            self.solver.add_under(_label(one.level), lemma(one.cube))

    def invariant(self, level: int) -> list[Term]:
        """F[level] as terms."""
        return [lemma(one.cube) for one in self.at_least(level)]


def _label(level: int) -> Term:
    return variable(f"frame {level}", BOOL)
