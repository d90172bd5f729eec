"""memcpy and memset, of whole objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from streamcheck.c import static
from streamcheck.c.arithmetic import CValue
from streamcheck.c.declarations import CResult, Pointee
from streamcheck.c.kinds import AnyKind, Array, Pointer, Struct
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import form
from streamcheck.c.terms import number

if TYPE_CHECKING:
    from streamcheck.validate.execution import Execution


def _copy(run: Execution, node: Any, arguments: list[Any]) -> None:
    """memcpy (7.21.2.1) of an object to another of its type."""
    if len(arguments) != 3:
        raise run.error("memcpy without three arguments", node)
    size = arguments[2]
    to = run.whole(run.value(arguments[0]), arguments[0])
    source = _source(run, run.value(arguments[1]), arguments[1], to.kind)
    if form(size) != "UnaryOp" or size.op != "sizeof" or to.kind != source.kind:
        raise run.error("a memcpy that is not of one whole object to another of its type", node)
    if static.kind_of(run, size.expr) != to.kind or run.memory.may_overlap(to, source):
        raise run.error("a memcpy of another size, or to where it reads", node)
    run.refuse_pointers(to, node)
    run.refuse_constant(to, node)
    run.memory.write(to, [run.settle(v) for v in run.parts_of(source)], run.live())


def _source(run: Execution, value: CResult, node: Any, kind: AnyKind) -> Lvalue:
    """The object that a pointer points to: an array of that kind, if it is a parameter that points to its beginning."""
    match value:
        case Pointee(lvalue=Lvalue(kind=Array() as array) as whole, offset=CValue(term=at)) if array == kind:
            if at.is_const and at.payload == 0:
                return whole
    return run.whole(value, node)


def _clear(run: Execution, node: Any, arguments: list[Any]) -> None:
    """memset (7.21.6.1) of an object to zeros: 0, false (6.2.6.2) and, in IEEE 754, 0.0."""
    if len(arguments) != 3:
        raise run.error("memset without three arguments", node)
    to, byte, size = run.whole(run.value(arguments[0]), arguments[0]), run.scalar(arguments[1]).term, arguments[2]
    if not byte.is_const or byte.payload != 0 or byte.type.kind not in ("signed", "unsigned"):
        raise run.error("a memset to another byte than zero", node)
    if form(size) != "UnaryOp" or size.op != "sizeof" or static.kind_of(run, size.expr) != to.kind:
        raise run.error("a memset that is not of one whole object", node)
    if _has_pointers(to) and (to.object is not run.linking or any(object is to.object for object, _ in run.links)):
        raise run.error(f"{run.text(node)}: pointers are set to zero", node)
    run.refuse_constant(to, node)
    run.memory.write(to, [number(type, 0) for type in run.types_of(to.kind)], run.live())


def _has_pointers(place: Lvalue) -> bool:
    return isinstance(place.kind, Struct) and any(isinstance(kind, Pointer) for _, kind in place.kind.fields)


MEMORY_FUNCTIONS: Mapping[str, Callable[[Execution, Any, list[Any]], None]] = MappingProxyType(
    {"memcpy": _copy, "memset": _clear}
)
