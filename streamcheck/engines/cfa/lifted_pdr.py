"""Property directed reachability, lifted to the locations of an automaton.

Decides: programs that have an invariant for each location that is a conjunction of clauses over conditions in backward
weakest preconditions of the error; and, from the other end, paths to the error.

Papers: [Werner, chapter 4], after [LNN15]; citations without a key are of [Werner]. The search is `ic3.pdr`'s.

Ingredients:
    a sequence of frames for each location       `levels`, `ic3.frames`             [Werner, Alg. 2, l. 3-5, 8-9]
    obligations (t, l, i), lowest level first    `ic3.obligations`                  [Alg. 2, l. 11-13]
    weakest preconditions as new obligations     `WeakestPreconditions`             [4.2, phase 2; 4.4]
    one cube of its normal form at a time        `EdgeTransition.cube`              [4.4, "Disjunctive Normal Form"]
    the global fixpoint                          `Pdr._fixpoint`                    [Alg. 2, l. 16-20]
    looking at edges and frames first            `EdgeTransition.syntactic_exclusion`  [4.4, "Syntactical Analysis"]

Vocabulary: F[i, l] = `Frames` at level i; (t, l, i) = `Obligation`; k = `top`; T of l' -> l = the guard and the
updates of an edge.

Departures (and those of `ic3.pdr`):
  - The obligation for lE itself, (true, lE, k), stands for the initial ones: its predecessors are these.
  - An obligation stays until it is blocked, so it may come with a part of its precondition at a time: the cube of the
    normal form in which the model is. That never builds the whole form, and no cube that frames exclude anyway.

Options: `LiftedPdrOptions`. With all of them off, the search is that of [Werner], step by step.

Limitations: bit-vectors that an edge chooses take the values that models have.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from streamcheck.core.evaluate import Evaluation, is_unknown_function
from streamcheck.core.term import FALSE, TRUE, Term, walk
from streamcheck.core.types import Value
from streamcheck.engines.cfa.base import Answer, Inconclusive, ProgramEngine, Safe, Unsafe
from streamcheck.engines.cfa.levels import space_of_program
from streamcheck.engines.cfa.options import LiftedPdrOptions
from streamcheck.engines.cfa.preimages import EdgeTransition, choices_for
from streamcheck.engines.ic3.cubes import strongest
from streamcheck.engines.ic3.frames import Frames, NoAnswer
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.options import PdrOptions
from streamcheck.engines.ic3.pdr import NO_STATE, Fixpoint, Frontier, Pdr, Predecessors
from streamcheck.engines.ic3.space import NoState, Transition
from streamcheck.engines.protocol import BY_NAME_ONLY, Progress, Task
from streamcheck.problem.automaton import Automaton, Edge


class LiftedPdr(ProgramEngine):
    """Algorithm 2."""

    name: ClassVar[str] = "lifted-pdr"

    def __init__(self, options: LiftedPdrOptions | None = None) -> None:
        self.options = options or LiftedPdrOptions()

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        if any(is_unknown_function(node) for node in walk(root for edge in program.edges for root in edge.roots())):
            return Inconclusive(BY_NAME_ONLY)
        (error,) = program.bad
        if program.entry == error:  # l. 2
            return Unsafe(())
        turns = self.options.turns
        self.frames = Frames(space_of_program(program, turns=turns), problem.patience)  # l. 3-5
        search = Pdr(self.name, self.frames, self.predecessors(), self._search_options())
        try:  # l. 7-10; every frame begins as `true`
            answer = yield from search.decide(Frontier(search, error), _path, 0 if turns else 1)
        except NoAnswer as reason:
            return Inconclusive(str(reason))
        except NoState:
            return Inconclusive(NO_STATE)
        if not isinstance(answer, Fixpoint):
            return Unsafe(answer)  # l. 14-15
        return Safe(self._invariants(program, answer.level))  # l. 16-20

    def predecessors(self) -> Predecessors:
        return WeakestPreconditions(in_cubes=self.options.cubes)

    def _search_options(self) -> PdrOptions:
        own = self.options
        return PdrOptions(
            tighten=own.tighten,
            split=own.split,
            box=False,
            widen=False,
            inductive=own.inductive,
            push=False,
            propagate=own.propagate,
            forward=own.forward,
        )

    def _invariants(self, program: Automaton, level: int) -> dict[str, Term]:
        formulas = {name: self.frames.formula(name, level) for name in program.locations if name not in program.bad}
        return {name: formula for name, formula in formulas.items() if formula is not FALSE}


@dataclass(frozen=True, slots=True)
class WeakestPreconditions:
    """The weakest precondition of an edge, or the cube of it that a model is in."""

    in_cubes: bool

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        """Try the values that lead on from the obligation, if they also lead into it along the edge: often they differ
        in nothing that matters, and the solver need not be asked."""
        assert isinstance(along, EdgeTransition)
        if one.values is None or not self.in_cubes:
            return None
        values = ChainMap(choices_for(along.edge, one.values), one.values)  # type: ignore[arg-type]
        evaluation = Evaluation(values)
        if not all(evaluation.of(root) is True for root in along.new_conditions(one.cube)):
            return None
        if not frames.admits(along.source, one.level - along.cost, values):
            return None
        return self._obligation(one, along, values, one.values)

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        assert isinstance(along, EdgeTransition)
        return self._obligation(one, along, model, model)

    def _obligation(
        self, one: Obligation, along: EdgeTransition, chosen: Mapping[Term, Value], values: Mapping[Term, Value]
    ) -> Obligation:
        """`values` are a state before the edge, `chosen` has its choices too."""
        if self.in_cubes:
            cube = along.plain(one.cube)
            cube = strongest(along.cube(one.cube, chosen) if cube is None else cube)
        else:
            formula = along.formula(one.cube)
            cube = along.cube(one.cube, chosen) if formula is None else (formula,)
        return one.predecessor(along, tuple(c for c in cube if c is not TRUE), values=values)


def _path(first: Obligation) -> list[Edge]:
    """The edges along a chain, which all have runs."""
    transitions = [one.transition for one in first.chain()]
    return [along.edge for along in transitions if isinstance(along, EdgeTransition)]
