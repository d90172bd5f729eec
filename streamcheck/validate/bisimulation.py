"""What is shown of the generated C: it simulates the equations.

    initial     after NAME_init (or before the first step()), every cell's place holds the cell's initial value
    step        from any state in which every place holds its cell, one step calls the handlers of the triggers whose
                guards are true, in order, once each, with the arguments' values, and leaves every place holding the
                cell's next value
    observers   where they are compiled, hold their terms' values after the step
    checked     a step whose enums hold no value of theirs, as far as the code tests that, does nothing
    defined     nothing on the way is undefined or left open by the standard (`arithmetic`), no index is outside
    inputs      are read before the first handler is called, for a handler may change them

By induction every run of the C is a run of the equations. The relation is given with the code and is not trusted: with
a wrong one these claims fail. A ring's index is any number below its length; element (index + position) mod length
holds the cell, at every index.

Taken for granted: the compiler, an int of 32 bits, IEEE 754 with every operation rounded (the code checks both), that
handlers neither call the step nor write to the state, and that the functions of math.h below `floor` are the ones the
equations mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streamcheck.core.evaluate import value_of
from streamcheck.core.simplify import conjunction, disjunction, implication, negation
from streamcheck.core.term import FALSE, TRUE, Term, term, variable, variables, walk
from streamcheck.core.term import constant as literal
from streamcheck.core.types import ArrayType, EnumType, MachineType, StructType, Type, machine
from streamcheck.problem.places import Code, Place
from streamcheck.transform.scalars import scalars
from streamcheck.validate.arithmetic import INT, recast
from streamcheck.validate.declarations import Declarations
from streamcheck.validate.discharge import QUICK, SECONDS, Equals, Prover, Values, cut, equal, member, pair_claim
from streamcheck.validate.machine import Machine, Value
from streamcheck.validate.memory import Designation, leaves, width
from streamcheck.validate.memory import Place as Part
from streamcheck.validate.reader import Refused, parse

REPEATS = 12


@dataclass(frozen=True, slots=True)
class Outcome:
    """Proved where `failures` is empty."""

    failures: tuple[str, ...]
    claims: int
    questions: int  # to the solver
    seconds: float

    @property
    def proved(self) -> bool:
        return not self.failures


@dataclass(frozen=True, slots=True)
class Goal:
    what: str
    claim: Term


def validate(code: Code, seconds: float = SECONDS) -> Outcome:
    """Whether the C does what the equations say, for all inputs and all time. `seconds` are for one question to the
    solver; what it does not answer is not proved."""
    began = time.monotonic()
    try:
        declared = Declarations(parse(code.files, f"{code.equations.name}.c"))
        failures, claims, questions = Bisimulation(code, declared, seconds).judged()
    except RecursionError:
        failures, claims, questions = ["the C could not be followed: a recursion, or too deep"], 0, 0
    except Refused as why:
        failures, claims, questions = [f"the C could not be followed: {why}"], 0, 0
    return Outcome(tuple(failures), claims, questions, time.monotonic() - began)


class Bisimulation:
    def __init__(self, code: Code, declared: Declarations, seconds: float) -> None:
        self.seconds = seconds
        self.code = code
        self.declared = declared
        self.equations = code.equations
        self.name = code.equations.name
        self.cells = [c for c in self.equations.cells if c.name in code.places]
        self.observers = self.equations.observers if code.observers else ()
        self.parts = scalars(self.equations.variables())
        scalars(self._roots(), self.parts)
        self.indices = self._indices()
        self.goals: list[Goal] = []
        self.tested: set[Term] = set()  # conditions under which a step turns away its inputs

    def _roots(self) -> Iterator[Term]:
        for trigger in self.equations.triggers:
            yield from trigger.terms()
        yield from (o.term for o in self.observers)
        for cell in self.cells:
            yield cell.next

    def _indices(self) -> dict[str, tuple[Term, int]]:
        """The variable of each ring's index, and the ring's length."""
        found = {}
        for place in self.code.places.values():
            if place.ring:
                type = machine(32, signed=False)
                found[place.ring] = (variable(f"index {place.ring}", type), place.length)
        return found

    def judged(self) -> tuple[list[str], int, int]:
        """What could not be shown, how many claims there were, and how many questions they took."""
        self.goals = []
        self._initial()
        limits = conjunction(*self._limits())
        prover = Prover(limits, self.seconds)
        self._without_effect(prover)
        initial = self.goals
        refused: set[tuple[Term, Term]] = set()
        for _ in range(REPEATS):
            self.goals = []
            values = Values(dict(self.indices.values()))
            equals = Equals(self._terms(), values, refused)
            self._step(Machine(self.declared, equals.settle, self._decided(prover)))
            pairs = list(equals.pairs.items())
            wrong = self._wrong_pairs(pairs, equals.terms, prover)
            if not wrong:
                free = Prover(conjunction(*self._index_limits()), self.seconds)
                failures = self._unproved(initial, set(), free) + self._unproved(self.goals, equals.terms, prover)
                return failures, len(initial) + len(self.goals) + len(pairs), prover.asked + free.asked
            refused |= wrong
        return ["the values of the C could not be matched with those of the equations"], 0, prover.asked

    def _index_limits(self) -> Iterator[Term]:
        for var, length in self.indices.values():
            yield term("lt", var, literal(var.type, length))

    def _limits(self) -> Iterator[Term]:
        yield from self._index_limits()
        for given in self.equations.inputs:
            yield from (member(part) for part in self.parts[given.var] if isinstance(part.type, EnumType))

    def _terms(self) -> list[Term]:
        """The equations' scalar terms, enums also as the numbers they are in C."""
        own = [part for node in (*self._roots(), *self.equations.variables()) for part in self.parts[node]]
        found = list(walk(own))
        return found + [recast(node, INT) for node in found if isinstance(node.type, EnumType)]

    def _as_c(self, node: Term) -> list[Term]:
        return [recast(p, INT) if isinstance(p.type, EnumType) else p for p in self.parts[node]]

    # The initial state

    def _initial(self) -> None:
        machine = Machine(self.declared)
        state = self._started(machine)
        for cell in self.cells:
            place = self.code.places[cell.name]
            if place.ring:
                index = machine.memory.read(self._variable(machine, state, place.ring))[0]
                if not index.is_const or index.payload >= place.length:
                    raise Refused(f"the ring index {place.ring} does not start as a number below {place.length}")
                array = self._variable(machine, state, place.variable)
                at = literal(index.type, (index.payload + place.position) % place.length)
                where = machine.memory.element(array, at, machine.demand)
            else:
                where = self._variable(machine, state, place.variable)
            scalars([cell.initial], self.parts)
            self._same(f"initial value of {cell.name}", machine.memory.read(where), self._as_c(cell.initial))
        self.goals += [Goal(f"defined: {d.why}", implication(d.path, d.claim)) for d in machine.demands]

    def _started(self, machine: Machine) -> Designation | None:
        """The state as it is before the first step; None where it is in variables of the file."""
        self._file_objects(machine, initial=True)
        if self.code.copilot:
            return None
        state = machine.memory.new(self._state_type(), [machine.unknown(t) for t in leaves(self._state_type())])
        if machine.call(f"{self.name}_init", [state]) is not None or machine.calls:
            raise Refused("an initialisation that calls or returns something")
        return state

    def _file_objects(self, machine: Machine, *, initial: bool) -> None:
        """What is at file scope, as it is before the first step or, what may change, with any value."""
        for node in self.declared.objects:
            type = self.declared.type_of(node.type)
            if "extern" in node.storage or (node.name == f"{self.name}_observed"):
                if node.name not in machine.globals:
                    machine.globals[node.name] = machine.memory.new(type, [machine.unknown(t) for t in leaves(type)])
                continue
            if "static" not in node.storage or node.init is None:
                raise Refused(f"the object {node.name} at file scope")
            constant = "const" in node.quals
            known = initial or constant
            parts = machine.initial_values(type, node.init) if known else [machine.unknown(t) for t in leaves(type)]
            machine.globals[node.name] = Designation(type, machine.memory.new(type, parts).places, constant)

    def _state_type(self) -> Type:
        found = self.declared.types.get(f"{self.name}_state")
        if not isinstance(found, StructType):
            raise Refused(f"no type {self.name}_state")
        return found

    def _variable(self, machine: Machine, state: Designation | None, name: str) -> Designation:
        if state is not None:
            return machine.memory.member(state, name)
        if name not in machine.globals:
            raise Refused(f"no variable {name}")
        return machine.globals[name]

    # One step

    def _step(self, machine: Machine) -> None:
        state, observed = self._related(machine)
        self._run(machine, self._arguments(machine, state))
        self._calls(machine)
        if self.observers:
            shown = observed or machine.memory.member(state, "observed")  # type: ignore[arg-type]
            for o in self.observers:
                found = machine.memory.read(machine.memory.member(shown, o.name))
                self._same(f"observer {o.name}", found, self._as_c(o.term))
        self._next_state(machine, state)
        self.goals += [Goal(f"defined: {d.why}", implication(d.path, d.claim)) for d in machine.demands]

    def _arguments(self, machine: Machine, state: Designation | None) -> list[Value]:
        if state is None:
            self._extern_inputs(machine)
            return []
        return [state, *self._given_inputs(machine)]

    def _run(self, machine: Machine, arguments: list[Value]) -> None:
        machine.call("step" if self.code.copilot else f"{self.name}_step", arguments)

    def _decided(self, prover: Prover) -> Callable[[Term], Term]:
        """Conditions on enum inputs alone, which hold or fail for all their members."""

        def decide(condition: Term) -> Term:
            if condition.is_const or not all(isinstance(v.type, EnumType) for v in variables([condition])):
                return condition
            if prover.valid([negation(condition)], QUICK)[0]:
                self.tested.add(condition)
                return FALSE
            return condition

        return decide

    def _without_effect(self, prover: Prover) -> None:
        """A step that turns away its inputs leaves everything as it was and calls nobody."""
        machine = Machine(self.declared, decide=self._decided(prover))
        state, _ = self._related(machine)
        self._run(machine, self._arguments(machine, state))
        if not self.tested:
            return
        refused = disjunction(*self.tested)
        machine = Machine(self.declared)
        state, _ = self._related(machine)
        arguments = self._arguments(machine, state)
        before = dict(machine.memory.parts)
        self._run(machine, arguments)
        for key, part in before.items():
            claim = implication(refused, equal(machine.memory.parts[key], part))
            self.goals.append(Goal("a step with an impossible enum changes nothing", claim))
        for call in machine.calls:
            claim = implication(refused, negation(call.when))
            self.goals.append(Goal(f"a step with an impossible enum does not call {call.name}", claim))

    def _related(self, machine: Machine) -> tuple[Designation | None, Designation | None]:
        """A state in which every place holds its cell, and the rest anything."""
        self._file_objects(machine, initial=False)
        state, observed = None, machine.globals.get(f"{self.name}_observed")
        if not self.code.copilot:
            state = machine.memory.new(self._state_type(), [machine.unknown(t) for t in leaves(self._state_type())])
        for cell in self.cells:
            place = self.code.places[cell.name]
            where = self._variable(machine, state, place.variable)
            if place.ring:
                where = self._slot(machine, where, place)
            self._put(machine, where, self._as_c(cell.var), cell.name)
        for name, (var, _) in self.indices.items():
            where = self._variable(machine, state, name)
            self._put(machine, where, [recast(var, where.type)], name)
        return state, observed

    def _put(self, machine: Machine, where: Designation, parts: list[Term], name: str) -> None:
        if [p.type for p in parts] != list(leaves(where.type)):
            raise Refused(f"the place of {name} has another type")
        for i, part in enumerate(parts):
            machine.memory.parts[(where.places[0].object, where.places[0].offset + i)] = part

    def _slot(self, machine: Machine, array: Designation, place: Place) -> Designation:
        """The slot of a ring, by its distance from the index; from here on the ring is read that way."""
        if not isinstance(array.type, ArrayType) or array.type.length != place.length:
            raise Refused(f"the ring {place.variable} has another length")
        first = array.places[0]
        index, length = self.indices[place.ring]
        machine.memory.rings[(first.object, first.offset)] = (
            array.type,
            lambda at: self._distance(at, index, length),
        )
        part = Part(TRUE, first.object, first.offset + place.position * width(array.type.element))
        return Designation(array.type.element, (part,))

    def _distance(self, at: Term, index: Term, length: int) -> int:
        """How far from the index an expression points, which is shown for every index."""
        if variables([at]) not in ([], [index]):
            raise Refused("a ring is read at an index that is not its own")
        distance = int(value_of(at, {index: 0})) % length  # type: ignore[arg-type]
        self.goals.append(Goal("defined: an index into a ring", _goes(at, index, distance, length)))
        return distance

    def _given_inputs(self, machine: Machine) -> Iterator[Designation]:
        type = self.declared.types.get(f"{self.name}_inputs")
        if not isinstance(type, StructType):
            return
        members = {name for name, _ in type.fields}
        given = [i for i in self.equations.inputs if i.name in members]
        made = machine.memory.new(type, [machine.unknown(t) for t in leaves(type)])
        for i in given:
            self._put(machine, machine.memory.member(made, i.name), self._as_c(i.var), i.name)
        machine.volatile.append(made)
        yield Designation(type, made.places, constant=True)

    def _extern_inputs(self, machine: Machine) -> None:
        for i in self.equations.inputs:
            if i.name in machine.globals:
                where = self._variable(machine, None, i.name)
                self._put(machine, where, self._as_c(i.var), i.name)
                machine.volatile.append(where)

    def _calls(self, machine: Machine) -> None:
        """The calls made are those of the triggers, in order; one that is not made has a guard that is never true."""
        calls = list(machine.calls)
        for trigger in self.equations.triggers:
            guard = self.parts[trigger.guard][0]
            if not calls or calls[0].name != trigger.name:
                self._same(f"{trigger.name} is never called", [literal(guard.type, False)], [guard])
                continue
            call = calls.pop(0)
            self._same(f"when {trigger.name} is called", [call.when], [guard])
            for i, ((_, arg), given) in enumerate(zip(trigger.args, call.args, strict=True)):
                self._same(f"argument {i} of {trigger.name}", list(given), self._as_c(arg), under=guard)
        if calls:
            raise Refused(f"a call of {calls[0].name} that is not the triggers' or not in their order")

    def _next_state(self, machine: Machine, state: Designation | None) -> None:
        moves: dict[str, int] = {}
        for name, (var, length) in self.indices.items():
            after = machine.memory.read(self._variable(machine, state, name))[0]
            if variables([after]) not in ([], [var]):
                raise Refused(f"the ring index {name} depends on more than itself")
            moves[name] = int(value_of(after, {var: 0})) % length  # type: ignore[arg-type]
            self.goals.append(Goal(f"next value of {name}", _goes(after, var, moves[name], length)))
        for cell in self.cells:
            place = self.code.places[cell.name]
            where = self._variable(machine, state, place.variable)
            if place.ring:
                now = (place.position + moves[place.ring]) % place.length
                where = self._slot(machine, where, Place(place.variable, place.ring, now, place.length))
            self._same(f"next value of {cell.name}", machine.memory.read(where), self._as_c(cell.next))

    # Claims

    def _same(self, what: str, found: list[Term], wanted: list[Term], under: Term = TRUE) -> None:
        if [t.type for t in found] != [t.type for t in wanted]:
            raise Refused(f"{what}: another type")
        for a, b in zip(found, wanted, strict=True):
            self.goals.append(Goal(what, implication(under, equal(a, b))))

    def _wrong_pairs(self, pairs: list[tuple[Term, Term]], terms: set[Term], prover: Prover) -> set[tuple[Term, Term]]:
        answers = prover.valid([pair_claim(a, b, terms) for a, b in pairs], QUICK)
        doubtful = [pair for pair, holds in zip(pairs, answers, strict=True) if not holds]
        again = prover.valid([equal(a, b) for a, b in doubtful], QUICK)
        return {pair for pair, holds in zip(doubtful, again, strict=True) if not holds}

    def _unproved(self, goals: list[Goal], terms: set[Term], prover: Prover) -> list[str]:
        open_goals = [g for g in goals if g.claim is not TRUE]
        answers = prover.valid([cut(g.claim, set(), terms) for g in open_goals], QUICK)
        doubtful = [g for g, holds in zip(open_goals, answers, strict=True) if not holds]
        again = prover.valid([g.claim for g in doubtful])
        return list(dict.fromkeys(g.what for g, holds in zip(doubtful, again, strict=True) if not holds))


def _goes(at: Term, index: Term, distance: int, length: int) -> Term:
    """at == (index + distance) mod length, for an index below the length (both far from 2^32)."""
    assert isinstance(at.type, MachineType)
    wide = machine(64, signed=False)
    moved = term("add", recast(index, wide), literal(wide, distance))
    over = term("ge", moved, literal(wide, length))
    wrapped = term("mux", over, term("sub", moved, literal(wide, length)), moved)
    return term("eq", recast(at, wide), wrapped)
