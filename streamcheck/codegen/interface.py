"""The interface of the generated C as data: what templates of wrappers are filled with.

Plain dictionaries and lists, as in JSON. A leaf is a scalar part of an input, an argument or an observer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from streamcheck.codegen import text
from streamcheck.codegen.lower import Lowered
from streamcheck.codegen.names import CNames
from streamcheck.core.c_names import member_name
from streamcheck.core.operators import c_type
from streamcheck.core.types import (
    ArrayType,
    EnumType,
    FloatType,
    MachineType,
    StructType,
    Type,
    default,
    has_floats,
    part_names,
)
from streamcheck.problem.specification import Input, Trigger

Data: TypeAlias = dict[str, Any]


def interface_data(low: Lowered, names: CNames, signatures: dict[str, str]) -> Data:
    """The interface. `signatures` has the C signature of each trigger's handler."""
    enums = [t for t in names.types if isinstance(t, EnumType)]
    structs = [t for t in names.types if isinstance(t, StructType)]
    shown = f"{names.spec}_observed." if names.copilot else f"{names.state}.observed."
    observers = [
        _member_data(o.name, c, o.term.type, shown + c) for o in low.observers for c in [names.observer(o.name)]
    ]
    handlers = [_handler(t, names, signatures[t.name]) for t in low.specification.triggers]
    types = [*(i.type for i in low.externs), *(a.type for t in low.specification.triggers for _, a in t.args)]
    inputs = [_input(i, names) for i in low.externs]
    arguments = "" if names.copilot else f"&{names.state}" + (f", &{names.inputs}" if inputs else "")
    messages = [(h["camel"], h["source"], h["parameters"]) for h in handlers]
    messages += [(camel_case(t.name), f"the struct {t.name}", _fields(t)) for t in structs]
    return {
        "name": names.spec,
        "spec": low.specification.name,
        "camel": camel_case(names.spec),
        "snake": snake_case(names.spec),
        "upper": names.spec.upper(),
        "abi": "copilot" if names.copilot else "context",
        "copilot": names.copilot,
        "form": names.handlers,
        "has_user": "user" in names.links,
        "has_table": "handlers" in names.links,
        "static": "static " if names.handlers == "table" else "",
        "state": names.state,
        "given": names.inputs,
        "main_parameters": "int argc, char **argv" if names.copilot else "void",
        "step": names.step,
        "step_arguments": arguments,
        "inputs": inputs,
        "inputs_comma": "," if inputs else "",
        "messages": [{"camel": camel, "about": about, "fields": fields} for camel, about, fields in messages],
        "handlers": handlers,
        "observers": observers,
        "structs": [_struct(t) for t in structs],
        "enums": [_enum(t) for t in enums],
        "scalars": not any(isinstance(t, ArrayType | StructType) for t in types),
        "nested_arrays": any(_has_nested_arrays(t) for t in types),
        "floats": any(has_floats(t) for t in types),
    }


def camel_case(name: str) -> str:
    """`rate_limit` as `RateLimit`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or name


def snake_case(name: str) -> str:
    """`maxSpeed` as `max_speed`: small letters, no underscore at an end, never two together."""
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return re.sub(r"_+", "_", spread).strip("_") or "x"


def _member_data(name: str, chosen: str, type: Type, path: str) -> Data:
    return {
        "name": name,
        "c": chosen,
        "snake": snake_case(name),
        "camel": camel_case(name),
        "declaration": text.declaration(type, chosen),
        **_type_data(type),
        "leaves": [_leaf(name, part, t, chosen, path) for part, t in part_names("", type)],
    }


def _type_data(type: Type) -> Data:
    element = type
    while isinstance(element, ArrayType):
        element = element.element
    lengths = f"[{_elements(type)}]" if isinstance(type, ArrayType) else ""
    return {
        "type": str(type),
        "c_type": c_type(type),
        "ros_type": (camel_case(element.name) if isinstance(element, StructType) else _ros_type(element)) + lengths,
        "fpp_type": _fpp_type(type),
        "cpp_type": _cpp_type(type),
    }


def _has_nested_arrays(type: Type) -> bool:
    match type:
        case ArrayType():
            return isinstance(type.element, ArrayType) or _has_nested_arrays(type.element)
        case StructType():
            return any(_has_nested_arrays(t) for _, t in type.fields)
    return False


def _elements(type: Type) -> int:
    return type.length * _elements(type.element) if isinstance(type, ArrayType) else 1


def _ros_type(type: Type) -> str:
    if isinstance(type, FloatType):
        return f"float{type.width}"
    return c_type(type).removesuffix("_t")


def _fpp_type(type: Type) -> str:
    match type:
        case MachineType():
            return f"{'I' if type.signed else 'U'}{type.width}"
        case FloatType():
            return f"F{type.width}"
        case EnumType():
            return "I32"
    return "bool" if type.kind == "bool" else ""


def _cpp_type(type: Type) -> str:
    """The C++ type of F' for a scalar."""
    name = _fpp_type(type)
    return name if name.startswith(("U", "I", "F")) else "bool"


