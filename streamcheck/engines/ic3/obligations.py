"""Proof obligations, and the run that unmet ones spell out.

Thesis, section 3.1.2.2: an obligation (i, B) asks to block the states B from F[i]. They wait in a queue, lowest frame
first [EMB11, sec. IV], because a predecessor must be settled before what it leads to.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from streamcheck.core.evaluate import evaluate
from streamcheck.core.simplify import conjunction, simplify
from streamcheck.core.term import Term, constant, substitute, term
from streamcheck.core.types import Value
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Trace
from streamcheck.smt.solver import Solver


@dataclass(frozen=True, slots=True)
class Obligation:
    """Block `cube` from F[level]. Every state of the cube has a step into the successor's; without a successor, some
    input breaks the property at once. `context` holds of the state the cube was made from: a box is smaller for it, and
    abstract cubes are refined by it."""

    level: int
    cube: Cube
    context: Cube
    successor: Obligation | None
    depth: int = 0  # steps to the violation

    def chain(self) -> Iterator[Obligation]:
        at: Obligation | None = self
        while at is not None:
            yield at
            at = at.successor

    def at(self, level: int) -> Obligation:
        return replace(self, level=level)


@dataclass(slots=True)
class Queue:
    heap: list[tuple[int, int, int, Obligation]] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def push(self, one: Obligation) -> None:
        heapq.heappush(self.heap, (one.level, one.depth, next(self.numbers), one))

    def pop(self) -> Obligation:
        return heapq.heappop(self.heap)[-1]

    def __bool__(self) -> bool:
        return bool(self.heap)


def replay(system: TransitionSystem, first: Obligation, broken: Term) -> Trace | None:
    """A run along the chain from an initial state in its first cube to where `broken` is true; None where the chain is
    only an abstract one. State by state: with the state known, only the inputs of the step are asked for."""
    state = _start(system, first.cube)
    if state is None:
        return None
    constants = {s.var.payload: state[s.var] for s in system.state if s.init is None}
    inputs: list[dict[str, Value]] = []
    nexts = {s.var: s.next for s in system.state}
    for one in first.chain():
        goals = [broken] if one.successor is None else _images(one.successor.cube, nexts)
        chosen = _chosen(system, state, goals)
        if chosen is None:
            return None
        inputs.append({v.payload: chosen[v] for v in system.inputs})
        results = evaluate(nexts.values(), {**state, **chosen})
        state = {v: results[n] for v, n in nexts.items()}
    return Trace(constants, tuple(inputs))


def _images(cube: Cube, nexts: dict[Term, Term]) -> list[Term]:
    images = substitute(cube, nexts)
    return [images[c] for c in cube]


def _start(system: TransitionSystem, cube: Cube) -> dict[Term, Value] | None:
    solver = Solver()
    begun = [term("same", s.var, s.init) for s in system.state if s.init is not None]
    solver.add(*begun, *cube, *(a.term for a in system.assumptions))
    # I ∧ A ∧ c
    return solver.values([s.var for s in system.state]) if solver.check() else None


def _chosen(system: TransitionSystem, state: dict[Term, Value], goals: list[Term]) -> dict[Term, Value] | None:
    """Inputs that meet the assumptions in this state and make the goals true."""
    wanted = conjunction(*(a.term for a in system.assumptions), *goals)
    known = {v: constant(v.type, value) for v, value in state.items()}
    put = substitute([wanted], known)[wanted]
    simple = simplify([put])[put]
    solver = Solver()
    solver.add(simple)
    if not solver.check():
        return None
    return solver.values(system.inputs)
