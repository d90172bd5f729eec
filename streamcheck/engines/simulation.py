"""Long random runs: violations that no short run shows.

A timer that runs out after ten minutes is broken by pressing nothing for ten minutes, at a depth at which every query
of a solver is expensive, and a step of a run costs some microseconds. So after a random beginning each input of a run
has a habit: a value, and the probability of taking it instead of a new one. Rounds of longer and longer runs follow
each other, so that short violations are met first. A violation that is found is cut down by delta debugging [ZH02]:
steps are left out, half of the run at a time at first, then inputs get their simplest values, as long as the property
is still false at the end. The rest of the round looks for a shorter one.

Limits: a violation that needs the right input at the right step is left to other engines. It proves nothing, and ends
after its last round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from streamcheck.core.huge import is_huge
from streamcheck.core.term import Term
from streamcheck.core.types import Value, default
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.options import SimulationOptions
from streamcheck.engines.protocol import Event, Inbox, Progress, Task
from streamcheck.engines.random_runs import Simulator
from streamcheck.problem.verdict import Falsified, Trace

ROUNDS = ((20, 64), (20, 256), (160, 1024), (20, 4096))  # runs, and their steps
MOST_ASKED = 10  # times in a run that the solver is asked for inputs that meet the assumptions
LIVELY = 40  # steps at most before the habits (heuristic)
CUTTING = 50_000  # steps run at most to cut a violation down
A_TURN = 1000  # steps between two looks at the inbox


class Simulation:
    name: ClassVar[str] = "simulation"

    def __init__(self, options: SimulationOptions | None = None) -> None:
        self.options = options or SimulationOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system = problem.system
        if any(s.init is not None and not s.init.is_const for s in system.state):
            return
        runs = LongRuns(system, tuple(p.term for p in system.properties), seed=self.options.seed)
        names = [p.name for p in system.properties]
        shortest = dict.fromkeys(names, ROUNDS[-1][1])
        done = 0
        for runs_of_a_round, length in ROUNDS:
            broken_now: set[str] = set()
            for number in range(runs_of_a_round):
                for prop in decided_properties(inbox()):
                    shortest.pop(prop, None)
                if not shortest:
                    return
                for step, broken in runs.violations(number, min(length, max(shortest.values()))):
                    for i in [i for i in broken if step < shortest.get(names[i], 0)]:
                        rows = runs.cut_down(i)
                        shortest[names[i]] = len(rows) - 1
                        broken_now.add(names[i])
                        yield Falsified(names[i], runs.trace(rows))
                    done += 1
                    if done % A_TURN == 0:
                        yield Progress(done)
            shortest = {name: step for name, step in shortest.items() if name not in broken_now}


class LongRuns(Simulator):
    """One run after another; the properties are looked at on the way."""

    def violations(self, number: int, length: int) -> Iterator[tuple[int, list[int]]]:
        """Each step, and the properties that are false there, by number."""
        state = tuple(self._value(s.var) if s.init is None else s.init.payload for s in self.system.state)
        self.constants = {
            s.var.payload: value for s, value in zip(self.system.state, state, strict=True) if s.init is None
        }
        self.initial = state
        self.inputs: list[tuple[Value, ...]] = []
        self.asked = 0
        lively = [(v, self._value(v), self.random.random()) for v in self.system.inputs]
        habits = [self._habit(v, number) for v in self.system.inputs]
        begin = self.random.randrange(LIVELY) if number >= 2 else 0
        for step in range(length):
            values = self._after(state, lively if step < begin else habits)
            if values is None or (step % 8 == 0 and any(map(is_huge, values))):
                return  # no input meets the assumptions here, or numbers grow without end
            state, claims = values[: len(state)], values[len(state) :]
            yield step, [i for i, holds in enumerate(claims) if holds is False]

    def trace(self, rows: Sequence[tuple[Value, ...]]) -> Trace:
        """The run with these inputs, from where this one began."""
        names = [v.payload for v in self.system.inputs]
        return Trace(dict(self.constants), tuple(dict(zip(names, row, strict=True)) for row in rows))

    def cut_down(self, prop: int) -> list[tuple[Value, ...]]:
        """The inputs of a run that breaks the property at its last step: this one so far, or part of it."""
        self.left = CUTTING
        rows = list(self.inputs)
        size = len(rows)
        while size:
            start = 0
            while start < len(rows):
                shorter = self._up_to_violation([*rows[:start], *rows[start + size :]], prop)
                if shorter is None:
                    start += size
                else:
                    rows = shorter
            size //= 2
        for i, var in enumerate(self.system.inputs):
            simplest = default(var.type)
            rows = self._with_value(rows, i, simplest, range(len(rows)), prop) or rows
            for step, row in enumerate(rows):
                if row[i] != simplest and step < len(rows):
                    rows = self._with_value(rows, i, simplest, range(step, step + 1), prop) or rows
        return rows

    def _with_value(
        self, rows: list[tuple[Value, ...]], i: int, value: Value, steps: range, prop: int
    ) -> list[tuple[Value, ...]] | None:
        changed = [(*r[:i], value, *r[i + 1 :]) if step in steps else r for step, r in enumerate(rows)]
        return self._up_to_violation(changed, prop)

    def _up_to_violation(self, rows: list[tuple[Value, ...]], prop: int) -> list[tuple[Value, ...]] | None:
        """The rows up to the first step that breaks the property. None if none does, or if there is no time left."""
        state = self.initial
        if self.left < len(rows):
            return None
        for step, row in enumerate(rows):
            self.left -= 1
            values = self.step(*state, *row)
            if values is None:
                return None
            state = values[: len(state)]
            if values[len(state) + prop] is False:
                return rows[: step + 1]
        return None

    def _habit(self, var: Term, number: int) -> tuple[Term, Value, float]:
        """A value, and how often it is taken instead of one drawn anew. The first run has zeros, the second ones."""
        if number < 2 and var.type.kind == "bool":
            return var, number == 1, 1.0
        often = self.random.choice((0.0, 1.0, self.random.random(), 1 - self.random.random() ** 3))
        return var, self._value(var), often

    def _after(self, state: tuple[Value, ...], habits: list[tuple[Term, Value, float]]) -> tuple[Value, ...] | None:
        tries = 20 if self.system.assumptions else 1
        for _ in range(tries):
            row = tuple(value if self.random.random() < often else self._value(var) for var, value, often in habits)
            values = self.step(*state, *row)
            if values is not None:
                self.inputs.append(row)
                return values
        asked = self._solved_inputs(state) if self.asked < MOST_ASKED else None
        if asked is None:
            return None
        self.asked += 1
        habits[:] = [(var, new, often) for (var, _, often), new in zip(habits, asked, strict=True)]
        self.inputs.append(asked)
        return self.step(*state, *asked)
