"""Parameters that are `restrict` (6.7.3.1), and the names that a function and what it calls use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcheck.c import pointers
from streamcheck.c.declarations import Address, CResult, Function, Pointee, PointerVariable
from streamcheck.c.kinds import Pointer
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import form
from streamcheck.core.term import FALSE
from streamcheck.frontends.minic.callbacks import nodes_in
from streamcheck.frontends.minic.order import may_overlap

if TYPE_CHECKING:
    from streamcheck.frontends.minic.calls import Calls
    from streamcheck.frontends.minic.expressions import Expressions


def require_restrict(function: Function, values: list[CResult], calls: Calls) -> None:
    """The end of what is modelled, if what a `restrict` parameter points to may change by another name."""
    to = calls.expressions
    pointers_to = {
        name: pointers.pointee_of(value, to, function.body).lvalue
        for (name, kind), value in zip(function.parameters, values, strict=True)
        if isinstance(kind, Pointer) and isinstance(value, Pointee | Lvalue)
    }
    computed = [name for (name, _), v in zip(function.parameters, values, strict=True) if isinstance(v, Address)]
    if function.restricted and computed:
        _leave(function, min(function.restricted), f"{computed[0]} may point", to)
    constant = {n for n, k in function.parameters if isinstance(k, Pointer) and k.constant}
    used = names_reached(function, calls) if function.restricted else set()
    for name in sorted(function.restricted & pointers_to.keys()):
        for other, target in pointers_to.items():
            same = target.object is pointers_to[name].object and may_overlap(target, pointers_to[name], to.model)
            if other != name and same and not {name, other} <= constant:
                _leave(function, name, f"{other} points", to)
        if to.storage.keys.get(pointers_to[name].object) in to.memory_plan.regions:
            _leave(function, name, "a computed pointer may point", to)
        if _is_target_of(used, pointers_to[name], calls):
            _leave(function, name, "a pointer that it names may point", to)
        if pointers_to[name].object.name in used and not pointers_to[name].is_constant:
            _leave(function, name, f"{pointers_to[name].object.name} is", to)


def names_used(function: Function, calls: Calls) -> set[str]:
    """The names in the function and in those of the file that it calls."""
    waiting, used = [function.body], set[str]()
    while waiting:
        new = {n.name for n in nodes_in(waiting.pop()) if form(n) == "ID"} - used
        used |= new
        found = (calls.statements.globals.names.get(name) for name in new)
        waiting += [f.body for f in found if isinstance(f, Function) and f.body is not None]
    return used


def names_reached(function: Function, calls: Calls) -> set[str]:
    """The same, and those in functions that may be called through pointers."""
    found = names_used(function, calls)
    for name in calls.expressions.memory_plan.functions:
        pointed = calls.statements.globals.names.get(name)
        if isinstance(pointed, Function):
            found |= {name} | names_used(pointed, calls)
    return found


def _leave(function: Function, name: str, other: str, to: Expressions) -> None:
    reason = f"{name} is restrict, and {other} into the same object"
    to.limit(f"call of {function.name}", reason, FALSE)


def _is_target_of(used: set[str], target: Lvalue, calls: Calls) -> bool:
    """A pointer of these names points into the same object."""
    found = (calls.statements.globals.names.get(name) for name in used)
    targets = (p.target for p in found if isinstance(p, PointerVariable) and p.target is not None)
    return any(pointee.lvalue.object is target.object for pointee in targets)
