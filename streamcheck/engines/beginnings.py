"""Beginnings of runs after which a timer has far to go.

A violation after ten minutes of cooking needs some keys in the right order, then nothing for ten minutes: the first
part is too rare for random runs, the second too long for the solver. So the solver is asked for the first part alone,
a run of a few steps, and the rest is run (`engines.long_runs`).

For some number of steps k in a range, with N the next value of a timer v that changes by c, and g what should be high
(see `engines.timers`):

    I[x0] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ∧ A[x0] ∧ … ∧ A[xk] ∧ N[xk] = v[xk] + c ∧ g[xk] ≥ b

with larger and larger b, by doubled differences and bisection; if possible, such that the same happens once more at
k + 1 with the same inputs. Then again with each Bool, enum or other number of the state at another value than in that
run: what happens at the end may depend on the mode in which the timer was begun.

Asserted in the solver: A[x0] … A[xm], with m the end of the range. All else is assumed.

Limits: beginnings of at most 24 steps; nothing is sought in systems with floats, at which the solver takes too long.
It proves nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from streamcheck.core.evaluate import value_of
from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import FALSE, Term, constant, term, walk
from streamcheck.core.types import BOOL, INT, EnumType, MachineType, Type, Value
from streamcheck.engines.timers import Timer, timers_of
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Trace
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import Composed, at
from streamcheck.smt.work import work_done

ENDS = (2, 4, 7, 10, 14, 18, 24)  # of the ranges of steps in which a timer is to change, one range after another
NAMED = 8  # steps after which the Bool state gets names, as in `bmc`
NO_GOAL = constant(INT, 0)
MOST_MODES = 8  # variables of the state that get another value
FARTHEST = 1 << 48
MOST_NODES = 500_000  # of all steps of a run
PATIENCE = 4_000_000  # for a query (heuristic)
ALL_WORK = 20_000_000  # for all queries: two seconds (heuristic)
PRICE_OF_NOTHING = ALL_WORK // 4  # the work that a query counts for if the solver gives up

ModelValues: TypeAlias = Mapping[Term, Value]


@dataclass(frozen=True, slots=True)
class _Wish:
    """A timer that changes, and what should be high then. `steady`: it changes in two steps with the same inputs."""

    timer: Timer
    goal: Term | None
    steady: bool = True


@dataclass(frozen=True, slots=True)
class _Begun:
    """A run of k steps, and one more that changes a timer."""

    k: int
    height: int  # of the goal
    model: ModelValues


@dataclass(frozen=True, slots=True)
class _ChangeAt:
    """Step k of the unrolling: if the timer changes there, and how high the goal is."""

    k: int
    changes: Term
    height: Term

    def with_height(self, least: int | None) -> Term:
        return self.changes if least is None else conjunction(self.changes, _at_least(self.height, least))


class Beginnings:
    """Short runs from the initial states, after which timers have far to go."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.timers = timers_of(system)
        not_modes = {t.var for t in self.timers} | {s.var for s in system.state if s.next in system.inputs}
        self.modes = [s.var for s in system.state if s.var not in not_modes and _is_mode(s.var)][:MOST_MODES]
        self.work = 0  # of the solver

    def traces(self) -> Iterator[Trace | None]:
        """Runs whose last step changes a timer, each with more to go than those before, or in another mode. None after
        each query: others may have their turns."""
        if not self.timers:
            return
        self.runs, self.solver = Composed(self.system), Solver(PATIENCE)
        size = sum(1 for _ in walk(self.system.roots()))
        wishes = [
            _Wish(t, goal, steady) for t in self.timers for goal in t.goals or (None,) for steady in (True, False)
        ]
        furthest: dict[_Wish, _Begun] = {}
        begun = 0
        for end in ENDS:
            if end * size > MOST_NODES:
                break
            for k in range(begun, end):
                if self.runs.is_huge(k):
                    return
                self._assert_step(k)
            for wish in wishes:
                like_it = [furthest[w] for w in (wish, replace(wish, steady=True)) if w in furthest]
                best = max(like_it, key=lambda run: run.height, default=None)
                if best is None or wish.goal is not None:
                    run = yield from self._furthest(wish, range(begun, end), best)
                    if run is not None:
                        furthest[wish] = run
                        yield self.runs.trace(run.model, run.k + 1)
            begun = end
        for wish, run in furthest.items():
            yield from self._in_other_modes(wish, run)

    def _assert_step(self, k: int) -> None:
        if k and k % NAMED == 0:
            self.solver.add(*self.runs.name_state(k))
        self.solver.add(*(self.runs.image(a.term, k) for a in self.system.assumptions))

    def _place(self, wish: _Wish, k: int) -> _ChangeAt:
        """N[xk] = v[xk] + c and g[xk]; if it is to be steady, the same at k + 1 with the inputs of step k."""
        changes = self.runs.image(wish.timer.changes, k)
        if wish.steady:
            again = self.runs.image(wish.timer.changes, k + 1)
            changes = conjunction(changes, again, *(term("same", at(v, k), at(v, k + 1)) for v in self.system.inputs))
        return _ChangeAt(k, changes, NO_GOAL if wish.goal is None else self.runs.image(wish.goal, k))

    def _furthest(self, wish: _Wish, ks: range, before: _Begun | None) -> Generator[None, None, _Begun | None]:
        """A run with the highest goal, higher than before. None if there is none, or if the solver gives up."""
        places = [self._place(wish, k) for k in ks]
        best, failed, step = before, _most(places[0].height.type) + 1, 1
        while best is None or (wish.goal is not None and best.height + 1 < failed):
            # Doubled differences up to the first that is too much, then the middle.
            least = None if best is None else min(best.height + step, (best.height + failed + 1) // 2)
            model = yield from self._model(disjunction(*(place.with_height(least) for place in places)))
            if model is not None:
                best, step = _last_change(places, model), 2 * step
            elif least is None:
                break
            else:
                failed, step = least, failed
        return None if best is before else best

    def _in_other_modes(self, wish: _Wish, run: _Begun) -> Iterator[Trace | None]:
        """Runs of the same length, in each of which another variable of the modes has another value. Their goals are as
        high, or half as high, or any."""
        place = self._place(wish, run.k)
        heights = [None] if wish.goal is None or run.height <= 1 else [run.height, run.height // 2, None]
        for mode in self.modes:
            image = self.runs.image(mode, run.k)
            other = negation(term("same", image, constant(mode.type, value_of(image, run.model))))
            for least in heights:
                model = yield from self._model(conjunction(place.with_height(least), other))
                if model is not None:
                    yield self.runs.trace(model, run.k + 1)
                    break

    def _model(self, query: Term) -> Generator[None, None, ModelValues | None]:
        if query is FALSE or self.work >= ALL_WORK:
            return None
        began = work_done()
        answer = self.solver.check(query)
        self.work += work_done() - began if answer is not None else PRICE_OF_NOTHING
        yield
        return self.runs.complete(self.solver.values(self.runs.leaves(len(self.runs.frames)))) if answer else None


def _is_mode(var: Term) -> bool:
    """True if it is a Bool, an enum, or a number, which may stand for one."""
    return var.type is BOOL or isinstance(var.type, EnumType) or var.type.is_integer


def _last_change(places: Sequence[_ChangeAt], model: ModelValues) -> _Begun:
    """The step in which the timer changes with the highest goal: the model has one."""
    changed = [place for place in places if value_of(place.changes, model)]
    height, k = max((_number(value_of(place.height, model)), place.k) for place in changed)
    return _Begun(k, height, model)


def _number(value: Value) -> int:
    assert isinstance(value, int)
    return value


def _most(type: Type) -> int:
    return min(FARTHEST, type.high) if isinstance(type, MachineType) else FARTHEST


def _at_least(number: Term, least: int) -> Term:
    return term("ge", number, constant(number.type, least))
