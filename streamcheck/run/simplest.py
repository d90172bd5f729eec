"""The simplest run beside a violation: fewer steps, fewer changes of the inputs, simpler values.

A solver chooses any values that fit. Here other runs are executed, in compiled Python, and one that breaks the
property and is simpler takes the place of the run before. In the end the checker replays it; if that fails, the
solver's run stays.

    steps     parts of the run are left out, unless every shorter run is known to be none
    changes   an input keeps one value, or the value before or after
    values    small ones, those at constants of the spec, others by bisection or with fewer digits

The work is bounded by the number of executed nodes, so the same run always has the same answer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, product
from typing import Any, TypeAlias

from streamcheck.certify.replay import replay
from streamcheck.core.evaluate import value_of
from streamcheck.core.python import PythonWriter
from streamcheck.core.term import Term, walk
from streamcheck.core.types import Type, Value, assemble, part_names, scalar_parts
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Trace
from streamcheck.run.simpler_values import complexity, constants_of, reduce_value, simple_values
from streamcheck.transform.part import part_for

MOST_WORK = 1_000_000  # executed nodes for one violation: about 0.1 s
PRICE_OF_CODE = 20  # nodes that are executed while one is compiled
MOST_ROUNDS = 4
MOST_OWN = 4  # values of an input's own that are tried for all steps
MOST_VALUES, MOST_COMBINATIONS = 8, 512  # of an input and of all, if all are tried at the same time

Scalars: TypeAlias = "tuple[Value, ...]"
ScalarPart: TypeAlias = "tuple[str, Type, str]"  # a scalar: its name, its type, the variable that it is a part of


@dataclass(frozen=True, slots=True)
class ChosenRun:
    """The choices of a run: the constants and the first values of free cells, and the inputs of each step."""

    fixed: Scalars
    rows: tuple[Scalars, ...]

    def with_part(self, place: int, begin: int, end: int, value: Value) -> ChosenRun:
        """The run in which an input has this value at these steps."""
        changed = ((*row[:place], value, *row[place + 1 :]) for row in self.rows[begin:end])
        return ChosenRun(self.fixed, (*self.rows[:begin], *changed, *self.rows[end:]))


class Machine:
    """Executes what a claim and the assumptions depend on."""

    def __init__(self, specification: Specification, claim: Claim) -> None:
        """`specification` has no more than that."""
        self.assumed = [a.term for a in specification.assumptions]
        self.invariant = claim.invariant
        self.cells = list(specification.cells)
        self.free = [c for c in self.cells if c.free]
        self.constants = [c.var for c in specification.constants]
        self.inputs = [i.var for i in specification.inputs]
        self.fixed_parts = _parts([*self.constants, *(c.var for c in self.free)])
        self.input_parts = _parts(self.inputs)
        self.roots = [*self.assumed, self.invariant, *(c.next for c in self.cells)]
        self.price = 1 + sum(1 for _ in walk(self.roots))
        self._initial = {c.name: value_of(c.initial, {}) for c in self.cells}

    def first_state(self, fixed: Scalars) -> Scalars:
        parts = iter(fixed[len(self.fixed_parts) - len(_parts([c.var for c in self.free])) :])
        given = {c.name: assemble(c.initial.type, parts) for c in self.free}
        return tuple(given.get(c.name, self._initial[c.name]) for c in self.cells)

    def code(self) -> Callable[..., tuple[Any, ...] | None]:
        """A function from the fixed parts, the state and the parts of the inputs to whether the claim is true and the
        next state. It returns None if an assumption is false."""
        writer = PythonWriter(self.roots, {})
        fixed = [f"f{i}" for i in range(len(self.fixed_parts))]
        given = [f"i{i}" for i in range(len(self.input_parts))]
        for variables, names in ((self.constants, iter(fixed)), (self.inputs, iter(given))):
            for var in variables:
                whole = _tuple_text(assemble(var.type, names))  # type: ignore[arg-type]
                if var.type.kind in ("array", "struct"):
                    writer.lines.append(f"w{len(writer.lines)} = {whole}")
                    whole = f"w{len(writer.lines) - 1}"
                writer.name(var, whole)
        state = [f"c{i}" for i in range(len(self.cells))]
        for name, cell in zip(state, self.cells, strict=True):
            writer.name(cell.var, name)
        for term in self.assumed:
            text = writer.expression(term)
            writer.lines.append(f"if not {text}: return None")
        results = [writer.expression(t) for t in (self.invariant, *(c.next for c in self.cells))]
        body = [*writer.lines, f"return ({', '.join(results)},)"]
        exec("\n    ".join([f"def step({', '.join([*fixed, *state, *given])}):", *body]), writer.namespace)
        made: Callable[..., tuple[Any, ...] | None] = writer.namespace["step"]
        return made


def _tuple_text(names: Any) -> str:
    """The text of nested tuples of names."""
    return f"({''.join(f'{_tuple_text(n)}, ' for n in names)})" if isinstance(names, tuple) else str(names)


def _parts(variables: Sequence[Term]) -> list[ScalarPart]:
    return [(name, type, str(v.payload)) for v in variables for name, type in part_names(str(v.payload), v.type)]


class OutOfWork(Exception):
    """The bound on the work is reached."""


class Simplification:
    """The search from one run to simpler ones. `run` is the simplest so far."""

    def __init__(self, machine: Machine, run: ChosenRun, matters: set[str], work: int) -> None:
        self.machine = machine
        self.run = run
        self.work = work - PRICE_OF_CODE * machine.price
        self.constants = constants_of(machine.roots)
        self.places = [i for i, (_, _, var) in enumerate(machine.input_parts) if var in matters]
        self.fixed_places = [i for i, (_, _, var) in enumerate(machine.fixed_parts) if var in matters]
        self.progress = False
        self._states: list[Scalars] = []  # before each step of the run

    def search(self, *, shorten: bool) -> None:
        """Make the run simpler, as far as the work goes."""
        if self.work < 0:
            return
        try:
            self.step = self.machine.code()
            if not self._accepts(self.run, 0):
                return
            self._change_rarely()
            for _ in range(MOST_ROUNDS):
                self.progress = False
                if shorten:
                    self._leave_out_steps()
                for place in self.places:
                    self._change_less(place)
                self._simplify_equal_values()
                self._simplify_values()
                if not self.progress:
                    return
        except OutOfWork:
            return

    def _accepts(self, run: ChosenRun, begin: int) -> bool:
        """Take the run, which is the one so far before step `begin`, if it breaks the claim."""
        return self._takes(run, self._states[: begin + 1] or [self.machine.first_state(run.fixed)])

    def _takes(self, run: ChosenRun, states: list[Scalars]) -> bool:
        """The same of a run whose first states are known."""
        if not self._execute(run, states):
            return False
        self.run, self._states = ChosenRun(run.fixed, run.rows[: len(states)]), states
        self.progress = True
        return True

    def _execute(self, run: ChosenRun, states: list[Scalars]) -> bool:
        """Execute the run after its known states, to which the others are added. True if it breaks the claim: in the
        last of them."""
        for row in run.rows[len(states) - 1 :]:
            self.work -= self.machine.price
            if self.work < 0:
                raise OutOfWork
            try:
                after = self.step(*run.fixed, *states[-1], *row)
            except (ArithmeticError, MemoryError, ValueError):
                return False
            if after is None:
                return False
            if after[0] is not True:
                return True
            states.append(after[1:])
        return False

    def _change_rarely(self) -> None:
        """Inputs that never change, or of which one changes once, all at the same time."""
        changes = sum(len(self._segments(place)) - 1 for place in self.places)
        options = [self._few_values(place) for place in self.places]
        if math.prod(map(len, options)) > MOST_COMBINATIONS or (self.fixed_places and not changes):
            return
        length, least = len(self.run.rows), self.work // 2
        rows = [self._constant_row(values) for values in product(*options)]
        constant = [replace(self.run, rows=(row,) * length) for row in rows]
        executed = [[self.machine.first_state(self.run.fixed)] for _ in constant]
        if any(map(self._takes, constant, executed)) or changes <= 1:
            return
        for run, states in zip(constant, executed, strict=True):
            for (place, values), begin in product(zip(self.places, options, strict=True), range(1, len(states))):
                for value in values:
                    if self.work < least:
                        return
                    if self._takes(run.with_part(place, begin, length, value), states[: begin + 1]):
                        return

    def _few_values(self, place: int) -> list[Value]:
        """Values that the input has in the run, some constants of its type, and simple ones: the simplest first."""
        _, type, _ = self.machine.input_parts[place]
        own = [self.run.rows[begin][place] for begin, _ in self._segments(place)[:MOST_OWN]]
        constants = self.constants.get(type, [])[:MOST_OWN]
        values = {repr(v): v for v in (*own, *constants, *simple_values(type, ())[:2])}
        return sorted(list(values.values())[:MOST_VALUES], key=partial(complexity, type))

    def _constant_row(self, values: Sequence[Value]) -> Scalars:
        row = list(self.run.rows[0])
        for place, value in zip(self.places, values, strict=True):
            row[place] = value
        return tuple(row)

    def _leave_out_steps(self) -> None:
        size = len(self.run.rows) // 2
        while size:
            begin = 0
            while begin + size <= len(self.run.rows) and len(self.run.rows) > size:
                rows = (*self.run.rows[:begin], *self.run.rows[begin + size :])
                if not self._accepts(replace(self.run, rows=rows), begin):
                    begin += size
            size //= 2

    def _segments(self, place: int) -> list[tuple[int, int]]:
        """The steps in a row, from and to before, at which an input has one value."""
        begin, found = 0, []
        for _, group in groupby(repr(row[place]) for row in self.run.rows):  # which tells -0.0 from 0.0
            end = begin + sum(1 for _ in group)
            found.append((begin, end))
            begin = end
        return found

    def _change_less(self, place: int) -> None:
        """One value for all steps, or for neighbours."""
        segments = self._segments(place)
        if len(segments) < 2:
            return
        _, type, _ = self.machine.input_parts[place]
        own = [self.run.rows[begin][place] for begin, _ in segments[:MOST_OWN]]
        for value in [*simple_values(type, self.constants.get(type, ())), *own]:
            if self._accepts(self.run.with_part(place, 0, len(self.run.rows), value), 0):
                return
        number = 0
        while number < len(segments := self._segments(place)):
            begin, end = segments[number]
            near = [self.run.rows[i][place] for i in (begin - 1, end) if 0 <= i < len(self.run.rows)]
            if not any(self._accepts(self.run.with_part(place, begin, end, value), begin) for value in near):
                number += 1

    def _simplify_equal_values(self) -> None:
        """Other values in the place of those that are in several places: what has to be equal stays equal."""
        seen: Counter[tuple[Type, str]] = Counter()
        values: dict[tuple[Type, str], Value] = {}
        for place in self.places:
            _, type, _ = self.machine.input_parts[place]
            for begin, _ in self._segments(place):
                value = self.run.rows[begin][place]
                seen[type, repr(value)] += 1
                values[type, repr(value)] = value
        for (type, text), times in seen.most_common():
            if times > 1:
                accepts = partial(self._accepts_for_equal, type, [text])
                reduce_value(type, values[type, text], self.constants.get(type, ()), accepts)

    def _accepts_for_equal(self, type: Type, now: list[str], value: Value) -> bool:
        """Take the value in the place of all of a type whose text is `now`, which is updated."""
        places = {place for place in self.places if self.machine.input_parts[place][1] is type}
        rows = tuple(
            tuple(value if i in places and repr(old) == now[0] else old for i, old in enumerate(row))
            for row in self.run.rows
        )
        if not self._accepts(replace(self.run, rows=rows), 0):
            return False
        now[0] = repr(value)
        return True

    def _simplify_values(self) -> None:
        for place in self.fixed_places:
            _, type, _ = self.machine.fixed_parts[place]
            accepts = partial(self._accepts_fixed, place)
            reduce_value(type, self.run.fixed[place], self.constants.get(type, ()), accepts)
        for place in self.places:
            _, type, _ = self.machine.input_parts[place]
            for begin, end in self._segments(place):
                if begin < len(self.run.rows):
                    accepts = partial(self._accepts_part, place, begin, end)
                    reduce_value(type, self.run.rows[begin][place], self.constants.get(type, ()), accepts)

    def _accepts_part(self, place: int, begin: int, end: int, value: Value) -> bool:
        return self._accepts(self.run.with_part(place, begin, end, value), begin)

    def _accepts_fixed(self, place: int, value: Value) -> bool:
        fixed = (*self.run.fixed[:place], value, *self.run.fixed[place + 1 :])
        states, self._states = self._states, []
        if self._accepts(replace(self.run, fixed=fixed), 0):
            return True
        self._states = states
        return False


def simplest_run(
    specification: Specification, claim: Claim, run: Replay, *, shorten: bool, work: int = MOST_WORK
) -> tuple[Trace, Replay] | None:
    """The simplest run beside this one that breaks the claim (or reaches it), replayed; None if that fails."""
    part = _part(specification, claim)
    machine = Machine(part, claim)
    search = Simplification(machine, _choices(machine, run), set().union(*run.matters), work)
    search.search(shorten=shorten)
    simplest = replay(part, claim, _trace(machine, search.run))
    if not isinstance(simplest, Replay):
        return None
    trace = _trace(machine, _choices(machine, simplest))
    replayed = replay(specification, claim, trace)
    return (trace, replayed) if isinstance(replayed, Replay) else None


def _part(specification: Specification, claim: Claim) -> Specification:
    """The part that decides if a run breaks the claim, which is often small."""
    return replace(part_for(specification, [claim.term]), properties=(claim,))


def _choices(machine: Machine, run: Replay) -> ChosenRun:
    """The choices of a replayed run. An input that does not matter keeps the value that it had, or will have."""
    columns: list[list[Value]] = []
    for var in machine.inputs:
        before = next((i for i, names in enumerate(run.matters) if var.payload in names), 0)
        column = []
        for i, names in enumerate(run.matters):
            before = i if var.payload in names else before
            column.append(run.steps[before][var])
        columns.append(column)
    fixed = [run.steps[0][var] for var in (*machine.constants, *(c.var for c in machine.free))]
    rows = tuple(tuple(scalar_parts(row)) for row in zip(*columns, strict=True))
    return ChosenRun(tuple(scalar_parts(tuple(fixed))), rows or ((),) * len(run.steps))


def _trace(machine: Machine, run: ChosenRun) -> Trace:
    fixed = dict(zip((name for name, _, _ in machine.fixed_parts), run.fixed, strict=True))
    names = [name for name, _, _ in machine.input_parts]
    return Trace(fixed, tuple(dict(zip(names, row, strict=True)) for row in run.rows))
