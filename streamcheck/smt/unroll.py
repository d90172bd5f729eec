"""A system's steps as terms, two ways (both measured; each is better somewhere).

`Composed`: from the initial states, by substitution. State at step i is a term over the inputs of steps 0 … i; what is
constant folds away, so a deterministic system needs no solver at all.
`Chained`: from anywhere, with a fresh variable for every state variable at every step and equations between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamcheck.core.evaluate import value_of
from streamcheck.core.huge import MOST_BITS, is_huge
from streamcheck.core.simplify import conjunction, instantiate
from streamcheck.core.term import Term, substitute, term, variable
from streamcheck.core.types import BOOL, Value
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Trace

HUGE_NUMBERS = "the numbers at step {k} are too long"


def at(var: Term, step: int) -> Term:
    """The variable's copy at a step."""
    return variable(f"{var.payload}@{step}", var.type)


class Composed:
    """The runs from the initial states; `frames[i]` maps variables to their terms at step i."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.names: dict[Term, Term] = {}  # and what they stand for
        self.constants = [s.var for s in system.state if s.init is None]
        self.frames: list[dict[Term, Term]] = [self._frame({s.var: s.init or at(s.var, 0) for s in system.state})]

    def _frame(self, state: Mapping[Term, Term]) -> dict[Term, Term]:
        step = len(self.frames) if hasattr(self, "frames") else 0
        return {**state, **{v: at(v, step) for v in self.system.inputs}}

    def reach(self, step: int) -> None:
        while len(self.frames) <= step:
            self._extend()

    def _extend(self) -> None:
        state = self.images([s.next for s in self.system.state], len(self.frames) - 1)
        self.frames.append(self._frame({s.var: state[s.next] for s in self.system.state}))

    def is_huge(self, step: int) -> bool:
        """True if the state at a step has numbers that are too long for another step. The solver does not count what it
        does with the digits of a number."""
        self.reach(step)
        frame = self.frames[step]
        return any(frame[s.var].is_const and is_huge(frame[s.var].payload, MOST_BITS) for s in self.system.state)

    def images(self, roots: list[Term], step: int) -> dict[Term, Term]:
        """The terms at a step, simplified."""
        self.reach(step)
        images = instantiate(roots, self.frames[step])
        return {r: images[r] for r in roots}

    def image(self, root: Term, step: int) -> Term:
        return self.images([root], step)[root]

    def name_state(self, step: int) -> list[Term]:
        """Gives the Bool state at a step (the last there is) names of its own: the equations between these and what
        they stand for. A term of many steps, one inside the other, is looked into by the solver again and again."""
        self.reach(step)
        frame = self.frames[step]
        nested = {s.var: frame[s.var] for s in self.system.state if s.var.type is BOOL and frame[s.var].args}
        frame.update({v: at(v, step) for v in nested})
        self.names.update({frame[v]: t for v, t in nested.items()})
        return [_same(frame[v], t) for v, t in nested.items()]

    def complete(self, values: Mapping[Term, Value]) -> dict[Term, Value]:
        """The leaves' values, and from these the names': as the language has it, not as the solver does."""
        every = dict(values)
        for name, meaning in self.names.items():
            every[name] = value_of(meaning, every)
        return every

    def leaves(self, steps: int) -> Iterator[Term]:
        """Every variable that a model of the first steps may give a value."""
        yield from (at(c, 0) for c in self.constants)
        for i in range(steps):
            yield from (at(v, i) for v in self.system.inputs)

    def holds(self, image: Term, values: Mapping[Term, Value]) -> bool:
        """The image's truth under a model's values. (Functions that are uninterpreted to the solver have their real
        meaning here, so a model may fail it: the replay of the trace decides.)"""
        return bool(value_of(image, values))

    def trace(self, values: Mapping[Term, Value], steps: int) -> Trace:
        constants = {c.payload: values[at(c, 0)] for c in self.constants}
        inputs = tuple({v.payload: values[at(v, i)] for v in self.system.inputs} for i in range(steps))
        return Trace(constants, inputs)


class Chained:
    """Steps from any state. `equations(i)` links step i to step i + 1."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.variables = [*(s.var for s in system.state), *system.inputs]
        self.states = [s.var for s in system.state]
        self._frames: dict[int, dict[Term, Term]] = {}

    def _frame(self, step: int) -> dict[Term, Term]:
        if step not in self._frames:
            self._frames[step] = {v: at(v, step) for v in self.variables}
        return self._frames[step]

    def image(self, root: Term, step: int) -> Term:
        return substitute([root], self._frame(step))[root]

    def equations(self, step: int) -> list[Term]:
        """T[x_i, x_i+1]."""
        nexts = substitute([s.next for s in self.system.state], self._frame(step))
        return [_same(at(s.var, step + 1), nexts[s.next]) for s in self.system.state]

    def is_initial(self, step: int) -> Term:
        return conjunction(*(_same(at(s.var, step), s.init) for s in self.system.state if s.init is not None))

    def same_state(self, i: int, j: int) -> Term:
        return conjunction(*(_same(at(v, i), at(v, j)) for v in self.states))


def _same(a: Term, b: Term) -> Term:
    return term("same", a, b)
