"""Claim directed reachability on bits.

Decides: every property of a system whose states and inputs are Bools, with time.

Papers: the thesis (Werner, "Property Directed Reachability in Ultimate"), chapter 3. Frames, queue and the shrinking of
clauses are those of `ic3`.

Ingredients:
    is there a 0-counterexample                `_prove`, the first question at top = 0     [Alg. 1, l. 2]
    next transition                            `_prove`, the second question               [l. 5]
    blocking, lowest frame first               `Ic3._block`                                [l. 6-9]
    F[k+1] = P, and what of F[k] still holds   `_propagate`                                [l. 10-13]
    the fixpoint                               `_propagate`                                [l. 14]
    ternary simulation                         `_cube`                                     [3.4]
    clauses shrunk by cores                    `ic3.generalize.Tightening`                 [3.4, "Generalization of
    States"]

Vocabulary: F[i] = `frames` at level i; k = `top`; T = next-state functions, by substitution; a relation that is none is
written with inputs for the next state and an assumption; P = the property; (s, i) = `Obligation`.

Departures:
  - A blocked cube strengthens F[1] … F[i], not F[i] alone. As printed, F[i] ⇒ F[i+1] would not be kept, and no two
    frames in a row need ever be equal: in a system with two states that alternate they may exclude one and the other in
    turns.
  - The clauses of every frame are tried at the next, and two equal frames are looked for everywhere, not at the end
    alone: there, each new frame may lack a clause that only the ones before it have, for ever.
  - Frames are equal where they have the same clauses, as in the thesis' second example: there F[1] is equivalent to
    F[0] and the search goes on. F[0] is compared with nothing.
  - P is part of frames where it speaks of the state alone. What breaks a property that speaks of inputs is blocked as a
    state of F[k] itself.

Options, each of which is on unless it is `False`; without all of them the search is the thesis' own, step by step:
    "ternary"    predecessors reduced by ternary simulation
    "tighten", "push"   clauses shrunk, and moved on at once (`ic3.generalize`)
    "forward"    what is blocked is to be blocked at the next frame too

Limits: numbers, of any kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import ClassVar

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, substitute, variable, variables
from streamcheck.core.types import BOOL
from streamcheck.engines.ic3.cooper_ic3 import Ic3, NoState
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import FOR_EVER
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.protocol import Event, Inbox, Progress, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Proved, Unknown
from streamcheck.smt.ternary import needed

NOT_BITS = "it has states or inputs that are no Bools"


class BitPdr(Ic3):
    """Algorithm 1."""

    name: ClassVar[str] = "pdr-bits"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system = problem.system
        if any(v.type is not BOOL for v in (*(s.var for s in system.state), *system.inputs)):
            yield from (Unknown(p.name, NOT_BITS) for p in system.properties)
            return
        yield from super().run(problem, inbox)

    def _prove(self, claim: Claim) -> Iterator[Event]:
        wrong = negation(claim.term)
        after = self._broken_next(wrong) if self._is_state(wrong) else ()
        for top in count():
            self.frames.reach(top)
            while True:
                # F[k] ∧ A ∧ ¬P: at k = 0 the 0-counterexample
                if self.frames.check(*self.frames.labels(top), wrong):
                    bad = self._bad(wrong, top)
                # F[k] ∧ A ∧ T ∧ ¬P'
                elif after and self.frames.reaches(after, top, strengthened=False):
                    bad = self._predecessor(Obligation(top + 1, after, (), None))
                else:
                    break
                chain = yield from self._block(bad, top, claim)
                if chain is not None and (yield from self._settle(chain, claim, wrong)):
                    return
                yield Progress(top)
            if after:
                self.frames.add((wrong,), top + 1)  # F[k+1] = P
            fixpoint = self._propagate(top)
            if fixpoint is not None:
                yield Proved(claim.name, self._certificate(fixpoint))
                return
            yield Progress(top)

    def _is_state(self, given: Term) -> bool:
        return all(v in self.frames.nexts for v in variables([given]))

    def _broken_next(self, wrong: Term) -> Cube:
        """¬P ∧ A, whatever the inputs are then."""
        later = {v: variable(f"{v.payload}'", BOOL) for v in self.inputs}
        whole = conjunction(wrong, *self.frames.assumptions)
        return (substitute([whole], later)[whole],)

    def _cube(self, roots: list[Term], evaluation: Evaluation | None = None) -> Cube:
        """The state of the model, without what makes no difference to the roots."""
        evaluation = evaluation or self._evaluation()
        if not all(evaluation.of(root) is True for root in roots):
            raise NoState
        kept = list(self.frames.nexts)
        if self.options.get("ternary", True):
            kept = needed(roots, evaluation.values, kept)
        return tuple(v if evaluation.of(v) is True else negation(v) for v in kept)

    def _propagate(self, top: int) -> int | None:
        """[Alg. 1, l. 11-14]: clauses that still hold; the level of a frame equal to its successor."""
        if top == 0:
            for cube in self._initial_cubes():
                if not self.frames.reaches(cube, 0):
                    self.frames.add(cube, 1)
        for level in range(1, top + 1):
            for one in list(self.frames.kept[level]):
                # F[i] ∧ A ∧ T ∧ c'
                if one in self.frames.kept[level] and not self.frames.reaches(one.cube, level, strengthened=False):
                    cube, highest = one.cube, level + 1
                    if self.options.get("tighten", True):
                        cube, highest = self.tightening.after_core(one.cube)
                    self.frames.raise_to(one, cube, highest if highest >= FOR_EVER else min(highest, top + 1))
            if not self.frames.kept[level]:
                return level
        return None

    def _initial_cubes(self) -> Iterator[Cube]:
        """The clauses of F[0] = I, as what they exclude."""
        for s in self.system.state:
            if s.init is not None and s.init.is_const:
                yield (negation(s.var) if s.init.payload else s.var,)
