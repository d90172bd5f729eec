"""The parts of the C that other files rely on: its interface is the spec's, also if the step does not use it.

The fields of structs and the constants of enums have their names and values, handlers their parameters, the functions
of the monitor and its objects external linkage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamcheck.c import kinds
from streamcheck.c.arithmetic import CValue
from streamcheck.c.declarations import Typedef
from streamcheck.c.kinds import AnyKind, Array, Opaque, Pointer, Struct
from streamcheck.core.c_names import c_name, member_name
from streamcheck.core.errors import SpecError
from streamcheck.core.types import ArrayType, EnumType, StructType, Type
from streamcheck.problem.places import Code
from streamcheck.problem.specification import Trigger
from streamcheck.validate.execution import Execution


def check_interface(run: Execution, code: Code) -> None:
    """SpecError if a part of the interface is not the spec's."""
    _check_handlers(run, code)
    names = [code.step] if code.copilot else [f"{code.base}_init", code.step]
    for name in names:
        function = run.functions.get(name)
        if function is None or function.body is None or function.static or function.result != kinds.VOID:
            raise SpecError(f"{name} is not a function for other files")
    own = {
        *names,
        f"{code.base}_inputs_valid",
        f"{code.base}_assumptions_hold",
        *(code.c_name("trigger", t.name) for t in code.specification.triggers),
    }
    for name, function in run.functions.items():
        if name not in own and not function.static:
            raise SpecError(f"{name} is seen by other files", function.where)
    for type in _types(code):
        _check_type(run, code, type)
    _check_objects(run, code)
    if not code.copilot:
        _check_functions(run, code)


def _check_functions(run: Execution, code: Code) -> None:
    """The functions have the parameters that users call them with: NAME_init those that the handlers' form needs."""
    state = kind_of_struct(run, code, "state")
    links: list[AnyKind] = []
    if code.handlers == "table":
        links.append(Pointer(kind_of_struct(run, code, "handlers"), constant=True))
    if code.handlers != "functions":
        links.append(Pointer(kinds.VOID))
    given: list[AnyKind] = []
    if f"{code.base}_inputs" in run.globals.names:
        given.append(Pointer(kind_of_struct(run, code, "inputs"), constant=True))
    wanted = {
        f"{code.base}_init": [Pointer(state), *links],
        code.step: [Pointer(state), *given],
        f"{code.base}_inputs_valid": given,
        f"{code.base}_assumptions_hold": [Pointer(state, constant=True)],
    }
    for name, parameters in wanted.items():
        if name in run.functions and [kind for _, kind in run.functions[name].parameters] != parameters:
            raise SpecError(f"{name} has other parameters")


def kind_of_struct(run: Execution, code: Code, name: str) -> Struct:
    """The struct that NAME_state, NAME_inputs or NAME_handlers is."""
    meaning = run.globals.names.get(f"{code.base}_{name}")
    if not isinstance(meaning, Typedef) or not isinstance(meaning.kind, Struct):
        raise SpecError(f"no type {code.base}_{name}")
    return meaning.kind


def _check_handlers(run: Execution, code: Code) -> None:
    triggers = {code.c_name("trigger", t.name): t for t in code.specification.triggers}
    if code.handlers == "table":
        fields = kind_of_struct(run, code, "handlers").fields
        if [name for name, _ in fields] != list(triggers):
            raise SpecError(f"{code.base}_handlers does not have the handlers")
        for name, kind in fields:
            result, parameters = (kind.signature if isinstance(kind, Opaque) else None) or (kind, ())
            if result != kinds.VOID:
                raise SpecError(f"{name} is not declared as a handler")
            _check_parameters(run, code, triggers[name], [k for _, k in parameters])
        return
    for name, trigger in triggers.items():
        function = run.functions.get(name)
        if function is None or function.body is not None or function.static or function.result != kinds.VOID:
            raise SpecError(f"{name} is not declared as a handler")
        _check_parameters(run, code, trigger, [kind for _, kind in function.parameters])


def _check_parameters(run: Execution, code: Code, trigger: Trigger, given: list[AnyKind]) -> None:
    name = code.c_name("trigger", trigger.name)
    if code.handlers != "functions":
        if not given or given[0] != Pointer(kinds.VOID):
            raise SpecError(f"{name} does not get the user's pointer")
        given = given[1:]
    if len(given) != len(trigger.args):
        raise SpecError(f"{name} has {len(given)} parameters instead of {len(trigger.args)}")
    for i, (kind, (_, arg)) in enumerate(zip(given, trigger.args, strict=True)):
        wanted = arg.type
        if isinstance(kind, Pointer):  # to the struct, or to the first element
            is_nested = isinstance(wanted, ArrayType) and isinstance(wanted.element, ArrayType)
            if kind.constant == (code.copilot or is_nested):  # no const array of arrays can be passed before C2X
                raise SpecError(f"parameter {i} of {name} is {'' if kind.constant else 'not '}const")
            wanted = wanted.element if isinstance(wanted, ArrayType) else wanted
            kind = kind.target
        elif isinstance(wanted, ArrayType | StructType):
            raise SpecError(f"parameter {i} of {name} is no pointer")
        if not _is_of(run, kind, wanted):
            raise SpecError(f"parameter {i} of {name} has another type")


