"""Beginnings of runs after which a timer has far to go.

A violation after ten minutes of cooking needs some keys in the right order, then nothing for ten minutes: the first
part is too rare for random runs, the second too long for the solver. So the solver is asked for the first part alone,
a run of a few steps, and the rest is run (`engines.long_runs`).

A timer is a state variable of which some branch of the next value is the variable itself plus or minus a constant:

    mux(running & (left > 0), left - 1, …)        down from where it is set: the higher it is, the longer the run
    mux(on, mux(on_for < limit, on_for + 1, …))   up to a limit: the higher that one is, if it is no constant

At some numbers of steps k, with N the next value of a timer v that changes by c, and g what should be high:

    I[x0] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ∧ A[x0] ∧ … ∧ A[xk] ∧ N[xk] = v[xk] + c ∧ g[xk] ≥ b

with larger and larger b, by doubled differences and bisection. Then the same once more with each Bool or enum of the
state at another value than in that run: what happens at the end may depend on the mode the timer was begun in.

Asserted in the solver, at k: A[x0] … A[xk]. All else is assumed.

Limits: short beginnings; the last input has to keep the timer running; no floats, at which the solver takes too long.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

from streamcheck.core.evaluate import value_of
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, fold, term, walk
from streamcheck.core.types import BOOL, INT, EnumType, MachineType, Type, Value
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Trace
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import Composed
from streamcheck.smt.work import work_done

LENGTHS = (2, 4, 8, 12, 16, 24)  # of beginnings, before the step that changes the timer
NAMED = 8  # steps after which the Bool state gets names, as in `bmc`
MOST_TIMERS = 8
MOST_MODES = 8  # variables of the state that get another value
MOST_OFFSETS = 8  # constants that are added to a variable
MOST_VARIABLES = 16  # that a number may be
LARGEST_OFFSET = 1 << 16
FARTHEST = 1 << 48
PATIENCE = 4_000_000  # for a query (heuristic)
ALL_WORK = 40_000_000  # for all queries (heuristic)


@dataclass(frozen=True, slots=True)
class Timer:
    """A state variable that changes by an amount in some steps."""

    var: Term
    amount: int
    changes: Term  # true in these steps
    goals: tuple[Term, ...]  # numbers such that the timer runs the longer, the higher they are


def timers_of(system: TransitionSystem) -> list[Timer]:
    """The timers that change by the least amounts, those that count down first."""
    if system.has_floats:
        return []
    nexts = [s.next for s in system.state if s.var.type.is_integer]
    offsets = fold(nexts, _offsets)
    limits = _limits(system)
    found = [
        Timer(s.var, amount, term("same", s.next, _plus(s.var, amount)), goals)
        for s in system.state
        if s.var.type.is_integer
        for amount in offsets[s.next].get(s.var, ())
        if 0 < abs(amount) <= LARGEST_OFFSET
        for goals in [(s.var,) if amount < 0 else tuple(limits.get(s.var, ()))]
    ]
    return sorted(found, key=lambda t: (abs(t.amount), t.amount))[:MOST_TIMERS]


def _offsets(node: Term, below: list[dict[Term, frozenset[int]]]) -> dict[Term, frozenset[int]]:
    """The variables that a number is, on some branch, but for a constant that is added."""
    if not node.type.is_integer:
        return {}
    match node.op:
        case "var":
            return {node: frozenset((0,))}
        case "mux" | "min" | "max" | "cast":
            return reduce(_union, below[1:] if node.op == "mux" else below)
        case "add" | "sub" if node.args[1].is_const:
            amount = node.args[1].payload if node.op == "add" else -node.args[1].payload
            return {v: frozenset(n + amount for n in ns) for v, ns in below[0].items()}
        case "add" if node.args[0].is_const:
            return {v: frozenset(n + node.args[0].payload for n in ns) for v, ns in below[1].items()}
    return {}


def _union(a: dict[Term, frozenset[int]], b: dict[Term, frozenset[int]]) -> dict[Term, frozenset[int]]:
    both = {v: a.get(v, frozenset()) | b.get(v, frozenset()) for v in {**a, **b}}
    if len(both) > MOST_VARIABLES:
        return {}
    return {v: frozenset(sorted(ns, key=abs)[:MOST_OFFSETS]) for v, ns in both.items()}


def _limits(system: TransitionSystem) -> dict[Term, dict[Term, None]]:
    """The numbers that a variable, or a sum with a constant, is compared with, if they may change."""
    found: dict[Term, dict[Term, None]] = {}
    compared = [n for n in walk(system.roots()) if n.op in ("lt", "le", "gt", "ge", "eq", "ne", "same")]
    offsets = fold([a for n in compared for a in n.args], _offsets)
    for node in compared:
        for number, limit in (node.args, node.args[::-1]):
            if limit.type.is_integer and not limit.is_const:
                for var in offsets[number]:
                    if var is not limit and var not in offsets[limit]:
                        found.setdefault(var, {})[limit] = None
    return found


def _plus(var: Term, amount: int) -> Term:
    return term("add" if amount > 0 else "sub", var, constant(var.type, abs(amount)))


Model: TypeAlias = Mapping[Term, Value]


@dataclass(frozen=True, slots=True)
class _Wish:
    """A timer, and what should be high when it changes."""

    timer: Timer
    goal: Term | None


@dataclass(frozen=True, slots=True)
class _Begun:
    """A run of k steps, and one more that changes a timer."""

    k: int
    height: int  # of the goal
    model: Model


class Beginnings:
    """Short runs from the initial states, after which timers have far to go."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.timers = timers_of(system)
        not_modes = {t.var for t in self.timers} | {s.var for s in system.state if s.next in system.inputs}
        self.modes = [s.var for s in system.state if s.var not in not_modes and _is_mode(s.var)][:MOST_MODES]
        self.work = 0  # of the solver

    def found(self) -> Iterator[Trace | None]:
        """Runs whose last step changes a timer, each with more to go than those before, or in another mode. None after
        each query: others may have their turns."""
        if not self.timers:
            return
        self.runs, self.solver = Composed(self.system), Solver(PATIENCE)
        furthest: dict[tuple[_Wish, bool], _Begun] = {}
        wishes = [_Wish(timer, goal) for timer in self.timers for goal in timer.goals or (None,)]
        begun = 0
        for k in LENGTHS:
            for step in range(begun, k + 1):
                self._assert_step(step)
            begun = k + 1
            for wish in wishes:
                for steady in (True, False):
                    before = furthest.get((wish, steady))
                    if before is None or wish.goal is not None:
                        run = yield from self._furthest(wish, k, before, steady=steady)
                        if run is not None:
                            furthest[wish, steady] = run
                            yield self.runs.trace(run.model, k + 1)
                    if (wish, True) in furthest:
                        break
        for (wish, steady), run in furthest.items():
            yield from self._in_other_modes(wish, run, steady=steady)

    def _assert_step(self, k: int) -> None:
        if k and k % NAMED == 0:
            self.solver.add(*self.runs.name_state(k))
        self.solver.add(*(self.runs.image(a.term, k) for a in self.system.assumptions))

    def _changes(self, timer: Timer, k: int, *, steady: bool) -> Term:
        """The timer changes in step k; with `steady`, also in the step after that, if the inputs stay."""
        changes = self.runs.image(timer.changes, k)
        if not steady:
            return changes
        here, there = ([self.runs.image(v, step) for v in self.system.inputs] for step in (k, k + 1))
        stay = (term("same", a, b) for a, b in zip(here, there, strict=True))
        return conjunction(changes, self.runs.image(timer.changes, k + 1), *stay)

    def _furthest(
        self, wish: _Wish, k: int, before: _Begun | None, *, steady: bool
    ) -> Generator[None, None, _Begun | None]:
        """A run with the highest goal, higher than before. None if there is none, or if the solver gives up."""
        changes = self._changes(wish.timer, k, steady=steady)
        height = constant(INT, 0) if wish.goal is None else self.runs.image(wish.goal, k)
        best, failed, step = before, None, 1
        while failed is None or best is None or best.height + 1 < failed:
            if best is None:
                least, query = 0, changes
            else:
                least = best.height + step if failed is None else (best.height + failed + 1) // 2
                if least > FARTHEST or not _belongs(height.type, least):
                    break
                query = conjunction(changes, _at_least(height, least))
            model = yield from self._model(query)
            if model is not None:
                best, step = _Begun(k, int(value_of(height, model)), model), 2 * step  # type: ignore[arg-type]
            elif best is None:
                return None
            else:
                failed = least
            if wish.goal is None:
                break
        return None if best is before else best

    def _in_other_modes(self, wish: _Wish, run: _Begun, *, steady: bool) -> Iterator[Trace | None]:
        """Runs of the same length, in each of which another variable of the modes has another value. Their goals are as
        high, or half as high, or any."""
        changes = self._changes(wish.timer, run.k, steady=steady)
        for mode in self.modes:
            image = self.runs.image(mode, run.k)
            other = negation(term("same", image, constant(mode.type, value_of(image, run.model))))
            heights = [TRUE]
            if wish.goal is not None and run.height > 1:
                height = self.runs.image(wish.goal, run.k)
                heights = [_at_least(height, run.height), _at_least(height, run.height // 2), TRUE]
            for least in heights:
                model = yield from self._model(conjunction(changes, other, least))
                if model is not None:
                    yield self.runs.trace(model, run.k + 1)
                    break

    def _model(self, query: Term) -> Generator[None, None, Model | None]:
        if query is FALSE or self.work > ALL_WORK:
            return None
        began = work_done()
        answer = self.solver.check(query)
        self.work += work_done() - began
        yield
        return self.runs.complete(self.solver.values([*self.runs.leaves(len(self.runs.frames))])) if answer else None


def _is_mode(var: Term) -> bool:
    """True if it is a Bool, an enum, or a number, which may stand for one."""
    return var.type is BOOL or isinstance(var.type, EnumType) or var.type.is_integer


def _belongs(type: Type, value: int) -> bool:
    return not isinstance(type, MachineType) or type.low <= value <= type.high


def _at_least(number: Term, least: int) -> Term:
    return term("ge", number, constant(number.type, least))
