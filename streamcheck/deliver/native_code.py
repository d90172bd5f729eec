"""The C around a monitor that runs it over columns: for each scalar part of an input, of an argument and of what is
shown there is an array with a value for each step.

The monitor is the one that `compile` writes. Claims are observers of it. Triggers and observers have their own names,
whatever the user called them. Beside the step there is a function that writes out the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from streamcheck.codegen.text import c_path
from streamcheck.codegen.unit import CodeOptions, Unit, generate
from streamcheck.core.errors import SpecError
from streamcheck.core.operators import c_type
from streamcheck.core.types import BOOL, Type, part_names
from streamcheck.interpret.python_code import Plan
from streamcheck.problem.places import Place
from streamcheck.problem.specification import Named, Specification

NAME = "monitor"
ROWS = "rows.c"
SINGLE = "sin cos tan asin acos atan sinh cosh tanh exp log".split()  # of a Float as runs have them: rounded twice


@dataclass(frozen=True, slots=True)
class ArrayColumn:
    """An array: `length` elements of a scalar type; 0 for as many as steps are run at a time."""

    type: Type
    length: int = 0


@dataclass(frozen=True, slots=True)
class NativeCode:
    """The C, and its arrays. A group of columns has the parts of one value."""

    files: dict[str, str]
    inputs: Sequence[Sequence[ArrayColumn]]  # for each input of the plan
    fired: Sequence[ArrayColumn]
    args: Sequence[Sequence[Sequence[ArrayColumn]]]  # for each trigger and argument
    observers: Sequence[Sequence[ArrayColumn]]
    claims: Sequence[ArrayColumn]  # the properties, then the assumptions
    state: Sequence[Sequence[ArrayColumn]]
    cells: Sequence[tuple[int, int] | None]  # for each cell of the plan its group of the state, and the element of it
    exact: Sequence[bool]  # for each cell of the plan: the state has its value itself


def native_code(planned: Plan) -> NativeCode:
    """The C of a plan. SpecError if some of it has no C."""
    monitor = _monitor(planned)
    try:
        unit = generate(monitor, CodeOptions(observers=True))
    except SpecError as why:
        also = tuple((line, None) for line in _claims_without_c(planned))
        raise SpecError(why.message, why.where, write="run without --native", also=(*why.also, *also)) from None
    count = len(planned.specification.observers)
    groups = list(_state_groups(unit, planned))
    index = {name: (g, i) for g, group in enumerate(groups) for name, i in group.cells.items()}
    code = NativeCode(
        {},
        [_columns(v.type) for v in planned.inputs],
        [ArrayColumn(BOOL) for _ in monitor.triggers],
        [[_columns(arg.type) for _, arg in t.args] for t in monitor.triggers],
        [_columns(o.term.type) for o in monitor.observers[:count]],
        [ArrayColumn(BOOL) for _ in monitor.observers[count:]],
        [[ArrayColumn(t, group.length) for _, t in part_names("", group.type)] for group in groups],
        [index.get(c.name) for c in planned.cells],
        [c.name in index and unit.code.places[c.name][0].window is None for c in planned.cells],
    )
    text = "\n".join([*_declarations(unit, code), *_handlers(unit, monitor), *_steps(unit, planned), *_state(groups)])
    rows = (files("streamcheck.deliver") / "sources" / ROWS).read_text(encoding="utf-8")
    code.files.update({**unit.code.files, ROWS: rows, "run.c": text + "\n"})
    return code


def _claims_without_c(planned: Plan) -> Iterator[str]:
    """A line about the claims without C, if the rest of the spec has it."""
    if not _has_c(replace(planned, properties=[], assumptions=[])):
        return
    for kind, claims in (("property", planned.properties), ("assumption", planned.assumptions)):
        for claim in claims:
            if not _has_c(replace(planned, properties=[claim], assumptions=[])):
                yield f"{kind} {claim[0]} needs it, no trigger or observer does: in another Spec, the rest runs"


def _has_c(planned: Plan) -> bool:
    try:
        generate(_monitor(planned), CodeOptions(observers=True))
    except SpecError:
        return False
    return True


def _monitor(planned: Plan) -> Specification:
    specification = planned.specification
    claims = [claim for _, claim in (*planned.properties, *planned.assumptions)]
    shown = [o.term for o in specification.observers] + claims
    return replace(
        specification,
        name=NAME,
        triggers=tuple(
            replace(t, name=f"trigger_{i}", args=tuple((None, arg) for _, arg in t.args))
            for i, t in enumerate(specification.triggers)
        ),
        observers=tuple(Named(f"shown_{i}", term, None) for i, term in enumerate(shown)),
        properties=(),
        assumptions=(),
    )


def _columns(type: Type) -> list[ArrayColumn]:
    return [ArrayColumn(t) for _, t in part_names("", type)]


def _declarations(unit: Unit, code: NativeCode) -> Iterator[str]:
    yield "#include <math.h>"
    yield from (f"#define {f}f(x) ((float){f}((double)(x)))" for f in SINGLE)
    yield from (f"#define {f}f(x, y) ((float){f}((double)(x), (double)(y)))" for f in ("atan2", "pow"))
    yield from (f'#include "{unit.code.base}.c"', f'#include "{ROWS}"', "", "static int64_t sc_now;")
    yield f"static {NAME}_state state;"
    kinds = {
        "in": [c for group in code.inputs for c in group],
        "fired": code.fired,
        "arg": [c for groups in code.args for group in groups for c in group],
        "shown": [*(c for group in code.observers for c in group), *code.claims],
        "kept": [c for group in code.state for c in group],
    }
    bound: list[str] = []
    for kind, columns in kinds.items():
        for i, column in enumerate(columns):
            yield f"static {c_type(column.type)} *sc_{kind}{i};"
            bound.append(f"    sc_{kind}{i} = columns[{len(bound)}];")
    yield from ("", "void sc_bind(void *const *columns)", "{", *(bound or ["    (void)columns;"]), "}", "")


def _handlers(unit: Unit, monitor: Specification) -> Iterator[str]:
    count = 0
    for i, handler in enumerate(unit.interface["handlers"]):
        yield from (handler["prototype"], "{", f"    sc_fired{i}[sc_now] = true;")
        for leaf in handler["leaves"]:
            yield f"    sc_arg{count}[sc_now] = {leaf['value']};"
            count += 1
        yield from ("}", "")


def _steps(unit: Unit, planned: Plan) -> Iterator[str]:
    handlers, observers = unit.interface["handlers"], unit.interface["observers"]
    yield from ("void sc_start(void)", "{", f"    {NAME}_init(&state);", "}", "")
    yield from ("void sc_steps(int64_t from, int64_t to)", "{")
    if unit.interface["inputs"]:
        yield f"    {NAME}_inputs inputs;"
    yield "    for (sc_now = from; sc_now < to; sc_now++) {"
    given = {i["name"]: i for i in unit.interface["inputs"]}
    count = 0
    for var in planned.inputs:
        for part, _ in part_names("", var.type):
            if var.payload in given:  # else nothing of the C depends on it
                yield f"        inputs.{c_path(given[var.payload]['c'], part)} = sc_in{count}[sc_now];"
            count += 1
    yield from (f"        sc_fired{i}[sc_now] = false;" for i in range(len(handlers)))
    yield f"        {unit.code.step}(&state{', &inputs' if given else ''});"
    for i, leaf in enumerate(leaf for o in observers for leaf in o["leaves"]):
        yield f"        sc_shown{i}[sc_now] = state.observed.{leaf['path']};"
    yield from ("    }", "}", "")


# The state


@dataclass(frozen=True, slots=True)
class StateGroup:
    """A variable of the state: a cell, or an array of some. `cells` has the element of each, by its name."""

    type: Type
    length: int
    path: str  # of the element `i`
    cells: dict[str, int]


def _state_groups(unit: Unit, planned: Plan) -> Iterator[StateGroup]:
    by_variable: dict[str, list[tuple[str, Place, Type]]] = {}
    for cell in planned.cells:
        place = next(iter(unit.code.places.get(cell.name, ())), None)
        if place is not None:
            by_variable.setdefault(place.variable, []).append((cell.name, place, cell.initial.type))
    for variable, members in by_variable.items():
        _, place, type = members[0]
        index = place.window.index if place.window else place.ring
        if index:  # position i is the element that is i after the oldest, in a window too
            path = f"state.{variable}[((uint32_t)state.{index} + i) % {place.length}u]"
            yield StateGroup(type, place.length, path, {name: p.position for name, p, _ in members})
        elif place.element is not None:
            elements = {name: p.element for name, p, _ in members if p.element is not None}
            yield StateGroup(type, max(elements.values()) + 1, f"state.{variable}[i]", elements)
        else:
            yield StateGroup(type, 1, f"state.{variable}", {members[0][0]: 0})


def _state(groups: Sequence[StateGroup]) -> Iterator[str]:
    yield from ("void sc_state(void)", "{")
    count = 0
    for group in groups:
        yield f"    for (uint32_t i = 0; i < {group.length}u; i++) {{"
        for part, _ in part_names("", group.type):
            yield f"        sc_kept{count}[i] = {c_path(group.path, part)};"
            count += 1
        yield "    }"
    yield "}"
