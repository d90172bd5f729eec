"""Very long runs, computed: violations after as many steps as a counter of 32 bits has values.

A run whose inputs stay the same, or go round and round, soon does the same in every round: some variables keep their
values, others grow by the same numbers. The states after each of some rounds suggest a polynomial for each variable
[KLW13 does so with formulas]; a round is taken from the state that these say for round n, and if it leads to the one
for n + 1, nothing has happened until then. The n at which something does, a limit that is reached or a number that
wraps around, is sought with doubled steps and by bisection, and at the constants of the spec. The run goes on from just
before it, with the rounds left out, step by step until it is regular again; then, if nothing is broken, with the next
of some patterns of inputs. Some runs begin with a timer that the solver has set (`engines.beginnings`). The replay
computes the rounds again, by an induction of its own (`certify.rounds`).

    uptime + 1 of an Int32          steps 0 … 6, 2,147,483,638 rounds, then 3 steps to the one that wraps around
    minutes below 60, then hours    rounds of 60 steps
    an oven that is set to 9:99     the eight steps that set it, then the same inputs until it is off
    fill a tank, then drain it      two patterns in turns, each until its round does something else, or for a few steps

Limits: polynomials of degree 3 of integers and reals, while everything else repeats; a state that is reached in the
middle of what looks regular, and tested for equality, is seen only if it is at a constant of the spec. It proves
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, product
from math import comb, lcm
from typing import Any, ClassVar, TypeAlias

from streamcheck.core.floats import identical
from streamcheck.core.huge import is_huge
from streamcheck.core.term import Term
from streamcheck.core.types import BOOL, MachineType, Value, default
from streamcheck.engines.beginnings import Beginnings
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.options import LongRunsOptions
from streamcheck.engines.protocol import Event, Inbox, Progress, Task
from streamcheck.engines.random_runs import Simulator
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Falsified, Rounds, Trace

RUNS = 5000
PHASES = 70  # of a run: enough to double a number of 64 bits
JUMPS = 6  # of a phase
DEGREE = 3
SAMPLES = DEGREE + 4  # rounds that are taken one after another
LOOKS = (SAMPLES, 24, 80, 400, 2000, 10_000)  # steps after which a phase is looked at, or so many rounds of its pattern
FEW_LOOKS = 4  # of the runs after the first
MOST_VALUES = 1_000_000  # in the states of a phase
RAREST = 3  # changes, of which each may begin a round
FAR = 4  # times as many steps as have been taken are left out, or none: longer rounds may show themselves
MARGIN = 2  # rounds that are taken again before the one that does something else
FARTHEST = 66  # bits of the number of rounds
MOST_POINTS = 300
MOST_CHANGED = 400  # runs in which one flag changes after a timer has begun
MOST_ASKED = 10  # times in a run that the solver is asked for inputs that meet the assumptions
SHRINKING = 200  # runs to make a violation simpler
LARGE = 20  # state variables; a system of so many times more takes so many times fewer steps
SHORT = 5000  # steps of a run that has all of them
MOST_SIMPLE = 8  # values that are tried in the place of an input's
A_TURN = 1000  # steps between two looks at the inbox

InputRow: TypeAlias = tuple[Value, ...]  # of inputs
Vector: TypeAlias = tuple[Value, ...]
Growth: TypeAlias = tuple[Any, ...]  # a_0 + a_1·i + a_2·C(i, 2) + …


class VeryLongRuns:
    name: ClassVar[str] = "long-runs"

    def __init__(self, options: LongRunsOptions | None = None) -> None:
        self.options = options or LongRunsOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system = problem.system
        reported = 0
        yield Progress(reported)
        if not can_grow(system):
            return
        runs = PatternRuns(system, tuple(p.term for p in system.properties), seed=self.options.seed)
        names = [p.name for p in system.properties]
        most = self.options.steps // max(1, len(system.state) // LARGE)
        for schedule in runs.schedules():
            decided = decided_properties(inbox())
            runs.open -= {i for i, name in enumerate(names) if name in decided}
            if not runs.open or runs.taken > most:
                return
            if schedule is None:
                yield Progress(reported)
                continue
            broken = runs.take(schedule)
            traces = dict.fromkeys(broken, runs.trace()) if broken else {}
            for i, trace in traces.items():
                yield Falsified(names[i], runs.with_every_step(runs.simplest(trace, i), i))
            runs.open -= broken
            if broken or runs.taken > reported + A_TURN:
                reported = runs.taken
                yield Progress(reported)


def can_grow(system: TransitionSystem) -> bool:
    """True if the first state is known, and there are numbers among the state."""
    if any(s.init is not None and not s.init.is_const for s in system.state):
        return False
    return any(s.var.type.kind in ("integer", "signed", "unsigned", "real") for s in system.state)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Inputs that are taken in turns, for so many steps; None: until something else happens."""

    rows: tuple[InputRow, ...]
    steps: int | None = None

    def with_value(self, place: int, value: Value) -> Pattern:
        return replace(self, rows=tuple((*r[:place], value, *r[place + 1 :]) for r in self.rows))