def _is_of(run: Execution, kind: AnyKind, type: Type) -> bool:
    match type:
        case ArrayType():
            return isinstance(kind, Array) and kind.length == type.length and _is_of(run, kind.element, type.element)
        case StructType():
            fields = [(member_name(name), t) for name, t in type.fields]
            return (
                isinstance(kind, Struct)
                and [name for name, _ in kind.fields] == [name for name, _ in fields]
                and all(_is_of(run, k, t) for (_, k), (_, t) in zip(kind.fields, fields, strict=True))
            )
        case EnumType():
            return kind == kinds.INT
    return (
        not isinstance(kind, Array | Struct | Pointer) and kind != kinds.VOID and run.arithmetic.type_of(kind) is type
    )


def _types(code: Code) -> Iterator[Type]:
    """The types of the interface, each with its parts."""
    specification = code.specification
    stack = [arg.type for t in specification.triggers for _, arg in t.args]
    stack += [o.term.type for o in specification.observers] if code.observers else []
    stack += [c.initial.type for c in specification.cells if c.name in code.places]
    seen: set[Type] = set()
    while stack:
        type = stack.pop()
        if type in seen:
            continue
        seen.add(type)
        yield type
        if isinstance(type, ArrayType):
            stack.append(type.element)
        elif isinstance(type, StructType):
            stack += [t for _, t in type.fields]


def _check_type(run: Execution, code: Code, type: Type) -> None:
    if isinstance(type, StructType):
        kind = run.globals.tag(c_name(f"{code.prefix}{type.name}"))
        if kind is None or not _is_of(run, kind, type):
            raise SpecError(f"the struct {type.name} has other fields")
    elif isinstance(type, EnumType):
        for member, value in type.members:
            _check_constant(run, c_name(f"{code.prefix}{type.name}_{member}"), value)


def _check_constant(run: Execution, name: str, value: int) -> None:
    meaning = run.globals.names.get(name)
    if not isinstance(meaning, CValue) or meaning.term.payload != value:
        raise SpecError(f"the constant {name} is not {value}")


def _check_objects(run: Execution, code: Code) -> None:
    """Objects that other files see: inputs of theirs, and the observers, which the source defines."""
    shown = f"{code.base}_observed"
    given: dict[str, AnyKind] = {}
    declared: set[str] = set()
    for node in run.objects:
        if node.name == shown:
            if node.init is not None or node.quals or node.storage != ([] if shown in declared else ["extern"]):
                raise SpecError(f"{shown} is not declared and defined once")
            if run.declarations.kind_of(node, run.scope) != run.globals.tag(f"{code.base}_observers"):
                raise SpecError(f"{shown} has another type")
        elif "extern" in node.storage:
            if node.quals or node.init is not None:
                raise SpecError(f"the variable {node.name} is not an extern of the spec")
            given[node.name] = run.declarations.kind_of(node, run.scope)
        declared.add(node.name)
    wanted = 2 if code.copilot and code.observers and code.specification.observers else 0
    if sum(node.name == shown for node in run.objects) != wanted:
        raise SpecError(f"{shown} is not declared and defined once")
    meaning = run.globals.names.get(f"{code.base}_inputs")
    if isinstance(meaning, Typedef) and isinstance(meaning.kind, Struct):
        given |= dict(meaning.kind.fields)
    _check_inputs(run, code, given)


def _check_inputs(run: Execution, code: Code, given: Mapping[str, AnyKind]) -> None:
    """The inputs are the externs that triggers and observers depend on, with their types."""
    specification = code.specification
    needed = specification.needed_by(code.roots())
    externs = [i for i in specification.inputs if i.extern and i.var in needed]
    names = {code.c_name("extern", i.name): i for i in externs}
    if names.keys() != given.keys():
        raise SpecError(f"the input {min(names.keys() ^ given.keys())} is not an extern of the spec, or missing")
    for name, kind in given.items():
        if not _is_of(run, kind, names[name].type):
            raise SpecError(f"the input {name} has another type")
        _check_constants(run, code, names[name].type)


def _check_constants(run: Execution, code: Code, type: Type) -> None:
    match type:
        case EnumType():
            _check_type(run, code, type)
        case ArrayType():
            _check_constants(run, code, type.element)
        case StructType():
            for _, t in type.fields:
                _check_constants(run, code, t)