def _leaf(name: str, part: str, type: Type, root: str, path: str) -> Data:
    """`root` is the name in C, `path` the C expression for the whole, if that is another."""
    format, shown = _print_form(type)
    value = text.c_path(path or root, part)
    below = part.split(".")[1:]
    return {
        "label": name + "".join(f"[{p}]" if p.isdigit() else f".{p}" for p in below),
        "path": text.c_path(root, part),
        "value": value,
        "ros_path": snake_case(name) + "".join(f"[{p}]" if p.isdigit() else f".{snake_case(p)}" for p in below),
        **_type_data(type),
        "zero": text.literal(type, default(type)).text,
        "format": format,
        "shown": shown.format(value),
        "log": {"Float": "sc_float", "Double": "sc_double"}.get(str(type), "sc_word"),
        "logged": _word(type).format(value),
    }


def _word(type: Type) -> str:
    """A scalar as the bits that it has in its own type; a float as it is."""
    match type:
        case FloatType():
            return "{}"
        case MachineType(width=width, signed=True):
            return f"(uint{width}_t){{}}"
        case EnumType():
            return "(uint32_t){}"
    return "{}" if isinstance(type, MachineType) else "{} ? 1u : 0u"


def _print_form(type: Type) -> tuple[str, str]:
    """How `printf` shows a scalar."""
    match type:
        case FloatType():
            return "%g", "(double){}"
        case MachineType(width=64, signed=signed):
            return ("%lld", "(long long){}") if signed else ("%llu", "(unsigned long long){}")
        case MachineType(signed=False):
            return "%lu", "(unsigned long){}"
        case MachineType() | EnumType():
            return "%ld", "(long){}"
    return "%d", "(int){}"


def _input(given: Input, names: CNames) -> Data:
    about = " ".join(part for part in (given.doc, given.unit and f"in {given.unit}") if part)
    called = names.extern(given.name)
    data = _member_data(given.name, called, given.type, "")
    doc = text.comment(about)[3:-3] if about else ""
    for leaf in data["leaves"]:
        leaf["place"] = leaf["path"] if names.copilot else f"{names.inputs}.{leaf['path']}"
    return data | {
        "doc": doc,
        "remark": f"  # {doc}" if doc else "",
        "annotation": f" @< {doc}" if doc else "",
        "unit": given.unit,
    }


def _handler(trigger: Trigger, names: CNames, signature: str) -> Data:
    parameters = [
        _member_data(given or name, name, arg.type, f"(*{name})" if isinstance(arg.type, StructType) else name)
        for name, (given, arg) in zip(names.parameters(trigger.name), trigger.args, strict=True)
    ]
    leaves = [leaf for p in parameters for leaf in p["leaves"]]
    called = names.trigger(trigger.name)
    return {
        "name": trigger.name,
        "c": called,
        "snake": snake_case(trigger.name),
        "camel": camel_case(trigger.name),
        "source": text.comment(text.source(trigger.where))[3:-3],
        "prototype": f"void {signature}",
        "parameters": parameters,
        "parameters_comma": ", " if parameters else "",
        "arguments": ", ".join(p["c"] for p in parameters),
        "leaves": leaves,
        "format": " ".join(f"{leaf['label']}={leaf['format']}" for leaf in leaves),
        "shown": "".join(f", {leaf['shown']}" for leaf in leaves),
    }


def _struct(type: StructType) -> Data:
    return {"name": type.name, "c": c_type(type), "camel": camel_case(type.name), "fields": _fields(type)}


def _fields(type: StructType) -> list[Data]:
    return [_member_data(name, member_name(name), t, "") for name, t in type.fields]


def _enum(type: EnumType) -> Data:
    return {"name": type.name, "members": _members(type.members, type)}


def _members(members: Iterable[tuple[str, int]], type: EnumType) -> list[Data]:
    return [{"name": name, "c": text.enum_constant(type, code), "code": code} for name, code in members]
