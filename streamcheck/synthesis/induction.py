"""Realizability by k-induction [GKWBC15]: any choice of outputs that keeps the guarantees can be followed by another.

    extension   after any n steps that keep assumptions and guarantees, from any state, each input has an answer
    base        so it has after each m < n such steps from a first state

Both hold for some n: then whatever keeps the guarantees at each step is an implementation, and no region of states has
to be found. The answers are those of `synthesis.solve`, terms that are tried in turn; [KFGGBGW18] does the same by
Skolem terms. The implementation is proved like any other, by induction over as many steps.

Departs from [GKWBC15]: if the base fails, the component had a choice that leads to an end, which says nothing: it may
have had a better one. There is no answer then. So this is the way of contracts that need no foresight; it is the faster
one if their region of states would need many rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamcheck.core.simplify import conjunction, instantiate
from streamcheck.core.term import Term, term, variable
from streamcheck.synthesis.solve import GivenUp, Synthesis, Won
from streamcheck.transform.realization import members

MOST = 12  # steps


@dataclass(slots=True)
class InductiveSynthesis(Synthesis):
    steps: int = 0  # n
    bases: list[list[Term]] = field(default_factory=list)  # the paths from a first state whose ends have answers
    paths: list[list[Term]] = field(default_factory=list)  # what is known before the step in question

    def solve(self) -> Won:
        """GivenUp if the guarantees need foresight, or the solver has no answer."""
        for number in range(MOST + 1):
            self.steps = number
            if self._is_covered(self._path(number, from_start=False)):
                self.paths = [self._path(number, from_start=False), *self.bases]
                return Won(self._needed_answers(), ())
            self.bases.append(self._path(number, from_start=True))
            if not self._is_covered(self.bases[-1]):
                raise GivenUp("outputs that keep the guarantees may lead to a state in which none do")
        raise GivenUp(f"no answer by k-induction up to k = {MOST}")

    def _is_covered(self, path: list[Term]) -> bool:
        """If each input after such a path has an answer; new ones are kept."""
        self.paths = [path]
        while (point := self._open_point()) is not None:
            answer = self._answer(point)
            if answer is None:
                return False
            self.answers.append(answer)
        return True

    def _premise(self) -> list[Term]:
        return self.paths[0]

    def _are_enough(self, answers: Sequence[Mapping[Term, Term]]) -> bool:
        every = self.paths
        try:
            for path in every:
                self.paths = [path]
                if self._query_of(answers).check() is not False:
                    return False
        finally:
            self.paths = every
        return True

    def _path(self, steps: int, *, from_start: bool) -> list[Term]:
        """So many steps that keep the assumptions and the guarantees; the cells are those after them."""
        game, state = self.game, dict[Term, Term]()
        conditions = []
        for cell in game.specification.cells:
            state[cell.var] = variable(f"{cell.name} at 0", cell.var.type)
            if from_start and not cell.free:
                state[cell.var] = cell.initial
            conditions.append(members(state[cell.var]))
        for number in range(steps):
            chosen = {v: variable(f"{v.payload} at {number}", v.type) for v in (*game.inputs, *game.outputs)}
            conditions += map(members, chosen.values())
            roots = [game.assumption, game.guarantee, *game.next.values()]
            now = instantiate(roots, {**state, **chosen})
            conditions += [now[game.assumption], now[game.guarantee]]
            state = {cell: now[after] for cell, after in game.next.items()}
        equal = (term("same" if v.type.kind == "float" else "eq", v, after) for v, after in state.items())
        return [conjunction(*conditions), *equal]
