"""Loops whose rounds are alike, by one relation between the memory before a round and after it.

    for (uint32_t i = 0u; i < 10000u; i++) { total = total + age[i]; age[i] = age[i] + x[i]; }

The body is executed once, for a counter that may be any number in its range. A variable stands for each value that it
reads of the memory before the round (total, age[i], x[i]), and for each that it computes and stores. The side
conditions are proved for all values of these variables. A round then only gives the variables their values: it reads
what the places hold, and what it stores is an instance of one term of the equations, which is proved once, for all
values of the variables, to be what the body computes. So a round costs as much as looking up a few terms.

    alike        the term with variables of which the equations' terms in the rounds 1 and 2 are instances
    position     the index of a ring that every round moves on: in round r it is r times as far

A place that the body reads after it has written to one that may be the same has no single value here: such a loop is
executed round by round, and so is one that calls handlers, returns, contains a loop or changes its counter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, assert_never

from streamcheck.c import kinds
from streamcheck.c.declarations import NameScope
from streamcheck.c.kinds import AnyKind, Floating, Integer, Struct
from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.simplify import conjunction, implication, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variables, walk
from streamcheck.core.types import Type
from streamcheck.validate.discharge import equal
from streamcheck.validate.memory import Memory, Part
from streamcheck.validate.ring_walk import WORD, index_after, is_moved

if TYPE_CHECKING:
    from streamcheck.validate.execution import Demanded, Execution

FEWEST = 4  # rounds; the terms of the equations in the first may be simpler than in the others
DEEPEST = 60  # operators of a term that all rounds share


class NotAlike(Exception):
    """The loop has to be executed round by round."""


@dataclass(frozen=True, slots=True)
class RoundTerm:
    """A term over the first variables of a round, by the operations that depend on them."""

    slots: Mapping[Term, int]  # the numbers of the variables
    root: Term | int  # the number of a value
    steps: tuple[tuple[Term, tuple[Term | int, ...]], ...]

    def instance(self, slots: Sequence[Term], make: Callable[..., Term]) -> Term:
        """The term for these values of the variables."""
        if not self.steps:
            return slots[self.root] if isinstance(self.root, int) else self.root
        values = list(slots[: len(self.slots)])
        for node, args in self.steps:
            given = [values[a] if isinstance(a, int) else a for a in args]
            values.append(make(node.op, *given, payload=node.payload))
        return values[self.root] if isinstance(self.root, int) else self.root


def template_of(root: Term, slots: Mapping[Term, int]) -> RoundTerm:
    """The template of a term. `slots`: the numbers of the variables."""
    numbers = dict(slots)
    steps: list[tuple[Term, tuple[Term | int, ...]]] = []
    for node in walk([root]):
        if node not in slots and any(a in numbers for a in node.args):
            steps.append((node, tuple(numbers.get(a, a) for a in node.args)))
            numbers[node] = len(numbers)
    return RoundTerm(slots, numbers.get(root, root), tuple(steps))


@dataclass(slots=True)
class RoundRead:
    """A value that a round finds in a place. The indices of the place are terms of the round."""

    place: Lvalue
    indices: tuple[RoundTerm, ...]


@dataclass(slots=True)
class RoundStep:
    """A value that a round computes, first as the body says and then as the equations do. `position`: a ring's index,
    its length, and the distances of the value from the index in the first round and from one round to the next."""

    value: Term
    template: RoundTerm
    make: Callable[..., Term] = simple_term
    is_known: bool = True  # to the equations
    position: tuple[Term, int, int, int] | None = None


class RoundMemory(Memory):
    """The memory in a round: objects of the body's own, and places of the memory before the round."""

    def __init__(self, before: Memory, carried: set[Lvalue], run: Execution) -> None:
        super().__init__()
        self.before = before
        self.carried = carried  # places without a variable index that rounds change
        self.found_carried: set[Lvalue] = set()
        self.unknown, self.settle, self.types_of = run.unknown, run.settle, run.types_of
        self.numbers, self.rings, self.hidden, self.frozen = before.numbers, before.rings, before.hidden, before.frozen
        self.unset = {object for (object, _), when in before.indeterminate.items() if when is not FALSE}
        self.own: set[Object] = set()
        self.counter = run.unknown(WORD)
        self.values: list[RoundRead | RoundStep] = []
        self.slots = {self.counter: 0}
        self.invariant: set[Lvalue] = set()
        self.written: dict[Lvalue, None] = {}
        self._named: dict[Term, Term] = {}

    def add(self, kind: AnyKind, name: str, parts: list[Term], *, constant: bool = False) -> Lvalue:
        made = super().add(kind, name, parts, constant=constant)
        self.own.add(made.object)
        return made

    def name(self, value: Term) -> Term:
        """The variable that stands for a value of the round."""
        if value.is_const or value in self.slots:
            return value
        if value not in self._named:
            if self.slots.keys().isdisjoint(variables([value])):
                return self.settle(value)
            self._named[value] = self._variable(value.type, RoundStep(value, self.template(value)))
        return self._named[value]

    def _variable(self, type: Type, value: RoundRead | RoundStep) -> Term:
        made = self.unknown(type)
        self.values.append(value)
        self.slots[made] = len(self.slots)
        return made

    def template(self, value: Term) -> RoundTerm:
        return template_of(value, dict(self.slots))

    # Access

    def read(self, lvalue: Lvalue) -> list[Term]:
        if lvalue.object in self.own:
            return super().read(lvalue)
        if isinstance(lvalue.kind, Struct):
            return [part for each in lvalue.scalars(pointers=False) for part in self.read(each)]
        place = _place(lvalue)
        is_known = _part(place) in self.parts
        if any(_may_be_same(place, other) for other in self.written if other != place or not is_known):
            raise NotAlike
        if not is_known:
            self.parts[_part(place)] = self._value_before(place)
        return [self.parts[_part(place)]]

    def _value_before(self, place: Lvalue) -> Term:
        """The value of the place before the round."""
        if place.object in self.unset:
            raise NotAlike
        if place not in self.carried and all(i.is_const for i in place.indices):
            self.invariant.add(place)
            if any(_may_be_same(place, other) for other in self.written):
                self.found_carried.add(place)
            return self.before.read(place)[0]
        (type,) = self.types_of(place.kind)
        return self._variable(type, RoundRead(place, tuple(self.template(i) for i in place.indices)))

    def write(self, lvalue: Lvalue, values: list[Term], live: Term) -> None:
        if lvalue.object in self.own:
            super().write(lvalue, values, live)
            return
        place = _place(lvalue)
        if self.numbers[place.object] <= self.frozen or live is not TRUE:
            raise NotAlike
        self.found_carried.update(other for other in self.invariant if _may_be_same(place, other))
        if any(other != place and _may_be_same(place, other) for other in self.written):
            raise NotAlike
        self.written[place] = None
        (self.parts[_part(place)],) = values

    def has_no_value(self, lvalue: Lvalue) -> Term:
        if lvalue.object in self.own:
            return super().has_no_value(lvalue)
        return FALSE  # a place that may have none is never read

    def merge(self, condition: Term, parts: dict[Part, Term], indeterminate: dict[Part, Term]) -> None:
        for place in self.written:
            for some in (parts, self.parts):
                if _part(place) not in some:
                    some[_part(place)] = self._value_before(place)
        super().merge(condition, parts, indeterminate)


