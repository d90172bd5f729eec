"""The function of a component: its state as a struct, its inputs as parameters.

It is a step without handlers. What it returns is its output; if it has several, or one that is an array or a struct,
it writes them where its last parameter points to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamcheck.codegen import text
from streamcheck.codegen.call_writer import CFunction
from streamcheck.codegen.expression import PRIMARY, CExpression
from streamcheck.codegen.figures import figures
from streamcheck.codegen.initial_state import InitialState
from streamcheck.codegen.lower import Lowered
from streamcheck.codegen.names import FileScope, LocalNames
from streamcheck.codegen.pack import LoweredEquations, lower_packed
from streamcheck.codegen.sharing import SharedCall, SharedFunction
from streamcheck.codegen.state_struct import Places, StateStruct
from streamcheck.codegen.step import StepWriter
from streamcheck.core.c_names import member_name
from streamcheck.core.operators import c_type
from streamcheck.core.term import Term, substitute
from streamcheck.core.types import StructType, Type, struct_of
from streamcheck.problem.specification import Input, Specification
from streamcheck.transform.embedding import Images


class ComponentNames(LocalNames):
    """The identifiers of the function of a component."""

    def __init__(self, file: FileScope, spec: str, inputs: tuple[Input, ...], *, has_results: bool) -> None:
        super().__init__(file, spec)
        self.parameters = {i.name: self.fresh(i.name) for i in inputs}
        self.state = self.fresh("state")
        self.out = self.fresh("out") if has_results else ""

    def observer(self, name: str) -> str:
        return member_name(name)


class ComponentStep(StepWriter):
    """Writes the body of the function. Afterwards also: `returned`, the value of its one output."""

    names: ComponentNames
    returned: str = ""

    def sample(self) -> None:
        for given in self.lowered.inputs:
            name = self.names.parameters[given.name]
            place = f"(*{name})" if isinstance(given.type, StructType) else name
            self.texts[given.var] = CExpression(place, PRIMARY, c_type(given.type))

    def inputs_in_order(self) -> list[Term]:
        return []

    def observe(self) -> None:
        site = 2 * len(self.lowered.triggers)
        if not returns_value(self.lowered):
            self.show(f"{self.names.out}->", site)
            return
        (output,) = self.lowered.observers
        value = self.expression(output.term, self.body, site)
        if value.reads:  # which the step replaces
            value = self.store(output.term, value, self.body)
        self.returned = self.convert(value, output.term.type).text


def returns_value(low: Lowered) -> bool:
    return len(low.observers) == 1 and not text.is_composite(low.observers[0].term.type)


@dataclass(frozen=True, slots=True)
class ComponentCode:
    """The function of a component, and where it keeps the cells of its body."""

    function: CFunction
    state: StateStruct
    lines: tuple[str, ...]
    struct: tuple[str, ...]  # of its state, for the header
    places: Places
    step: ComponentStep


def write_components(
    functions: Sequence[SharedFunction], calls: Iterable[SharedCall], names: LocalNames, *, loops: bool, pack: bool
) -> dict[str, ComponentCode]:
    """The C of the components that calls need, each after those inside of it. `names` are those of the step."""
    needed, lowered = {call.component for call in calls}, dict[str, LoweredEquations]()
    for function in reversed(functions):
        if function.component in needed:
            made = lower_packed(function.equations, pack=pack, observers=True, loops=loops, windows=False)
            lowered[function.component] = made
            needed |= {call.component for call in made.low.calls}
    written: dict[str, ComponentCode] = {}
    for function in functions:
        if function.component in lowered:
            made = lowered[function.component]
            own = ComponentNames(names.file, names.spec, function.inputs, has_results=not returns_value(made.low))
            step = ComponentStep(made.low, own, {name: inside.function for name, inside in written.items()})
            state = StateStruct(made, step, {})
            written[function.component] = _ComponentText(function, names, state, own).code(written)
    return written


class _ComponentText:
    def __init__(self, function: SharedFunction, names: LocalNames, state: StateStruct, own: ComponentNames) -> None:
        self.function = function
        self.state = state
        self.low = state.low
        self.own = own
        self.copilot = names.copilot  # then variables of the file are the state, and have initialisers
        self.step = state.step
        self.base = re.sub(r"\W+", "_", function.component, flags=re.ASCII).strip("_") or "component"
        self.name = names.fresh_at_file(f"{self.base}_step")
        self.init = names.fresh_at_file(f"{self.base}_init")
        self.tag = names.fresh_at_file(f"{names.spec}_{self.base}_state")
        self.results = names.fresh_at_file(f"{self.base}_results")

    def code(self, inside: Mapping[str, ComponentCode]) -> ComponentCode:
        assert isinstance(self.step, ComponentStep)
        members = self.state.members()
        kept = struct_of(self.tag, tuple((name, type) for type, name, _ in members)) if members else None
        shown = tuple((o.name, o.term.type) for o in self.low.observers)
        results = None if returns_value(self.low) else struct_of(self.results, shown)
        cost = figures(self.low, self.step.locals, 0, {n: w.function.figures for n, w in inside.items()})
        initial = InitialState(self.low, self.own, self.step)
        made = CFunction(self.name, self.init, kept, results, initial.braces([n for _, n, _ in members]), cost)
        begin = [] if self.copilot else list(self._init(made, initial))
        lines = [*self._results(made), *begin, *self._step(made)]
        places = self.state.places({name: w.places for name, w in inside.items()})
        return ComponentCode(made, self.state, tuple(lines), tuple(self._struct(made)), places, self.step)

    def _about(self) -> str:
        return f"the component {self.function.component}, {text.source(self.function.equations.specification.where)}"

    def _struct(self, made: CFunction) -> Iterator[str]:
        """The definition of the state."""
        if made.state is not None:
            yield text.comment(f"the state of an instance of {self._about()}")
            yield f"{c_type(made.state)} {{"
            for type, name, note in self.state.members():
                yield f"{text.INDENT}{text.declaration(type, name)};" + (f" {note}" if note else "")
            yield from ("};", "")

    def _results(self, made: CFunction) -> Iterator[str]:
        if made.results is not None:
            yield f"{c_type(made.results)} {{"
            yield from (f"{text.INDENT}{text.declaration(t, member_name(n))};" for n, t in made.results.fields)
            yield from ("};", "")

    def _init(self, made: CFunction, initial: InitialState) -> Iterator[str]:
        if made.state is not None:
            yield from (f"static void {made.init}({c_type(made.state)} *{self.own.state})", "{")
            yield from (*text.indent(initial.statements(())), "}", "")

    def _step(self, made: CFunction) -> Iterator[str]:
        assert isinstance(self.step, ComponentStep)
        returned = "void" if made.results is not None else c_type(self.low.observers[0].term.type)
        yield text.comment(f"one step of an instance of {self._about()}")
        yield f"static {returned} {made.name}({', '.join(self._parameters(made)) or 'void'})"
        yield "{"
        body = [*self.step.body.lines, *([f"return {self.step.returned};"] if made.results is None else [])]
        used = set(re.findall(r"\w+", "\n".join(line for line in body if not line.lstrip().startswith("/*"))))
        names = [self.own.state] if made.state is not None else []
        for name in (*names, *self.own.parameters.values()):
            if name not in used:
                yield f"{text.INDENT}(void){name};"
        yield from text.indent(body)
        yield from ("}", "")

    def _parameters(self, made: CFunction) -> Iterator[str]:
        if made.state is not None:
            yield f"{c_type(made.state)} *{self.own.state}"
        for given in self.function.inputs:
            yield parameter(given.type, self.own.parameters[given.name], copilot=False)
        if made.results is not None:
            yield f"{c_type(made.results)} *{self.own.out}"


def parameter(type: Type, name: str, *, copilot: bool) -> str:
    """The declaration of a parameter. An array or a struct is passed by its address."""
    constant = "const " if text.is_composite(type) and not text.may_be_written(type, copilot) else ""
    return constant + text.declaration(type, f"*{name}" if isinstance(type, StructType) else name)


def named_streams(
    whole: Specification, step: str, state: StateStruct, components: Mapping[str, ComponentCode]
) -> tuple[dict[str, Mapping[str, frozenset[str]]], dict[str, tuple[str, ...]]]:
    """By function, the streams of the whole that its local variables hold; and by the path of a state, its
    functions."""
    bodies = {c.name: {w.name: w.term for w in c.body.wires} for c in whole.components}
    names = {w.term: w.name for w in whole.wires} | {c.var: c.name for c in whole.cells}
    found: dict[str, dict[str, set[str]]] = {}
    paths: dict[str, tuple[str, ...]] = {}
    pending: list[tuple[str, StateStruct, Images | None]] = [("", state, None)]
    while pending:
        path, level, outer = pending.pop()
        for call in level.low.calls:
            written, member = components[call.component], level.step.calls.members.get(call.instance, "")
            images = call.images if outer is None else _compose(call.images, outer)
            inside = f"{path}{member}"
            if member:
                paths[inside] = (written.function.name, written.function.init)
            wires = {local: bodies[call.component].get(w) for local, w in written.step.named_locals.items()}
            there = substitute([t for t in wires.values() if t is not None], images)
            streams = found.setdefault(written.function.name, {})
            for local, term in wires.items():
                if term is not None and there[term] in names:
                    streams.setdefault(local, set()).add(names[there[term]])
            pending.append((f"{inside}.", written.state, images))
    locals = {f: {local: frozenset(s) for local, s in streams.items()} for f, streams in found.items()}
    own = {local: frozenset([stream]) for local, stream in state.step.named_locals.items()}
    return {step: own, **locals}, paths


def _compose(images: Images, outer: Images) -> Images:
    there = substitute(images.values(), outer)
    return {var: there[image] for var, image in images.items()}