@dataclass(slots=True)
class _Phase:
    """Steps with one pattern: the states before each, and after the last."""

    rows: tuple[InputRow, ...]
    states: list[Vector]

    def row(self) -> InputRow:
        return self.rows[(len(self.states) - 1) % len(self.rows)]


class PatternRuns(Simulator):
    """Runs in phases. Of the run so far, `rows` are its steps, but for the `rounds`."""

    def __init__(self, system: TransitionSystem, claims: Sequence[Term], *, seed: int) -> None:
        super().__init__(system, claims, seed=seed)
        self.flags = [i for i, v in enumerate(system.inputs) if v.type is BOOL]
        self.open = set(range(len(claims)))
        self.taken = 0

    # Schedules

    def schedules(self) -> Iterator[list[Pattern] | None]:
        """The patterns of one run after another. None: the solver has worked, others may have their turns."""
        if not self.system.inputs:
            yield self.schedule(0)
            return
        simple = 2 + len(self.flags)
        yield from (self.schedule(number) for number in range(simple))
        yield from self._after_beginnings()
        yield from (self.schedule(number) for number in range(simple, RUNS))

    def _after_beginnings(self) -> Iterator[list[Pattern] | None]:
        """Go on after short runs that begin a timer: the last inputs stay, or all flags become false; when there are no
        more such runs, after each one flag changes, for ever or for a step."""
        begun: list[tuple[Vector, list[InputRow]]] = []
        for trace in Beginnings(self.system).traces():
            if trace is None:
                yield None
            elif (run := self._without_idle_steps(trace)) is not None and run not in begun:
                begun.append(run)
                last = run[1][-1]
                yield self._going_on(*run, Pattern((last,)), look=None)
                yield self._going_on(*run, Pattern((last,), 1), Pattern((self._with_flags(last, self.flags, False),)))
        runs = product(reversed(begun), self.flags, (True, False))
        for run, flag, for_ever in islice(runs, MOST_CHANGED):
            last = run[1][-1]
            changed = (self._with_flags(last, [flag], not last[flag]),)
            then = [Pattern(changed)] if for_ever else [Pattern(changed, 1), Pattern((last,))]
            yield self._going_on(*run, Pattern((last,), 1), *then)

    def _going_on(
        self, initial: Vector, rows: Sequence[InputRow], *then: Pattern, look: int | None = FEW_LOOKS
    ) -> list[Pattern]:
        """All but the last of the rows, then the patterns."""
        self.initial, self.looks = initial, self._first_looks(look)
        return [*(Pattern((row,), 1) for row in rows[:-1]), *then]

    def _with_flags(self, row: InputRow, flags: Sequence[int], value: bool) -> InputRow:
        return tuple(value if i in flags else old for i, old in enumerate(row))

    def _without_idle_steps(self, trace: Trace) -> tuple[Vector, list[InputRow]] | None:
        """The run's first state and inputs, but for steps that change nothing. None if it is no run."""
        constants = trace.constants
        state: Vector = tuple(
            constants[str(s.var.payload)] if s.init is None else s.init.payload for s in self.system.state
        )
        initial, rows = state, []
        for number, inputs in enumerate(trace.inputs, 1):
            row = tuple(inputs[v.payload] for v in self.system.inputs)
            after = self.step(*state, *row)
            if after is None:
                return None
            if after[: len(state)] != state or number == trace.length:
                rows.append(row)
            state = after[: len(state)]
        return initial, rows

    def _first_looks(self, number: int | None) -> list[int]:
        most = MOST_VALUES // len(self.system.state)
        return [n for n in LOOKS[:number] if n <= max(most, SAMPLES)]

    def schedule(self, number: int) -> list[Pattern]:
        """The patterns of a run: the simplest at first, then random ones, some of them in turns, after a calm
        beginning or not."""
        self.initial = tuple(self._value(s.var) if s.init is None else s.init.payload for s in self.system.state)
        self.looks = self._first_looks(None if number < 2 else FEW_LOOKS)
        flags = self.flags
        calm = tuple(default(v.type) for v in self.system.inputs)
        if number < 2:
            return [Pattern((tuple(number == 1 if i in flags else value for i, value in enumerate(calm)),))]
        if number - 2 < len(flags):
            return [Pattern((tuple(i == flags[number - 2] or value for i, value in enumerate(calm)),))]
        pool = [self._pattern() for _ in range(self.random.choice((1, 1, 2, 2, 3, 4)))]
        if len(pool) > 1 and self.random.random() < 0.7:
            pool = [pool[i % len(pool)] for i in range(PHASES)]
        begin = Pattern((self._random_row(0.0, self.random.choice((None, 0, 1))),))
        return pool if self.random.random() < 0.5 else [begin, *pool]

    def _pattern(self) -> Pattern:
        likely = self.random.choice((0.0, 0.15, 0.3, 0.5, 0.7))
        certain = self.random.randrange(len(self.system.inputs))
        rows = tuple(self._random_row(likely, certain) for _ in range(self.random.choice((1, 1, 1, 1, 2, 3))))
        return Pattern(rows, self.random.choice((None, None, None, 1, 2, 3)))

    def _random_row(self, likely: float, certain: int | None) -> InputRow:
        return tuple(
            i == certain or self.random.random() < likely if v.type.kind == "bool" else self._value(v)
            for i, v in enumerate(self.system.inputs)
        )

    # Runs

    def take(self, schedule: Sequence[Pattern]) -> set[int]:
        """The open properties that are broken at the end of the run: nothing if it ends before."""
        self.asked = 0
        self.done: list[Pattern] = []
        return self._take(schedule, self.open, ask=True)

    def _take(self, schedule: Sequence[Pattern], wanted: set[int], *, ask: bool = False) -> set[int]:
        self.rows: list[InputRow] = []
        self.rounds: list[Rounds] = []
        state, still = self.initial, 0
        for pattern in schedule:
            if ask:
                possible = self._with_met_assumptions(state, pattern)
                if possible is None:
                    return set()
                pattern = possible
                self.done.append(pattern)
            phase = _Phase(pattern.rows, [state])
            broken = self._steps(phase, pattern.steps, wanted) if pattern.steps else self._hold(phase, wanted)
            if broken is None or broken:
                return broken or set()
            still = still + 1 if phase.states[-1] == state else 0
            if still > len(set(schedule)):
                return set()  # nothing moves any more
            state = phase.states[-1]
        return set()

    def _with_met_assumptions(self, state: Vector, pattern: Pattern) -> Pattern | None:
        """The pattern, or another one whose first row meets the assumptions."""
        for _ in range(20 if self.system.assumptions else 1):
            if self.step(*state, *pattern.rows[0]) is not None:
                return pattern
            pattern = self._pattern() if self.system.inputs else pattern
        if self.asked == MOST_ASKED:
            return None
        self.asked += 1
        row = self._solved_inputs(state)
        return None if row is None else Pattern((row,))

    def _hold(self, phase: _Phase, wanted: set[int]) -> set[int] | None:
        """Take the pattern until a round does something else than before, and again; or until all stays as it is. The
        properties that are broken; None if an assumption is."""
        for _ in range(JUMPS):
            for look in self.looks:
                broken = self._steps(phase, max(look, SAMPLES * len(phase.rows)) + 1 - len(phase.states), wanted)
                if broken is None or broken:
                    return broken
                times = self._jump(phase, look, wanted)
                if times is not None:
                    break
            if not times:
                break
        return set()

    def _jump(self, phase: _Phase, look: int, wanted: set[int]) -> int | None:
        """Leave out rounds until shortly before one that does something else; how many. None if there are few, 0 if
        nothing will ever happen."""
        for found in self._regular(phase):
            if all(len(series) == 1 for series in found.series):
                return 0
            ahead = self._rounds_ahead(found, wanted)
            if ahead is None:
                self._leave_out(phase, found, 1 << self.random.randrange(3, 40))
                return 0
            times = ahead + 1 - MARGIN
            if times * found.size >= FAR * look:
                self._leave_out(phase, found, times)
                return times
        return None

    def _steps(self, phase: _Phase, count: int, wanted: set[int]) -> set[int] | None:
        """Take so many steps, or as many as break nothing."""
        size = len(self.system.state)
        for _ in range(count):
            row = phase.row()
            self.taken += 1
            values = self.step(*phase.states[-1], *row)
            if values is None or (self.taken % 8 == 0 and any(map(is_huge, values))):
                return None
            self.rows.append(row)
            phase.states.append(values[:size])
            broken = {i for i in wanted if values[size + i] is False}
            if broken:
                return broken
        return set()

    # Rounds

    def _regular(self, phase: _Phase) -> Iterator[_Regular]:
        """Rounds that the last states suggest."""
        for size in self._sizes(phase):
            samples = phase.states[-1 - (SAMPLES - 1) * size :: size]
            series = [s for s in map(_series_through, zip(*samples, strict=True)) if s is not None]
            if len(series) == len(self.system.state):
                yield _Regular(size, series)

    def _sizes(self, phase: _Phase) -> Iterator[int]:
        """Numbers of steps that may be a round: as long as the pattern, or from one rare change to the next."""
        least, most = len(phase.rows), (len(phase.states) - 1) // (SAMPLES - 1)
        places: dict[tuple[Any, ...], list[int]] = {}
        for i, (before, after) in enumerate(pairwise(phase.states)):
            places.setdefault(_change(before, after), []).append(i)
        often = sorted((p for p in places.values() if len(p) > 1), key=len)
        sizes = [lcm(p[-1] - p[-2], least) for p in often[:RAREST]]
        yield from (size for size in dict.fromkeys([least, *sizes]) if size <= most)

    def _leave_out(self, phase: _Phase, found: _Regular, times: int) -> None:
        """Go on after so many rounds; all but the first of the samples are left out too."""
        begin = len(self.rows) - (SAMPLES - 1) * found.size
        del self.rows[begin + found.size :]
        self.rounds.append(Rounds(begin, begin + found.size, times + SAMPLES - 2))
        phase.states = [found.at(SAMPLES - 1 + times)]
        phase.rows = (*self.rows[begin:],)

    def _rounds_ahead(self, found: _Regular, wanted: set[int]) -> int | None:
        """The last round from now that does what those before do, as far as is seen; None if all do."""
        passed = 0
        for n in [*self._points(found), 1 << FARTHEST]:
            if n > passed and not self._goes_on(found, n, wanted):
                failed = n
                while failed - passed > 1:
                    middle = (failed + passed) // 2
                    if self._goes_on(found, middle, wanted):
                        passed = middle
                    else:
                        failed = middle
                return passed
            passed = max(passed, n)
        return None

    def _points(self, found: _Regular) -> list[int]:
        """Numbers of rounds at which something may happen, and powers of two."""
        points = {1 << i for i in range(FARTHEST)}
        for state, series in zip(self.system.state, found.series, strict=True):
            if len(series) == 2:
                type = state.var.type
                ends = [type.low, type.high] if isinstance(type, MachineType) else []
                for value in [*self.pool.get(type, []), *ends]:
                    n = int((value - series[0]) // series[1]) - SAMPLES + 1
                    points.update(n + i for i in (-1, 0, 1))
            if len(points) > MOST_POINTS:
                break
        return sorted(n for n in points if n > 0)

    def _goes_on(self, found: _Regular, n: int, wanted: set[int]) -> bool:
        """True if round n from now leads to the state that the series say, and breaks nothing."""
        state, size = found.at(SAMPLES - 1 + n), len(self.system.state)
        for row in self.rows[-found.size :]:
            self.taken += 1
            values = self.step(*state, *row)
            if values is None or any(values[size + i] is False for i in wanted):
                return False
            state = values[:size]
        return all(map(identical, state, found.at(SAMPLES + n)))

    # Violations

    def simplest(self, best: Trace, prop: int) -> Trace:
        """A run that breaks the property at its end: this one, or one of fewer phases and simpler inputs."""
        patterns, left = list(self.done), SHRINKING

        def accept(changed: list[Pattern]) -> bool:
            nonlocal patterns, best, left
            left -= 1
            if left < 0 or not changed or not self._take(changed, {prop}) or self.trace().length > best.length:
                return False
            patterns, best = changed, self.trace()
            return True

        size = len(patterns)
        while size:
            start = 0
            while start < len(patterns):
                if not accept([*patterns[:start], *patterns[start + size :]]):
                    start += size
            size //= 2
        for i, var in enumerate(self.system.inputs):
            for simple in self._simple_values(var):
                if any(row[i] == simple for pattern in patterns for row in pattern.rows):
                    break
                if accept([pattern.with_value(i, simple) for pattern in patterns]):
                    break
            for place, pattern in enumerate(patterns):
                plain = pattern.with_value(i, default(var.type))
                if plain != pattern:
                    accept([*patterns[:place], plain, *patterns[place + 1 :]])
        return best

    def _simple_values(self, var: Term) -> list[Value]:
        """The default, and small numbers at constants of the spec."""
        if var.type.kind not in ("integer", "signed", "unsigned"):
            return [default(var.type)]
        most = var.type.high if isinstance(var.type, MachineType) else None
        near = (v for v in self.pool.get(var.type, []) if isinstance(v, int) and v > 0 and (most is None or v <= most))
        return [default(var.type), *sorted(set(near))[:MOST_SIMPLE]]

    def trace(self) -> Trace:
        names = [v.payload for v in self.system.inputs]
        chosen = zip(self.system.state, self.initial, strict=True)
        constants = {str(s.var.payload): value for s, value in chosen if s.init is None}
        return Trace(constants, tuple(dict(zip(names, row, strict=True)) for row in self.rows), tuple(self.rounds))

    def with_every_step(self, trace: Trace, prop: int) -> Trace:
        """A short run step by step, up to where it breaks the property. As it is if it does not: what looked regular
        was not then, and the replay says so."""
        if not trace.rounds or trace.length > SHORT:
            return trace
        rows = list(trace.inputs)
        for part in reversed(trace.rounds):
            rows[part.end : part.end] = rows[part.begin : part.end] * part.times
        state, size = self.initial, len(self.system.state)
        for number, row in enumerate(rows, 1):
            values = self.step(*state, *row.values())
            if values is None:
                break
            if values[size + prop] is False:
                return Trace(trace.constants, tuple(rows[:number]))
            state = values[:size]
        return trace


@dataclass(frozen=True, slots=True)
class _Regular:
    """Rounds of so many steps, and what they make of each variable: the series of its values after each, of which the
    state now is the last sample."""

    size: int
    series: Sequence[Growth]

    def at(self, i: int) -> Vector:
        return tuple(s[0] if len(s) == 1 else sum(a * comb(i, k) for k, a in enumerate(s)) for s in self.series)


def _series_through(values: Sequence[Any]) -> Growth | None:
    """The polynomial through the values, if it is one of low degree; or the one value."""
    if all(identical(value, values[0]) for value in values):
        return (values[0],)
    if isinstance(values[0], bool | float | tuple):
        return None
    factors, row = [], list(values)
    while any(row):
        factors.append(row[0])
        row = [y - x for x, y in pairwise(row)]
    return tuple(factors) if len(factors) <= DEGREE + 1 else None


def _change(before: Vector, after: Vector) -> tuple[Any, ...]:
    """How numbers change, and the rest as it is."""
    pairs = zip(before, after, strict=True)
    return tuple(b if isinstance(b, bool | float | tuple | str) else b - a for a, b in pairs)  # type: ignore[operator]