def _place(lvalue: Lvalue) -> Lvalue:
    if not isinstance(lvalue.kind, Integer | Floating):
        raise NotAlike
    return Lvalue(lvalue.object, lvalue.kind, lvalue.fields, lvalue.indices)


def _part(place: Lvalue) -> Part:
    return (place, 0)  # type: ignore[return-value]


def _may_be_same(a: Lvalue, b: Lvalue) -> bool:
    """True if two scalars may be one: of the same member, with no index of which both are known and different."""
    if a.object is not b.object or a.fields != b.fields:
        return False
    pairs = zip(a.indices, b.indices, strict=True)
    return not any(x.is_const and y.is_const and x.payload != y.payload for x, y in pairs)


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop: the declaration of its counter, the values that this has, what is true of them, the body, and an
    expression that no round may change."""

    counter: Any
    images: Sequence[Term]
    limit: Callable[[Term], Term]
    body: Any
    bound: Any


class LoopRounds:
    """One loop in an execution."""

    def __init__(self, run: Execution, count: CountedLoop) -> None:
        self.run = run
        self.count = count
        self.live = run.live()

    def are_done(self) -> bool:
        """True if the rounds are executed; else nothing has changed."""
        run = self.run
        if isinstance(run.memory, RoundMemory):
            raise NotAlike
        kept = run.memory, run.scope, run.settle, run.frame, run.path, run.acting, dict(run.links)
        demands, calls = len(run.demands), len(run.calls)
        try:
            memory = self._execute()
            alike = len(run.calls) == calls and run.links == kept[-1] and run.frame.returned is FALSE
        except (NotAlike, SpecError):
            alike = False
        own = run.demands[demands:]
        run.memory, run.scope, run.settle, run.frame, run.path, run.acting, run.links = kept
        del run.demands[demands:], run.calls[calls:]
        if alike:
            self._apply(memory, own)
        return alike

    def _execute(self) -> RoundMemory:
        """The memory after the body was executed for any round."""
        run, before, scope, frame = self.run, self.run.memory, self.run.scope, self.run.frame
        carried: set[Lvalue] = set()
        bound = run.scalar(self.count.bound)
        run.path = conjunction(run.path, self.live)
        demands = len(run.demands)
        while True:
            del run.demands[demands:]
            run.memory = memory = RoundMemory(before, carried, run)
            run.scope, run.settle, run.frame = NameScope(scope), memory.name, type(frame)(frame.function)
            counter = memory.add(kinds.UINT, self.count.counter.name, [memory.counter])
            run.scope.names[self.count.counter.name] = counter
            run.statement(self.count.body)
            run.settle = memory.settle
            if memory.read(counter) != [memory.counter] or run.scalar(self.count.bound) != bound:
                raise NotAlike
            if not memory.found_carried:
                return memory
            carried |= memory.found_carried

    # The relation, applied to the rounds in turn

    def _apply(self, memory: RoundMemory, demands: list[Demanded]) -> None:
        before = memory.before
        left = [place for place in memory.written if _part(place) in memory.parts]  # not in statements never reached
        writes = [(place, self._templates(memory, place)) for place in left]
        open_demands = [
            (d, memory.template(d.path), memory.template(d.claim))
            for d in demands
            if not self._is_proved(memory, implication(d.path, d.claim))
        ]
        self._find_positions(memory)
        rounds: list[list[Term]] = []
        for number, image in enumerate(self.count.images):
            slots = [image]
            for value in memory.values:
                slots.append(self._value(before, value, slots, number))
            stored = [[t.instance(slots, simple_term) for t in templates] for _, templates in writes]
            for (place, _), (new, *indices) in zip(writes, stored, strict=True):
                before.write(replace(place, indices=tuple(indices)), [new], self.live)
            for demand, path, claim in open_demands:
                given, holds = (t.instance(slots, simple_term) for t in (path, claim))
                if holds is not TRUE and given is not FALSE:
                    self.run.demands.append(replace(demand, path=given, claim=holds))
            if number < FEWEST:
                rounds.append(slots)
            if number == FEWEST - 1:
                self._find_templates(memory, rounds[1], rounds[2])

    @staticmethod
    def _templates(memory: RoundMemory, place: Lvalue) -> list[RoundTerm]:
        return [memory.template(t) for t in (memory.parts[_part(place)], *place.indices)]

    def _value(self, before: Memory, value: RoundRead | RoundStep, slots: list[Term], number: int) -> Term:
        """The value of a variable in a round."""
        match value:
            case RoundRead(place, indices):
                given = tuple(i.instance(slots, simple_term) for i in indices)
                return before.read(replace(place, indices=given))[0]
            case RoundStep(position=(index, length, first, step)):
                return index_after(index, (first + number * step) % length, length)
            case RoundStep():
                found = value.template.instance(slots, value.make)
                return self.run.settle(found) if value.is_known else found
        assert_never(value)

    def _is_proved(self, memory: RoundMemory, claim: Term) -> bool:
        """True if a claim about the variables of a round holds for all their values."""
        return self.run.proves(implication(self.count.limit(memory.counter), claim))

    def _find_templates(self, memory: RoundMemory, one: list[Term], two: list[Term]) -> None:
        """Give the steps the terms whose instances are those of the equations in two rounds. A step that has none is
        part of those that follow."""
        parts: dict[Term, Term] = {}
        for (var, number), value in zip(list(memory.slots.items())[1:], memory.values, strict=True):
            if not isinstance(value, RoundStep) or value.position is not None:
                continue
            whole = substitute([value.value], parts)[value.value]
            used = {v: memory.slots[v] for v in variables([whole]) if v in memory.slots}
            alike = alike_term(one[number], two[number], {(one[n], two[n]): v for v, n in used.items()})
            if alike is not None and alike is not whole and self._is_proved(memory, equal(whole, alike)):
                value.template, value.make = template_of(alike, value.template.slots), term
                continue
            parts[var] = whole
            value.is_known = any(value.template.instance(r, simple_term) is not r[number] for r in (one, two))

    def _find_positions(self, memory: RoundMemory) -> None:
        """Give the steps that move the index of a ring their distances."""
        for place in memory.written if self.live is TRUE else ():
            number = memory.slots.get(memory.parts.get(_part(place), TRUE), 0)
            step = memory.values[number - 1] if number else None
            if not isinstance(step, RoundStep) or step.value.type is not WORD:
                continue
            own = [v for v in variables([step.value]) if v in memory.slots]
            found = memory.values[memory.slots[own[0]] - 1] if len(own) == 1 and own[0] is not memory.counter else None
            if isinstance(found, RoundRead) and found.place == place and not place.indices:
                step.position = self._position(step.value, own[0], memory.before.read(place)[0])

    def _position(self, after: Term, at: Term, start: Term) -> tuple[Term, int, int, int] | None:
        """The position that a step moves, from where it starts, if both are proved."""
        (index, *others) = variables([start]) or [start]
        length = self.run.ring_lengths.get(index)
        if length is None or others or variables([after]) != [at]:
            return None
        first, moved = (int(value_of(t, {v: 0})) % length for t, v in ((start, index), (after, at)))  # type: ignore[arg-type]
        claims = [
            is_moved(start, index, first, length),
            implication(term("lt", at, constant(WORD, length)), is_moved(after, at, moved, length)),
        ]
        return (index, length, first + moved, moved) if all(self.run.proves(c) for c in claims) else None


def alike_term(a: Term, b: Term, known: dict[tuple[Term, Term], Term | None], depth: int = 0) -> Term | None:
    """The term over variables whose instances are both terms, None if there is none. `known`: the variables by their
    values; the results are kept there."""
    if (a, b) in known or a is b:
        return known.get((a, b), a)
    if depth > DEEPEST or (a.op, a.payload, len(a.args)) != (b.op, b.payload, len(b.args)):
        return None
    args = [alike_term(x, y, known, depth + 1) for x, y in zip(a.args, b.args, strict=True)]
    found = [x for x in args if x is not None]
    known[a, b] = term(a.op, *found, payload=a.payload) if args and found == args else None
    return known[a, b]
