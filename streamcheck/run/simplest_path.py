"""The simplest values along a path of a program: the same statements, replayed by the checker with other inputs.

A value is replaced by a simpler one if the path still is a run that ends at the error. Paths with parts that are
repeated many times stay as they are: the values after such rounds are part of their evidence. So do those of programs
with very large arrays, which take long to replay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from streamcheck.certify.automata import scalar_automaton
from streamcheck.certify.large_arrays import has_large_arrays
from streamcheck.certify.replay import replay_over_scalars
from streamcheck.core.types import Type, Value, default
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import PathReplay
from streamcheck.problem.verdict import EdgePath
from streamcheck.run.simpler_values import constants_of, reduce_value

MOST_STATEMENTS = 20_000  # read or executed in all, for one violation
MOST_ROUNDS = 3


def simplest_path(
    automaton: Automaton, claim: Claim, path: EdgePath, work: int = MOST_STATEMENTS
) -> tuple[EdgePath, PathReplay] | None:
    """The path with simpler values, replayed; None if there are none to be had."""
    if path.rounds or not path.edges or has_large_arrays(automaton):
        return None
    search = PathSimplification(automaton, claim, path, work)
    for _ in range(MOST_ROUNDS):
        if not search.improve():
            break
    return None if search.replayed is None else (search.path, search.replayed)


class PathSimplification:
    def __init__(self, automaton: Automaton, claim: Claim, path: EdgePath, work: int) -> None:
        self.source, self.claim, self.path = scalar_automaton(automaton), claim, path
        self.attempts = work // (len(path.edges) + len(automaton.edges))
        self.replayed: PathReplay | None = None
        self.edges = self.source.edges
        self.types = {str(v.payload): v.type for v in self.source.variables}
        used = {number for number, _ in path.edges}
        self.constants = constants_of([t for number in used for t in self.edges[number].roots()])

    def improve(self) -> bool:
        """Try simpler values once for each input. True if one was accepted."""
        improved = False
        for name, value in list(self.path.initial.items()):
            improved |= self._reduce(self.types[name], value, partial(self._with_initial, name))
        for place, (number, given) in enumerate(self.path.edges):
            for choice in self.edges[number].choices:
                name = str(choice.payload)
                value = given.get(name, default(choice.type))
                improved |= self._reduce(choice.type, value, partial(self._with_choice, place, name))
        return improved

    def _reduce(self, type: Type, value: Value, changed: Callable[[Value], EdgePath]) -> bool:
        return reduce_value(type, value, self.constants.get(type, ()), lambda v: self._accepts(changed(v)))

    def _with_initial(self, name: str, value: Value) -> EdgePath:
        return replace(self.path, initial={**self.path.initial, name: value})

    def _with_choice(self, place: int, name: str, value: Value) -> EdgePath:
        number, given = self.path.edges[place]
        edges = (*self.path.edges[:place], (number, {**given, name: value}), *self.path.edges[place + 1 :])
        return replace(self.path, edges=edges)

    def _accepts(self, path: EdgePath) -> bool:
        if self.attempts <= 0:
            return False
        self.attempts -= 1
        answer = replay_over_scalars(self.source, self.claim, path)
        if not isinstance(answer, PathReplay):
            return False
        self.path, self.replayed = path, answer
        return True
