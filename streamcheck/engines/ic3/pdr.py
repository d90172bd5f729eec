"""Property directed reachability (IC3), for transition systems and for automata.

Decides: invariants for each place that are conjunctions of clauses over the literals that predecessors come with; and,
from the other end, short runs to an error.

Papers: [EMB11]; [Bradley11] and [IC3ref]; [Laurent, "The IC3 algorithm" to "Lemma tightening"]; [Tegzes, sections
3.1.1.4, 3.1.2 and 4.3]; [Werner, chapters 3 and 4], after [LNN15].

Ingredients:
    places, transitions, initial states          `space.StateSpace`
    frames, each lemma at its highest            `frames.Frames`                [EMB11, sec. III]
    obligations, lowest frame first              `obligations.Queue`, `_block`  [EMB11, Fig. 6; Werner, Alg. 2]
    obligations pushed forward                   `_again`                       [Tegzes, "pushing … forward"]
    predecessors, transition by transition       `predecessor`                    [EMB11, Fig. 6; Werner, 4.2, phase 2]
    the strengthened query                       `Frames.exclusion`             [Tegzes, "Strengthen query"]
    what is blocked already, seen syntactically  `Frames.is_subsumed`           [EMB11, sec. IV; Tegzes 4.3]
    cores that shrink a cube and name its frame  `generalize.Generalization`    [Tegzes, "Generalize blocked states"]
    lemmas that always hold                      `FOR_EVER`                     [Tegzes 4.3, the frame ∞]
    propagation                                  `_propagate`                   [Tegzes, Alg. 3; EMB11, Fig. 9]
    the fixpoint                                 `_fixpoint`                    [Werner, Alg. 2, l. 16-20]

What differs between engines comes as strategies:
    states before a step into a cube             `Predecessors`: Cooper's elimination (`cooper_ic3`), ternary simulation
                                                 (`bit_pdr`), predicates (`implicit_abstraction`), weakest preconditions
                                                 (`cfa.lifted_pdr`)
    states of the last frame that break P        `Frontier`
    a chain of obligations from an initial state `witness` of `Pdr.decide`: a counterexample, or a refinement

Vocabulary: F[i, l] = `Frames` at level i and place l; N, k = `top`, the level up to which the property is known to
hold; B, c = `cube`; s, t, (s, i), (t, l, i) = `Obligation`; I = `initial`; T = guard and update of a `Transition`;
A = `facts`. The formulas are comments at the queries.

Asserted in the solver: A, invariants that others found, and under literals of their own I and the lemmas of each frame
(the head of `frames` has the list). P is not asserted.

Departures:
  - P is no part of the frames (it may be over inputs, which are no state): an error is a place of its own, to which a
    transition leads from the states that violate P, at no cost of a level.
  - A blocked cube strengthens F[1] … F[i], not F[i] alone, so F[i] ⇒ F[i+1] is kept ([Werner,
    Alg. 1 and 2] does not, as printed). A frame is strengthened if *no* transition leads into the cube; Alg. 2 has it
    after each in turn.
  - Alg. 2, l. 16-20, compares level 0 with level -1 and answers in its first turn. Here, any two levels in a row are
    compared, at *all* places; lemmas are kept at their highest level, so that is a level at which none is kept.
  - An obligation at the entry of an automaton is met whatever its level: every state is initial there.
    ([Werner] would block it, for the entry has no predecessor, and so declare `l0 -> lE` alone unreachable.)
  - Obligations are limited in depth (`_again`), which keeps an infinite state space from holding up the search.

Every obligation is a set of states each of which has a run along the transitions of its chain to the error, unless
predecessors are abstract. The other way round, nothing is added to a frame but what an `Exclusion` shows.

Limitations: invariants over sums of counters are learned one bound at a time; a model with irrational numbers ends the
search; functions of math.h are not supported.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Protocol, TypeVar

from streamcheck.core.term import FALSE, Term
from streamcheck.core.types import Value, plural
from streamcheck.engines.ic3.frames import Frames
from streamcheck.engines.ic3.generalize import Generalization
from streamcheck.engines.ic3.obligations import Obligation, Queue
from streamcheck.engines.ic3.options import PdrOptions
from streamcheck.engines.ic3.space import FOR_EVER, Transition
from streamcheck.engines.protocol import Progress

LOG = logging.getLogger(__name__)
BEYOND = 24  # levels past 6·N that obligations are followed (heuristic)
TURN = 16  # obligations before another property, or another engine of the same worker, has its turn
NO_STATE = "the solver's model is not a state (an irrational value?)"
W = TypeVar("W")


class Predecessors(Protocol):
    """The strategy for predecessors of an obligation: how they are found and generalised."""

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        """Predecessors found without the solver, or None."""

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        """Predecessors, of which the model is one."""


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """F[level] = F[level + 1], and it excludes the error."""

    level: int


class Pdr:
    """The search. `name` is the engine's, for the log."""

    def __init__(self, name: str, frames: Frames, predecessors: Predecessors, options: PdrOptions) -> None:
        self.name = name
        self.frames = frames
        self.predecessors = predecessors
        self.options = options
        self.generalization = Generalization(frames, options)
        self._handled = 0

    def decide(
        self, frontier: Frontier, witness: Callable[[Obligation], W | None], lowest: int = 0
    ) -> Generator[Progress, None, W | Fixpoint]:
        """Decide if the error of the frontier is reached [Tegzes, Alg. 1; Werner, Alg. 2]. `witness` returns a
        counterexample from a chain of obligations whose first has an initial state; if it returns None, the chain was
        spurious, and it has refined the predecessors."""
        for top in count(lowest):
            yield Progress(top)
            while (bad := frontier.bad(top)) is not None:  # [Tegzes, Alg. 1, l. 8]
                first = yield from self._block(bad, top)  # l. 11
                if first is not None and (counterexample := witness(first)) is not None:
                    return counterexample
            frontier.close(top)
            level = self._fixpoint(frontier.error, top)  # l. 17
            self._log(frontier.error, top, level)
            if level is not None:
                return Fixpoint(level)  # l. 19
        raise AssertionError("levels end nowhere")

    def _log(self, error: str, top: int, fixpoint: int | None) -> None:
        if LOG.isEnabledFor(logging.INFO):
            frames = self.frames
            kept = [one for place in frames.space.places for one in frames.lemmas(place, 0)]
            for_ever = sum(one.level == FOR_EVER for one in kept)
            LOG.info(
                "%s: frame %d%s: %s, %d inductive; %s and %s so far; %s",
                self.name,
                top,
                "" if fixpoint is None else ", fixpoint",
                plural(len(kept), "lemma"),
                for_ever,
                plural(self._handled, "obligation"),
                plural(frames.queries, "query"),
                error.removeprefix("violation:"),
            )

    def _block(self, bad: Obligation, top: int) -> Generator[Progress, None, Obligation | None]:
        """[Tegzes, Alg. 2; Werner, Alg. 2, l. 11-15; EMB11, Fig. 6]: an obligation that an initial state is in, or None
        once everything is blocked."""
        queue = Queue()
        queue.push(bad)
        while queue:
            self._handled += 1
            if self._handled % TURN == 0:
                yield Progress(top)
            one = queue.pop()
            if self._is_initial(one):  # [Tegzes, Alg. 2, l. 1]
                return one
            if self.frames.is_subsumed(one.place, one.cube, one.level):
                self._again(queue, one, one.level + 1, top)
                continue
            before = self.predecessor(one)  # l. 5
            if before is not None:
                queue.push(before)  # l. 15
                queue.push(one)
            else:
                level = self._strengthen(one, top)  # l. 20-24
                self._again(queue, one, level + 1, top)  # l. 25-26
        return None

    def _is_initial(self, one: Obligation) -> bool:
        """True if some initial state is in the obligation. Those below the first level of a place were made from
        one."""
        space = self.frames.space
        from_initial = one.level < space.first[one.place] and space.initial[one.place] is not FALSE
        return from_initial or self.frames.is_initial(one.place, one.cube)

    def _again(self, queue: Queue, one: Obligation, level: int, top: int) -> None:
        """The same states have to be blocked at the next level too [Tegzes, "pushing proof obligations forward"]. With
        infinitely many states, following that without end would never come back to the other ones: states that reach
        the error much later than in N levels wait (required)."""
        if level <= top and level + one.turns <= 6 * top + BEYOND and self.options.forward:
            queue.push(one.at_level(level))

    def predecessor(self, one: Obligation) -> Obligation | None:
        """States from which a transition leads into the obligation; None if there are none."""
        for along in self.frames.space.entering[one.place][len(one.passed) :]:
            exclusion = self.frames.syntactic_exclusion(along, one.cube, one.level)
            if exclusion is None:
                guess = self.predecessors.guess(one, along, self.frames)
                if guess is not None:
                    return guess
                exclusion = self.frames.exclusion(along, one.cube, one.level, inductive=self.options.inductive)
            if exclusion is None:
                return self.predecessors.before(one, along, self.frames.model())
            one.passed.append(exclusion)
        return None

    def _strengthen(self, one: Obligation, top: int) -> int:
        """Exclude the cube from all frames up to the obligation's, and beyond if it can be; the level reached."""
        cube, level = self.generalization.lemma(one)
        cube, level = self.generalization.push(one.place, cube, level, top)
        level = _within(level, top)
        self.frames.add(one.place, cube, level)
        return level

    def _fixpoint(self, error: str, top: int) -> int | None:
        """[Werner, Alg. 2, l. 16-20]: a level at which F[i] = F[i + 1]; or ∞, if the lemmas without a level exclude the
        error by themselves. Lemmas are moved as high as they hold on the way."""
        if self.frames.is_subsumed(error, (), FOR_EVER):
            return FOR_EVER
        for level in range(top + 1):
            if self.options.propagate:
                self._propagate(level, top)
            if self.frames.is_fixpoint(level):
                return level
        return None

    def _propagate(self, level: int, top: int) -> None:
        """[Tegzes, Alg. 3; Werner, chapter 3, phase 3]"""
        for one in self.frames.lemmas_at(level):
            if one in self.frames:  # not subsumed meanwhile
                raised = self.generalization.raise_level(one.place, one.cube, level)
                if raised is not None:
                    cube, highest = raised
                    self.frames.replace(one, cube, _within(highest, top))


class Frontier:
    """The states of the last frame that break the property."""

    def __init__(self, search: Pdr, error: str) -> None:
        self.search = search
        self.error = error
        self.root = Obligation(error, (), 0)

    def bad(self, top: int) -> Obligation | None:
        """States of F[top] from which a transition leads into the error. None if there are none; then the error is
        excluded up to this level."""
        frames = self.search.frames
        if frames.is_subsumed(self.error, (), top):
            return None
        if self.root.level != top:
            self.root = self.root.at_level(top)
        obligation = self.search.predecessor(self.root)  # F[N] ∧ A ∧ ¬P
        if obligation is None:
            frames.add(self.error, (), self.root.exclusion.level)
        return obligation

    def close(self, top: int) -> None:
        """Called when nothing bad is left in F[top], before lemmas are propagated."""


def _within(level: int, top: int) -> int:
    return level if level >= FOR_EVER else min(level, top + 1)
