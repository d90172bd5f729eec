"""A step function in C as a specification, so that it can be compared with one.

    void count_init(count_state *state);
    uint8_t count_step(count_state *state, bool go);

What the function keeps are the members of the struct that it gets by a pointer that is not to const, which
NAME_init sets, and variables with `static` at file scope. Its inputs are its other parameters: numbers, and the members
of structs behind pointers to const. Its outputs are its result, under the name `result`; calls of functions without a
body, as triggers; and those parts of its state that are wanted, as they are after the step: of generated C, which keeps
its observers in the member `observed`, those of that member.

The function is executed once on symbolic memory (`execution`), as generated C is for its proof, and by the same rules:
the bounds of loops are constants, no recursion, no heap, no side effects inside expressions. Everything that must hold
for the C to be defined is a claim.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from streamcheck.c.arithmetic import CValue, Unsupported
from streamcheck.c.declarations import CResult, Function, Pointee
from streamcheck.c.kinds import PORTABLE_TYPEDEFS, AnyKind, Pointer, Struct
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.preprocess import preprocess
from streamcheck.c.syntax import parse, where_of
from streamcheck.c.terms import number
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.simplify import implication
from streamcheck.core.term import Term, variable, variables
from streamcheck.problem.claim import COMPARED, Claim
from streamcheck.problem.specification import Cell, Input, Named, Specification, Trigger
from streamcheck.validate.execution import Execution
from streamcheck.validate.memory import scalars_of

LONGEST_LOOP = 10_000  # rounds


def read_step_function(path: str, name: str | None, wanted: Collection[str]) -> Specification:
    """The specification of a function of a C file: `name`, or the only one that other files may call (beside its
    initialisation). `wanted` are the names of state that are outputs. SpecError if the C is of another form."""
    try:
        nodes = parse(preprocess(path, portable=True).text, path, PORTABLE_TYPEDEFS)
        return StepFunction(path, nodes, name).specification(wanted)
    except Unsupported as why:
        raise SpecError(f"{path}: {why.args[0]}", Location(path, 1)) from None
    except RecursionError:
        raise SpecError(f"{path}: a recursion, or too deep", Location(path, 1)) from None


class StepFunction:
    def __init__(self, path: str, nodes: list[Any], name: str | None) -> None:
        self.path = path
        self.nodes = nodes
        self.function = self._function(name)

    def _execution(self) -> Execution:
        run = Execution(self.nodes, self.path)
        run.longest_loop = LONGEST_LOOP
        return run

    def _function(self, name: str | None) -> Function:
        known = self._execution().functions
        callable_ones = [f for f in known.values() if f.body is not None and not f.static]
        if name is None:
            callable_ones = [f for f in callable_ones if not f.name.endswith("init")]
        found = [f for f in callable_ones if name in (None, f.name)]
        if len(found) != 1:
            names = ", ".join(f"{self.path}::{f.name}" for f in callable_ones) or "none"
            raise SpecError(f"{self.path}: which function is a step? There are {names}")
        return found[0]

    def specification(self, wanted: Collection[str]) -> Specification:
        first, start = self._initial_values()
        run = self._execution()
        cells, inputs, arguments = dict[str, tuple[Lvalue, int]](), list[Input](), list[CResult]()
        for node, kind in _static_objects(run):
            lvalue = run.memory.add(kind, node.name, self._variables(run, kind, node.name))
            run.globals.names[node.name] = lvalue
            cells |= self._places(run, lvalue, node.name)
        for name, kind in self.function.parameters:
            if isinstance(kind, Pointer) and not kind.constant:
                state = run.memory.add(kind.target, name, self._variables(run, kind.target, ""))
                arguments.append(Pointee(state))
                cells |= self._places(run, state, "")
            elif isinstance(kind, Pointer):
                prefix = "" if isinstance(kind.target, Struct) else name
                terms = self._variables(run, kind.target, prefix)
                arguments.append(Pointee(run.memory.add(kind.target, name, terms, constant=True)))
                inputs += self._inputs(terms)
            else:
                (value,) = self._variables(run, kind, name)
                arguments.append(CValue(kind, value))  # type: ignore[arg-type]
                inputs += self._inputs([value])
        result = run.run(self.function.name, arguments)
        after = {name: run.memory.read(lvalue)[i] for name, (lvalue, i) in cells.items()}
        shown = [] if result is None else [Named("result", result.term, self.function.where)]
        shown += [Named(name, after[at], self.function.where) for name in wanted if (at := _place_of(name, after))]
        made = [Cell(name, first[name], after[name], self.function.where) for name in cells]
        self._require_known([*after.values(), *(o.term for o in shown)], cells, inputs)
        return Specification(
            self.function.name,
            tuple(inputs),
            (),
            tuple(made),
            (),
            tuple(self._triggers(run)),
            tuple(shown),
            tuple(self._claims(run, start)),
            (),
            self.function.where,
        )

    def _initial_values(self) -> tuple[dict[str, Term], Execution]:
        """The values before the first step, by name, and the execution that gave them."""
        run = self._execution()
        values: dict[str, Term] = {}
        for node, kind in _static_objects(run):
            if node.init is None:
                parts = [number(t, 0) for t in run.types_of(kind)]  # 6.7.8
            else:
                parts = run.initial_values(kind, node.init)
            run.globals.names[node.name] = run.memory.add(kind, node.name, parts)
            values |= dict(zip(_names(kind, node.name), parts, strict=True))
        for name, kind in self.function.parameters:
            if isinstance(kind, Pointer) and not kind.constant:
                state = run.memory.add(kind.target, name, run.unknowns_of(kind.target))
                unset = set(run.memory.read(state))
                begin = self.function.name.removesuffix("step") + "init"
                if begin not in run.functions:
                    raise SpecError(
                        f"{self.function.name} keeps its state in {name}, and nothing says how that begins",
                        self.function.where,
                        write=f"void {begin}({kind.target} *{name})",
                    )
                run.run(begin, [Pointee(state)])
                parts = run.memory.read(state)
                if not unset.isdisjoint(variables(parts)) or run.calls:
                    raise SpecError(f"{begin} leaves members of {name} as they are", self.function.where)
                values |= dict(zip(_names(kind.target, ""), parts, strict=True))
        stray = [name for name, value in values.items() if variables([value])]
        if stray:
            raise SpecError(f"the first value of {stray[0]} is not a constant", self.function.where)
        return values, run

    def _variables(self, run: Execution, kind: AnyKind, prefix: str) -> list[Term]:
        return [variable(name, type) for name, type in zip(_names(kind, prefix), run.types_of(kind), strict=True)]

    @staticmethod
    def _places(run: Execution, lvalue: Lvalue, prefix: str) -> dict[str, tuple[Lvalue, int]]:
        return {name: (lvalue, i) for i, name in enumerate(_names(lvalue.kind, prefix))}

    def _inputs(self, terms: list[Term]) -> Iterator[Input]:
        for given in terms:
            yield Input(str(given.payload), given.type, True, "", "", self.function.where)

    def _require_known(self, terms: list[Term], cells: Collection[str], inputs: list[Input]) -> None:
        known = {*cells, *(i.name for i in inputs)}
        stray = [v for v in variables(terms) if v.payload not in known]
        if stray:
            raise SpecError(f"{self.function.name} depends on a value that is not known", self.function.where)

    def _triggers(self, run: Execution) -> Iterator[Trigger]:
        seen: set[str] = set()
        for call in run.calls:
            if call.name in seen:
                raise SpecError(f"{self.function.name} calls {call.name} at two places", self.function.where)
            seen.add(call.name)
            args = tuple((None, part) for arg in call.args for part in arg)
            yield Trigger(call.name, call.when, args, run.functions[call.name].where)

    def _claims(self, run: Execution, start: Execution) -> Iterator[Claim]:
        """The C is defined in every step, and before the first one."""
        of: dict[str, Term] = {}
        for i, demand in enumerate((*start.demands, *run.demands)):
            of[f"defined: {demand.why}, {i}"] = implication(demand.path, demand.claim)
        for name, claim in of.items():
            yield Claim(name, claim, self.function.where, origin=COMPARED)


def _static_objects(run: Execution) -> Iterator[tuple[Any, AnyKind]]:
    """The variables with static storage, and their kinds. Constants are none of them."""
    for node in run.objects:
        kind = run.declarations.kind_of(node, run.scope)
        if "const" in node.quals:
            run.globals.names[node.name] = run.memory.add(
                kind, node.name, run.initial_values(kind, node.init), constant=True
            )
            continue
        if "static" not in node.storage:
            raise SpecError(f"{node.name} may be changed from outside", where_of(node), write=f"static … {node.name}")
        yield node, kind


def _place_of(name: str, places: Collection[str]) -> str | None:
    """The place of the observer of that name. None if there is none."""
    return next((place for place in (f"observed.{name}", name) if place in places), None)


def _names(kind: AnyKind, prefix: str) -> list[str]:
    """The names of the scalars: `pos.x`, `buffer.0`."""
    return [".".join([*([prefix] if prefix else []), *map(str, path)]) for path, _ in scalars_of(kind)]
