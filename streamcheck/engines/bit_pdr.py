"""Property directed reachability on bits, by bitwuzla.

Decides: every property of a system of Bools and machine integers, with time; of floats, what bounds at the numbers that
the system speaks of can show.

Papers: [Werner, chapter 3]; citations without a key are of it. The search is that of `ic3.pdr`. Of words, the literals
are those of `ic3.words`, and lifting by cores replaces ternary simulation [CIMMN11].

Ingredients:
    is there a 0-counterexample                `PropertyFrontier.bad`, the first question at top = 0     [Alg. 1, l. 2]
    next transition                            `PropertyFrontier.bad`, the second question               [l. 5]
    blocking, lowest frame first               `Pdr._block`                                              [l. 6-9]
    F[k+1] = P, and what of F[0] still holds   `PropertyFrontier.close`                                  [l. 10-13]
    what of F[k] still holds, the fixpoint     `Pdr._fixpoint`                                           [l. 11-14]
    ternary simulation, if all is Bool         `TernaryPredecessors`                                     [3.4]
    lifting by cores, if there are words       `ic3.words.LiftedPredecessors`                            [CIMMN11]
    clauses shrunk by cores                    `ic3.generalize`              [3.4, "Generalization of States"]

Vocabulary: F[i] = `frames` at level i; k = `top`; T = next-state functions, by substitution (a relation that is no
function is written with inputs for the next state and an assumption); P = the property; (s, i) = `Obligation`.

Departures (and those of `ic3.pdr`):
  - The clauses of every frame are tried at the next, and two equal frames are looked for everywhere, not at the end
    alone: there, each new frame may lack a clause that only the ones before it have, for ever.
  - Frames are equal if they have the same clauses, as in the second example of [Werner]: there F[1] is equivalent to
    F[0] and the search goes on. F[0] is compared with nothing.
  - P is part of frames if it is over the state alone. If a property is over inputs too, the states of F[k] that break
    it are blocked themselves.
  - What of F[0] still holds is asked of whole words: that a word still has its initial value.

Options: `BitPdrOptions`. With "ternary", "tighten", "push" and "forward" off, the search is that of [Werner], step by
step.

Limitations: no Int and no Real; equalities of words take a clause for each of their bits; states of floats are left one
by one if no number of the system is a bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, substitute, variable, variables
from streamcheck.core.types import BOOL, Value
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import Frames
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.options import PdrOptions
from streamcheck.engines.ic3.pdr import Frontier, Pdr, Predecessors
from streamcheck.engines.ic3.space import Transition
from streamcheck.engines.ic3.system import STATES, SystemEngine, error_of, require_true
from streamcheck.engines.ic3.words import LiftedPredecessors, equality
from streamcheck.engines.on_bits import is_cheap_to_check
from streamcheck.engines.options import BitPdrOptions
from streamcheck.engines.protocol import NO_NUMBERS, Event, Inbox, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, SolverFamily, Unknown
from streamcheck.smt.bit_solver import BitSolver, is_expressible
from streamcheck.smt.contract import AnySolver
from streamcheck.smt.ternary import needed_variables


class BitPdr(SystemEngine[BitPdrOptions]):
    """Algorithm 1."""

    name: ClassVar[str] = "pdr-bits"
    prover: ClassVar[SolverFamily] = "bitwuzla"

    def __init__(self, options: BitPdrOptions | None = None) -> None:
        super().__init__(options or BitPdrOptions())

    def search_options(self) -> PdrOptions:
        own = self.options
        return PdrOptions(
            tighten=own.tighten,
            split=False,
            box=False,
            widen=own.widen,
            inductive=own.inductive,
            push=own.push,
            propagate=own.propagate,
            forward=own.forward,
        )

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        if not is_expressible(problem.system.roots()):
            yield from (Unknown(p.name, NO_NUMBERS) for p in problem.system.properties)
            return
        self.patience = problem.patience
        yield from super().run(problem, inbox)

    def new_solver(self, patience: int | None) -> AnySolver:
        return BitSolver(patience)

    def assume(self, certificate: Certificate, known: set[Term]) -> None:
        if is_cheap_to_check(certificate):
            super().assume(certificate, known)

    def predecessors(self) -> Predecessors:
        state = [s.var for s in self.system.state]
        if any(v.type is not BOOL for v in (*state, *self.system.inputs)):
            return LiftedPredecessors(state, self.new_solver, self.patience)
        return TernaryPredecessors(state, reduces=self.options.ternary)

    def frontier(self, claim: Claim) -> Frontier:
        state = {s.var for s in self.system.state}
        if any(v not in state for v in variables([claim.term])):
            return super().frontier(claim)
        return PropertyFrontier(self.search, self.system, claim)


@dataclass(frozen=True, slots=True)
class TernaryPredecessors:
    """The state of the model, without the variables that make no difference to its step."""

    state: Sequence[Term]
    reduces: bool

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        return None

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        roots, evaluation = along.roots(one.cube), Evaluation(model)
        require_true(roots, evaluation)
        kept = needed_variables(roots, evaluation.values, self.state) if self.reduces else self.state
        return one.predecessor(along, tuple(v if evaluation.of(v) is True else negation(v) for v in kept))


class PropertyFrontier(Frontier):
    """The frontier of a property of the state, which is part of the frames from F[1] on."""

    def __init__(self, search: Pdr, system: TransitionSystem, claim: Claim) -> None:
        super().__init__(search, error_of(claim))
        self.system = system
        self.wrong = negation(claim.term)
        (self.step,) = search.frames.space.entering[STATES]
        (self.violation,) = search.frames.space.entering[self.error]

    def bad(self, top: int) -> Obligation | None:
        # F[k] ∧ A ∧ ¬P: at k = 0 the 0-counterexample
        obligation = super().bad(top)
        if obligation is not None:
            return obligation
        broken = self._violation_cube()
        # F[k] ∧ A ∧ T ∧ ¬P' ∧ A'
        if self.search.frames.exclusion(self.step, broken, top + 1, inductive=False) is not None:
            return None
        after = self.root.at_level(top + 1).predecessor(self.violation, broken)
        return self.search.predecessors.before(after, self.step, self.search.frames.model())

    def _violation_cube(self) -> Cube:
        """¬P ∧ A, whatever the inputs are then."""
        later = {v: variable(f"{v.payload}'", v.type) for v in self.system.inputs}
        whole = conjunction(self.wrong, *(a.term for a in self.system.assumptions))
        return (substitute([whole], later)[whole],)

    def close(self, top: int) -> None:
        """[Alg. 1, l. 10-13]: F[k+1] = P; the clauses of F[0] that still hold in F[1]."""
        frames = self.search.frames
        frames.add(STATES, (self.wrong,), top + 1)
        if top == 0:
            for var, value in frames.space.values.items():
                cube = (negation(equality(var, value)),) if var.type is not BOOL else (negation(var) if value else var,)
                # I ∧ A ∧ T ∧ c'
                if frames.exclusion(self.step, cube, 1, inductive=False) is not None:
                    frames.add(STATES, cube, 1)
