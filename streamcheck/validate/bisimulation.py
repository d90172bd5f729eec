"""Proof obligations of the generated C: it simulates the equations.

    initial     after NAME_init (or before the first step()), every cell's place holds the cell's initial value
    step        from any state in which every place holds its cell, one step calls the handlers of the triggers whose
                guards are true, in order, once each, with the arguments' values, and leaves every place holding the
                cell's next value
    observers   if they are compiled, hold their terms' values after the step
    checked     a step does nothing if the code finds an invalid enum value among its inputs
    handlers    get the pointer that NAME_init was given, if they get one; if they are in a table, it is the one that
                NAME_init was given
    assumed     NAME_assumptions_hold returns a cell that is true as long as every assumption has been true
    defined     no operation is undefined or left open by the standard (`c.arithmetic`), every index is in bounds
    inputs      are read before the first handler is called, because a handler may change them

By induction every run of the C is a run of the equations. The relation is given with the code and is not trusted: with
a wrong one these claims fail. A ring's index is any number below its length; element (index + position) mod length
holds the cell, at every index.

Assumed: the compiler, an int of 32 bits, IEEE 754 with every operation rounded (the code checks both), that
handlers neither call the step nor write to the state, and that the functions of math.h below `floor` are the ones the
equations mean.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

from streamcheck.c.arithmetic import CValue, Unsupported
from streamcheck.c.declarations import CResult, Pointee, Typedef
from streamcheck.c.kinds import BOOLEAN, PORTABLE_TYPEDEFS, VOID, AnyKind, Array, Struct
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.preprocess import preprocess
from streamcheck.c.syntax import parse, where_of
from streamcheck.c.terms import recast
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.simplify import conjunction, implication, negation
from streamcheck.core.term import FALSE, TRUE, Term, term, variable, variables, walk
from streamcheck.core.term import constant as literal
from streamcheck.core.types import EnumType, Type, machine
from streamcheck.problem.places import Code, Place
from streamcheck.transform.scalars import scalars
from streamcheck.validate.discharge import (
    QUICK,
    WORK,
    Equals,
    ProofGoal,
    Prover,
    RandomValues,
    cut,
    equal,
    member,
    unproved_goals,
)
from streamcheck.validate.execution import Execution
from streamcheck.validate.interface import check_interface
from streamcheck.validate.memory import Part, RingSlots
from streamcheck.validate.packed_bits import bits_at, words_of
from streamcheck.validate.ring_walk import index_after, is_moved
from streamcheck.validate.text_rules import check_names, check_text
from streamcheck.validate.windows import (
    KeptWindow,
    WindowProof,
    WindowUse,
    is_moved_on,
    kept_windows,
    parts_of,
    places_of,
    when_pushed,
)

INT = machine(32, signed=True)  # C's int, in which an enum is kept
REPEATS = 12


@dataclass(frozen=True, slots=True)
class Outcome:
    """The C is proved if `failures` is empty."""

    failures: tuple[str, ...]
    claims: int
    questions: int  # to the solver
    seconds: float

    @property
    def is_proved(self) -> bool:
        return not self.failures


def validate(code: Code, work: int = WORK) -> Outcome:
    """Proves that the C implements the equations, for all inputs and all time. `work` is the budget of one solver
    query; a query that exceeds it counts as not proved."""
    began = time.monotonic()
    try:
        file = f"{code.base}.c"
        check_text(code.base, code.files)
        nodes = parse(preprocess(file, code.files.get, portable=True).text, file, PORTABLE_TYPEDEFS)
        check_names(nodes)
        failures, claims, questions = Bisimulation(code, nodes, work).failures()
    except RecursionError:
        failures, claims, questions = ["the C could not be executed: a recursion, or too deep"], 0, 0
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as why:  # C of a form never seen
        failures, claims, questions = [f"the C could not be executed: {type(why).__name__}: {why}"], 0, 0
    except (SpecError, Unsupported) as why:
        line = f"{why.where.short}: " if isinstance(why, SpecError) and why.where else ""
        failures, claims, questions = [f"the C could not be executed: {line}{why.args[0]}"], 0, 0
    return Outcome(tuple(failures), claims, questions, time.monotonic() - began)


class Bisimulation:
    def __init__(self, code: Code, nodes: list[Any], work: int) -> None:
        self.work = work
        self.code = code
        self.nodes = nodes
        self.specification = code.specification
        self.name = code.base
        self.cells = [c for c in self.specification.cells if c.name in code.places]
        self.observers = self.specification.observers if code.observers else ()
        self.parts = scalars(self.specification.variables())
        scalars([*self._roots(), *(c.initial for c in self.cells)], self.parts)
        kept = [(c, place) for c in self.cells for place in code.places[c.name]]
        self.windows = kept_windows(kept)
        self.uses: list[WindowUse] = []
        self.single = [(c, place) for c, place in kept if place.window is None]
        self.indices = self._indices()
        # A loop does in its rounds what the equations do in as many terms.
        self.longest_loop = max(self.specification.size, *(place.length for _, place in kept), 0)
        self.goals: list[ProofGoal] = []
        self.terms: set[Term] = set()  # of the equations, once they are compared with the C's
        self.executed: set[str] = set()

    def _roots(self) -> Iterator[Term]:
        for trigger in self.specification.triggers:
            yield from trigger.terms()
        yield from (o.term for o in self.observers)
        for cell in self.cells:
            yield cell.next

    def _indices(self) -> dict[str, tuple[Term, int]]:
        """The variable of each ring's index, and the ring's length."""
        indices = {}
        for place in (*(place for _, place in self.single if place.ring), *self.code.rings):
            index = variable(f"index {place.ring}", machine(32, signed=False))
            indices[place.ring] = (index, place.length)
        return indices

    def failures(self) -> tuple[list[str], int, int]:
        """The claims that could not be proved, the number of claims, and the number of solver queries."""
        self.goals = []
        free, prover = (Prover(conjunction(*limits), self.work) for limits in (self._index_limits(), self._limits()))
        self.prover = free
        run = self._execution()
        check_interface(run, self.code)
        self._initial()
        self._windows()
        self._without_effect()
        self._assumptions()
        initial = self.goals
        refused: set[tuple[Term, Term]] = set()
        self.prover = prover
        for _ in range(REPEATS):
            self.goals = []
            values = RandomValues(dict(self.indices.values()))
            equals = Equals(self._terms(), values, refused)
            self.terms = equals.terms
            run = self._execution(equals.settle, self._decider(prover))
            self._step(run)
            self._refuse_unused(run)
            wrong = equals.wrong_pairs(prover)
            if not wrong:
                failures = unproved_goals(initial, Equals((), values, set()), free)
                failures += unproved_goals(self.goals, equals, prover)
                return failures, len(initial) + len(self.goals) + len(equals.pairs), prover.asked + free.asked
            refused |= wrong
        return ["the values of the C could not be matched with those of the equations"], 0, prover.asked

    def _refuse_unused(self, run: Execution) -> None:
        """Nothing is known of a function that was not executed."""
        for name, function in run.functions.items():
            if function.body is not None and name not in self.executed:
                raise SpecError(f"{name} is never called", function.where)

    def _index_limits(self) -> Iterator[Term]:
        for var, length in self.indices.values():
            yield term("lt", var, literal(var.type, length))

    def _limits(self) -> Iterator[Term]:
        yield from self._index_limits()
        for given in self.specification.inputs:
            yield from (member(part, part.type) for part in self.parts[given.var] if _is_enum(part))
        for cell in self.cells:  # the equations give them members alone
            yield from (member(part, part.type) for part in self.parts[cell.var] if _is_enum(part))

    def _terms(self) -> list[Term]:
        """The equations' scalar terms, enums also as the numbers they are in C."""
        own = [part for node in (*self._roots(), *self.specification.variables()) for part in self.parts[node]]
        nodes = list(walk(own))
        return nodes + [recast(node, INT) for node in nodes if isinstance(node.type, EnumType)]

    def _as_kept(self, node: Term, types: list[Type]) -> list[Term]:
        """The value as the state keeps it: an enum may be in less than an int."""
        parts = (
            zip(self._as_c(node), self.parts[node], types, strict=True) if len(types) == len(self.parts[node]) else ()
        )
        return [recast(p, t) if isinstance(own.type, EnumType) and t.is_integer else p for p, own, t in parts]

    def _as_c(self, node: Term) -> list[Term]:
        return [recast(p, INT) if isinstance(p.type, EnumType) else p for p in self.parts[node]]

    # The initial state

    def _initial(self) -> None:
        run = self._execution()
        state = self._initial_state(run)
        self._initial_windows(run, state)
        first: dict[str, Term] = {}
        for name, (_, length) in self.indices.items():
            (first[name],) = run.memory.read(self._variable(run, state, name))
            if not first[name].is_const or first[name].payload >= length:
                raise SpecError(f"the ring index {name} does not start as a number below {length}")
        for cell, place in self.single:
            if place.ring:
                index = first[place.ring]
                at = literal(index.type, (index.payload + place.position) % place.length)
                where = self._ring(run, state, place)[0].element(at)
            else:
                where = self._single(run, state, place)
            actual = bits_at(place, run.memory.read(where))
            self._same(f"initial value of {cell.name}", actual, self._as_kept(cell.initial, [a.type for a in actual]))
        self.goals += [ProofGoal(f"defined: {d.why}", implication(d.path, d.claim)) for d in run.demands]

    def _window_places(self, run: Execution, state: Lvalue | None, window: KeptWindow) -> dict[str, Lvalue]:
        names = {"array": window.variable, "index": window.place.index, "recent": window.place.recent}
        return places_of({role: self._variable(run, state, name) for role, name in names.items()}, window)

    def _initial_windows(self, run: Execution, state: Lvalue | None) -> None:
        for window in self.windows:
            places, what = self._window_places(run, state, window), f"initial value of {window.variable}"
            array, recent = window.contents([c.initial for c in window.cells], 0)
            self._same(what, run.memory.read(places["array"]), array)
            self._same(what, run.memory.read(places["recent"]), [recent])
            index = run.memory.read(places["index"])[0]
            self._same(what, [index], [literal(index.type, 0)])

    def _windows(self) -> None:
        """Goals: the functions of windows do what steps use them for."""
        for window in self.windows:
            run = self._execution()
            self._file_objects(run, initial=False)
            state = None if self.code.copilot else self._any_state(run)
            places = self._window_places(run, state, window)
            arguments: list[CResult] = [] if state is None else [Pointee(state)]
            for path, claim in WindowProof(window).check(run, places, arguments):
                self.goals.append(ProofGoal(f"defined: {window.variable}", implication(path, claim)))

    def _initial_state(self, run: Execution) -> Lvalue | None:
        """The state before the first step. None if it is in variables of the file."""
        self._file_objects(run, initial=True)
        if self.code.copilot:
            return None
        state = self._any_state(run)
        run.memory.indeterminate |= dict.fromkeys(parts_of(run, state), TRUE)
        links = self._links(run)
        run.linking = state.object
        if run.run(f"{self.name}_init", [Pointee(state), *links.values()]) is not None or run.calls:
            raise SpecError("an initialisation that calls or returns something")
        if run.links != {(state.object, name): pointee for name, pointee in links.items()}:
            raise SpecError(f"{self.name}_init does not keep its {' and '.join(links)}")
        return state

    def _links(self, run: Execution) -> dict[str, Pointee]:
        """The objects that the pointers in the state point to, in the order of the parameters of NAME_init."""
        if self.code.handlers == "functions":
            return {}
        user = run.memory.add(VOID, "user", [])
        run.user, links = user.object, {"user": Pointee(user)}
        if self.code.handlers == "table":
            kind = self._struct(run, "handlers")
            if kind is None:
                raise SpecError(f"no type {self.name}_handlers")
            table = run.memory.add(kind, "handlers", [], constant=True)
            run.table, links = table.object, {"handlers": Pointee(table), **links}
        return links

    def _file_objects(self, run: Execution, *, initial: bool) -> None:
        """The objects at file scope, as before the first step. If not `initial`, those that may change hold any
        value."""
        names = run.globals.names
        for node in run.objects:
            kind, constant = run.declarations.kind_of(node, run.scope), "const" in node.quals
            if "extern" in node.storage or (node.name == f"{self.name}_observed"):
                if node.name not in names:
                    names[node.name] = run.memory.add(kind, node.name, run.unknowns_of(kind))
                continue
            if "static" not in node.storage or node.init is None:
                raise SpecError(f"the object {node.name} at file scope", where_of(node))
            parts = run.initial_values(kind, node.init) if initial or constant else run.unknowns_of(kind)
            names[node.name] = run.memory.add(kind, node.name, parts, constant=constant)

    def _any_state(self, run: Execution) -> Lvalue:
        kind = self._struct(run, "state")
        if kind is None:
            raise SpecError(f"no type {self.name}_state")
        return run.memory.add(kind, "state", run.unknowns_of(kind))

    def _struct(self, run: Execution, name: str) -> Struct | None:
        meaning = run.globals.names.get(f"{self.name}_{name}")
        return meaning.kind if isinstance(meaning, Typedef) and isinstance(meaning.kind, Struct) else None

    def _variable(self, run: Execution, state: Lvalue | None, path: str) -> Lvalue:
        """A piece of the state, or of that of an instance of a component: `sensor.value`."""
        name, *inside = path.split(".")
        found = run.globals.names.get(name) if state is None else _member(state, name)
        if not isinstance(found, Lvalue):
            raise SpecError(f"no variable {name}")
        return reduce(_member, inside, found)

    def _single(self, run: Execution, state: Lvalue | None, place: Place) -> Lvalue:
        """The place of a cell that is in no ring."""
        lvalue = self._variable(run, state, place.variable)
        if place.element is None:
            return lvalue
        if not isinstance(lvalue.kind, Array) or not 0 <= place.element < lvalue.kind.length:
            raise SpecError(f"{place.variable} has no element {place.element}")
        return lvalue.element(literal(machine(32, signed=False), place.element))

    def _ring(self, run: Execution, state: Lvalue | None, place: Place) -> tuple[Lvalue, Array]:
        lvalue = self._variable(run, state, place.variable)
        if not isinstance(lvalue.kind, Array) or lvalue.kind.length != place.length:
            raise SpecError(f"the ring {place.variable} has another length")
        return lvalue, lvalue.kind

    # One step

    def _step(self, run: Execution) -> None:
        state, observed = self._related_state(run)
        self._run(run, self._arguments(run, state))
        self._calls(run)
        if self.observers:
            shown = observed or self._variable(run, state, "observed")
            for o in self.observers:
                self._same(
                    f"observer {o.name}",
                    run.memory.read(_member(shown, self.code.c_name("observer", o.name))),
                    self._as_c(o.term),
                )
        self._next_state(run, state)
        self.goals += [ProofGoal(f"defined: {d.why}", implication(d.path, d.claim)) for d in run.demands]

    def _execution(
        self, settle: Callable[[Term], Term] | None = None, decide: Callable[[Term], Term] | None = None
    ) -> Execution:
        run = Execution(self.nodes, f"{self.name}.c", settle, decide)
        run.executed = self.executed
        run.longest_loop = self.longest_loop
        run.ring_lengths = dict(self.indices.values())
        run.proves = self._proves
        return run

    def _proves(self, claim: Term) -> bool:
        return any(self.prover.valid([c], QUICK)[0] for c in dict.fromkeys([cut(claim, self.terms), claim]))

    def _arguments(self, run: Execution, state: Lvalue | None) -> list[CResult]:
        if state is None:
            self._extern_inputs(run)
            return []
        return [Pointee(state), *self._given_inputs(run)]

    def _run(self, run: Execution, arguments: list[CResult]) -> None:
        run.run(self.code.step, arguments)

    def _decider(self, prover: Prover) -> Callable[[Term], Term]:
        """Returns a function that replaces a condition by FALSE if it only tests enum inputs and no member meets it."""

        def decide(condition: Term) -> Term:
            if condition.is_const or not all(isinstance(v.type, EnumType) for v in variables([condition])):
                return condition
            return FALSE if prover.valid([negation(condition)], QUICK)[0] else condition

        return decide

    def _without_effect(self) -> None:
        """Goals: a step that reads an enum without one of its values changes nothing, calls no handler and is defined,
        and NAME_inputs_valid says so."""
        enums = {recast(p, INT): p for i in self.specification.inputs for p in self.parts[i.var] if _is_enum(p)}
        if not enums:
            return
        numbers = {part: variable(f"any int {i}", INT) for i, part in enumerate(enums)}
        run = self._execution()
        state, _ = self._related_state(run)
        arguments = self._numbers_as_enums(run, self._arguments(run, state), numbers)
        before = dict(run.memory.parts)
        self._run(run, arguments)
        pushed = [push for use in self.uses for push in use.pushed]
        given = {lvalue.object for lvalue in run.changing}
        left = [part for key, part in run.memory.parts.items() if key in before and key[0] not in given]
        left += [t for push in pushed for t in push]
        read = set(variables([*left, *(t for c in run.calls for t in (c.when, *(p for arg in c.args for p in arg)))]))
        members = {numbers[part]: member(numbers[part], own.type) for part, own in enums.items()}
        needed = conjunction(*(claim for number, claim in members.items() if number in read))
        if needed is not TRUE or f"{self.name}_inputs_valid" in run.functions:
            self._validity(needed, conjunction(*members.values()), numbers)
        refused = negation(needed)
        claims = [(equal(run.memory.parts[key], part), "changes nothing") for key, part in before.items()]
        claims += [(negation(when), "changes nothing") for when, _ in pushed]
        claims += [(negation(call.when), f"does not call {call.name}") for call in run.calls]
        for claim, what in claims:
            self.goals.append(ProofGoal(f"a step with an impossible enum {what}", implication(refused, claim)))
        paths = list(dict.fromkeys(d.path for d in run.demands))
        never = self.prover.valid([implication(refused, negation(path)) for path in paths], QUICK)
        taken = {path for path, holds in zip(paths, never, strict=True) if not holds}
        for d in run.demands:
            if d.path in taken:
                claim = implication(refused, implication(d.path, d.claim))
                self.goals.append(ProofGoal(f"defined: {d.why}, with an impossible enum", claim))

    @staticmethod
    def _numbers_as_enums(run: Execution, arguments: list[CResult], numbers: dict[Term, Term]) -> list[CResult]:
        """The arguments. The enums among the inputs are any numbers: of a term of an enum it is known that it is one
        of its values."""
        given = {lvalue.object for lvalue in run.changing}
        for (object, i), part in run.memory.parts.items():
            if object in given:
                run.memory.parts[object, i] = numbers.get(part, part)
        return arguments

    def _validity(self, needed: Term, given: Term, numbers: dict[Term, Term]) -> None:
        """Goals: NAME_inputs_valid is true only if the enums that the step reads are, and always if all are."""
        run = self._execution()
        state, _ = self._related_state(run)
        arguments = self._numbers_as_enums(run, self._arguments(run, state)[1:], numbers)
        value = self._answer(run, f"{self.name}_inputs_valid", arguments)
        for premise, claim in ((value.term, needed), (given, value.term)):
            self.goals.append(ProofGoal(f"{self.name}_inputs_valid", implication(premise, claim)))
        self.goals += [ProofGoal(f"defined: {d.why}", implication(d.path, d.claim)) for d in run.demands]

    def _assumptions(self) -> None:
        """Goals: NAME_assumptions_hold returns its cell and changes nothing, and the cell is what it should be."""
        if not self.code.held:
            return
        name = f"{self.name}_assumptions_hold"
        (cell,) = (c for c in self.specification.cells if c.name == self.code.held)
        run = self._execution()
        state, _ = self._related_state(run)
        value = self._answer(run, name, [] if state is None else [Pointee(state)])
        self._same(name, [value.term], [cell.var])
        self._same(f"the initial value of {cell.name}", [cell.initial], [TRUE])
        held = conjunction(cell.var, *(a.term for a in self.specification.assumptions))
        self._same(f"the assumptions in {cell.name}", [cell.next], [held])
        self.goals += [ProofGoal(f"defined: {d.why}", implication(d.path, d.claim)) for d in run.demands]

    def _answer(self, run: Execution, name: str, arguments: list[CResult]) -> CValue:
        """The bool that a function returns, which does nothing else."""
        before = dict(run.memory.parts)
        value = run.run(name, arguments)
        changed = any(run.memory.parts[p] is not before[p] for p in before)
        if value is None or value.kind != BOOLEAN or run.calls or changed or any(use.pushed for use in self.uses):
            raise SpecError(f"{name} does not return a bool, or does something else")
        return value

    def _related_state(self, run: Execution) -> tuple[Lvalue | None, Lvalue | None]:
        """A state in which every place holds its cell and everything else any value, and the observers' struct."""
        self._file_objects(run, initial=False)
        state = None if self.code.copilot else self._any_state(run)
        if state is not None:
            run.links = {(state.object, name): pointee for name, pointee in self._links(run).items()}
        observed = run.globals.names.get(f"{self.name}_observed")
        self.uses = [self._use(run, state, window) for window in self.windows]
        for place, word in words_of(self.single):
            part, kind = run.memory.span(self._single(run, state, place))
            self._put(run, part, kind, [word.term(t, run.unknown(t)) for t in run.types_of(kind)], place.variable)
        for cell, place in self.single:
            if place.bit is not None:
                continue
            if place.ring:
                part, kind = self._slot(run, state, place, place.position)
            else:
                part, kind = run.memory.span(self._single(run, state, place))
            self._put(run, part, kind, self._as_kept(cell.var, run.types_of(kind)), cell.name)
        for place in self.code.rings:
            self._slot(run, state, place, 0)
        for name, (var, _) in self.indices.items():
            part, kind = run.memory.span(self._variable(run, state, name))
            self._put(run, part, kind, [recast(var, run.arithmetic.type_of(kind))], name)
        return state, observed if isinstance(observed, Lvalue) else None

    def _use(self, run: Execution, state: Lvalue | None, window: KeptWindow) -> WindowUse:
        lvalues = self._window_places(run, state, window).values()
        use = WindowUse(window, state, {p: run.memory.parts[p] for lvalue in lvalues for p in parts_of(run, lvalue)})
        run.memory.hidden |= use.untouched.keys()
        run.proved |= use.functions()
        return use

    def _put(self, run: Execution, first: Part, kind: AnyKind, parts: list[Term], name: str) -> None:
        if [p.type for p in parts] != run.types_of(kind):
            raise SpecError(f"the place of {name} has another type")
        for i, part in enumerate(parts):
            run.memory.parts[(first[0], first[1] + i)] = part

    def _slot(self, run: Execution, state: Lvalue | None, place: Place, position: int) -> tuple[Part, AnyKind]:
        """The slot of a ring, by its distance from the index. From here on the ring is read that way."""
        lvalue, kind = self._ring(run, state, place)
        first, _ = run.memory.span(lvalue)
        index, length = self.indices[place.ring]
        run.memory.rings[first] = RingSlots(kind, lambda at: self._distance(at, index, length))
        return (first[0], first[1] + position * run.memory.width(kind.element)), kind.element

    def _distance(self, at: Term, index: Term, length: int) -> int:
        """The distance from the ring's index to the one at hand. A goal claims it for every value of the index."""
        if variables([at]) not in ([], [index]):
            raise SpecError("a ring is read at an index that is not its own")
        distance = int(value_of(at, {index: 0})) % length  # type: ignore[arg-type]
        if at is index_after(index, distance, length):
            return distance
        self.goals.append(ProofGoal("defined: an index into a ring", is_moved(at, index, distance, length)))
        return distance

    def _given_inputs(self, run: Execution) -> Iterator[CResult]:
        kind = self._struct(run, "inputs")
        if kind is None:
            return
        made = run.memory.add(kind, "inputs", run.unknowns_of(kind), constant=True)
        for given in self.specification.inputs:
            name = self.code.c_name("extern", given.name)
            if kind.field(name) is not None:
                self._put(run, *run.memory.span(_member(made, name)), self._as_c(given.var), name)
        run.changing.append(made)
        yield Pointee(made)

    def _extern_inputs(self, run: Execution) -> None:
        for given in self.specification.inputs:
            name = self.code.c_name("extern", given.name)
            if name in run.globals.names:
                lvalue = self._variable(run, None, name)
                self._put(run, *run.memory.span(lvalue), self._as_c(given.var), name)
                run.changing.append(lvalue)

    def _calls(self, run: Execution) -> None:
        """Goals: the calls are those of the triggers, in order. If one is missing, its guard is never true."""
        calls = list(run.calls)
        for trigger in self.specification.triggers:
            guard = self.parts[trigger.guard][0]
            if not calls or calls[0].name != self.code.c_name("trigger", trigger.name):
                self._same(f"{trigger.name} is never called", [literal(guard.type, False)], [guard])
                continue
            call = calls.pop(0)
            self._same(f"when {trigger.name} is called", [call.when], [guard])
            for i, ((_, arg), given) in enumerate(zip(trigger.args, call.args, strict=True)):
                self._same(f"argument {i} of {trigger.name}", list(given), self._as_c(arg), under=guard)
        if calls:
            raise SpecError(f"a call of {calls[0].name} that is not the triggers' or not in their order")

    def _next_state(self, run: Execution, state: Lvalue | None) -> None:
        moves: dict[str, int] = {}
        for name, (var, length) in self.indices.items():
            after = run.memory.read(self._variable(run, state, name))[0]
            if variables([after]) not in ([], [var]):
                raise SpecError(f"the ring index {name} depends on more than itself")
            moves[name] = int(value_of(after, {var: 0})) % length  # type: ignore[arg-type]
            self.goals.append(ProofGoal(f"next value of {name}", is_moved(after, var, moves[name], length)))
        for use in self.uses:
            self._next_window(run, use)
        for cell, place in self.single:
            if place.ring:
                now = (place.position + moves[place.ring]) % place.length
                actual = run.memory.at(*self._slot(run, state, place, now))
            else:
                actual = bits_at(place, run.memory.read(self._single(run, state, place)))
            self._same(f"next value of {cell.name}", actual, self._as_kept(cell.next, [a.type for a in actual]))

    def _next_window(self, run: Execution, use: WindowUse) -> None:
        what = f"next value of {use.window.variable}"
        when, value = when_pushed(use)
        if not use.is_untouched(run) or not is_moved_on(use.window):
            raise SpecError(f"{what}: something else changes it")
        self._same(what, [when], [TRUE])
        self._same(what, [value], self._as_c(use.window.cells[-1].next))

    # Claims

    def _same(self, what: str, actual: list[Term], wanted: list[Term], under: Term = TRUE) -> None:
        if [t.type for t in actual] != [t.type for t in wanted]:
            raise SpecError(f"{what}: another type")
        for a, b in zip(actual, wanted, strict=True):
            self.goals.append(ProofGoal(what, implication(under, equal(a, b))))


def _is_enum(part: Term) -> bool:
    return isinstance(part.type, EnumType)


def _member(struct: Lvalue, name: str) -> Lvalue:
    kind = struct.kind.field(name) if isinstance(struct.kind, Struct) else None
    if kind is None:
        raise SpecError(f"{struct.kind} has no field {name}")
    return struct.field(name, kind)
