"""States that random runs reach, from which candidates are derived. The same system gives the same states."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from streamcheck.core.floats import f32, neighbours
from streamcheck.core.python import PythonWriter
from streamcheck.core.simplify import negation, simplify
from streamcheck.core.term import Term, constant, substitute, walk
from streamcheck.core.types import BOOL, EnumType, FloatType, MachineType, Value
from streamcheck.problem.transition import TransitionSystem
from streamcheck.smt.solver import Solver

SPECIAL = (0.0, -0.0, math.inf, -math.inf, math.nan)
FLOAT_CORNERS = {  # with the least denormal, the least normal and the greatest number
    32: (*SPECIAL, 2.0**-149, -(2.0**-149), 2.0**-126, 2.0**128 - 2.0**104, -(2.0**128 - 2.0**104)),
    64: (*SPECIAL, 2.0**-1074, -(2.0**-1074), 2.0**-1022, sys.float_info.max, -sys.float_info.max),
}
RUNS = 24
STEPS = 60
CALM_RUNS = 12  # before the others, and again after them, with inputs that never change: what counts gets far
CALM_STEPS = 150
MOST_SOLVED = 100
TRIES = 20  # random inputs per step before the solver is asked for some that meet the assumptions


class Simulator:
    def __init__(self, system: TransitionSystem, claims: Sequence[Term] = (), *, seed: int = 1) -> None:
        self.system = system
        self.random = random.Random(seed)
        self.pool: dict[object, list[Value]] = {}
        self.solved: list[tuple[Value, ...]] = []  # inputs that the solver found to meet the assumptions
        for node in walk(system.roots()):
            if node.is_const:
                self.pool.setdefault(node.type, []).extend(_around(node))
        self.step = _compile(system, claims)

    def states(self) -> list[tuple[Value, ...]]:
        """Distinct states, in the order they were met."""
        met: dict[tuple[Value, ...], None] = {}
        for calm_runs in (CALM_RUNS, 0, CALM_RUNS):
            for number in range(calm_runs or RUNS):
                run = self._run(CALM_STEPS, 1.0) if calm_runs else self._run(STEPS if number else 2 * STEPS)
                met |= dict.fromkeys(run)
        return list(met)

    def _run(self, length: int, calm: float | None = None) -> list[tuple[Value, ...]]:
        """A run's states. `calm` is how likely an input keeps its value; None: anything."""
        return [state for state, _ in self._random_steps(length, calm)]

    def input_rows(self, length: int, calm: float | None = None) -> list[tuple[Value, ...]]:
        """A run's inputs, of at most so many steps."""
        return [inputs for _, inputs in self._random_steps(length, calm)]

    def _random_steps(self, length: int, calm: float | None) -> Iterator[tuple[tuple[Value, ...], tuple[Value, ...]]]:
        """A run's states and inputs."""
        state = tuple(self._value(s.var) if s.init is None else s.init.payload for s in self.system.state)
        inputs: tuple[Value, ...] | None = None
        calm = self.random.random() if calm is None else calm
        for _ in range(length):
            inputs, after = self._choose(state, inputs, calm)
            if inputs is None or after is None:
                return
            yield state, inputs
            state = after

    def _choose(
        self, state: tuple[Value, ...], before: tuple[Value, ...] | None, calm: float
    ) -> tuple[tuple[Value, ...] | None, tuple[Value, ...] | None]:
        """Inputs that meet the assumptions, and the state they lead to."""
        for _ in range(TRIES if self.system.assumptions else 1):
            fresh = [self._value(v) for v in self.system.inputs]
            if before is not None:
                fresh = [old if self.random.random() < calm else new for old, new in zip(before, fresh, strict=True)]
            after = self.step(*state, *fresh)
            if after is not None:
                return tuple(fresh), after
        for row in self._like_solved_ones():
            after = self.step(*state, *row)
            if after is not None:
                return row, after
        asked = self._solved_inputs(state)
        return asked, None if asked is None else self.step(*state, *asked)

    def _like_solved_ones(self) -> Iterator[tuple[Value, ...]]:
        """Inputs that met the assumptions in other states, at first with new numbers."""
        for attempt in range(TRIES if self.solved else 0):
            row, fresh = self.random.choice(self.solved), attempt < TRIES // 2
            parts = zip(self.system.inputs, row, strict=True)
            yield tuple(self._value(v) if fresh and v.type is not BOOL else old for v, old in parts)

    def _solved_inputs(self, state: tuple[Value, ...]) -> tuple[Value, ...] | None:
        """Inputs that meet the assumptions in this state. For the first ones, the solver is also asked for each Bool
        input to be true and to be false: with what it likes best, a run shows little."""
        known = {s.var: constant(s.var.type, v) for s, v in zip(self.system.state, state, strict=True)}
        solver = Solver(patience=10_000_000)
        images = substitute([a.term for a in self.system.assumptions], known)
        simple = simplify(images[a.term] for a in self.system.assumptions)
        solver.add(*(simple[images[a.term]] for a in self.system.assumptions))
        if not self.solved:
            for var in self.system.inputs:
                for literal in (var, negation(var)) if var.type is BOOL else ():
                    if solver.check(literal):
                        self.solved.append(self._row(solver))
        if not solver.check():
            return None
        row = self._row(solver)
        if len(self.solved) < MOST_SOLVED and row not in self.solved:
            self.solved.append(row)
        return row

    def _row(self, solver: Solver) -> tuple[Value, ...]:
        values = solver.values(self.system.inputs)
        return tuple(values[v] for v in self.system.inputs)

    def _value(self, var: Term) -> Value:
        pool = self.pool.get(var.type, [])
        match var.type:
            case EnumType(codes=codes):
                return self.random.choice(codes)
            case MachineType(low=low, high=high):
                pool = [v for v in (*pool, low, high) if isinstance(v, int) and low <= v <= high]
                return self.random.choice([*pool, self.random.randint(low, high)])
            case FloatType(width=width):
                drawn = self.random.uniform(-100, 100)
                often = [*pool, 0.0, 1.0, f32(drawn) if width == 32 else drawn]
                return self.random.choice(often if self.random.random() < 0.8 else FLOAT_CORNERS[width])
        if var.type.kind == "bool":
            return self.random.random() < 0.5
        number = self.random.choice([*pool, 0, 1]) if self.random.random() < 0.5 else self.random.randint(-5, 20)
        return Fraction(number) if var.type.kind == "real" else number  # type: ignore[arg-type]


def _around(node: Term) -> list[Value]:
    value = node.payload
    match node.type, value:
        case FloatType(width=width), float():
            return [value, *neighbours(value, width)]
        case _, bool():
            return [value]
    return [value, value - 1, value + 1]


def _compile(system: TransitionSystem, claims: Sequence[Term]) -> Callable[..., tuple[Value, ...] | None]:
    """A function from state and inputs to next state and claims. It returns None if an assumption is false."""
    assumed, nexts = [a.term for a in system.assumptions], [s.next for s in system.state]
    writer = PythonWriter([*assumed, *nexts, *claims], {})
    names = [f"v{i}" for i in range(len(system.state) + len(system.inputs))]
    for name, var in zip(names, [*(s.var for s in system.state), *system.inputs], strict=True):
        writer.name(var, name)
    for term in assumed:
        text = writer.expression(term)
        writer.lines.append(f"if not {text}: return None")
    results = [writer.expression(n) for n in (*nexts, *claims)]
    body = [*writer.lines, f"return ({''.join(r + ', ' for r in results)})"]
    exec("\n    ".join([f"def step({', '.join(names)}):", *body]), writer.namespace)
    made: Callable[..., tuple[Value, ...] | None] = writer.namespace["step"]
    return made
