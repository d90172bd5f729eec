"""Arrays whose length is known only as the program runs (6.7.5.2).

A length that is a constant on the path to the declaration is that constant. Any other is stored when the declaration is
reached: it must be above 0, and indexes and pointers are bounded by it. Such an array has storage for as many elements
as its length can have, and at most `MOST_SCALARS` numbers; a longer one ends what is modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from streamcheck.c import effects, kinds
from streamcheck.c.arithmetic import SideCondition
from streamcheck.c.kinds import AnyKind, Array, Integer
from streamcheck.c.syntax import form
from streamcheck.c.terms import comparison, recast
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term, constant, variable

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions

MOST_SCALARS = 2_000_000  # of one variable: the values of its elements are listed
MOST_LIMITED = 4096  # of those with a condition on each of them: mathematical integers that have a range


def has_variable_length(node: Any, to: Expressions) -> bool:
    """The declaration is of an array with a length that is not a constant expression."""
    return any(not _is_constant(array.dim, to) for array in _arrays(node.type))


def kind_of(node: Any, to: Expressions, length: Callable[[int], Term]) -> AnyKind:
    """The kind of such an array. Evaluates and stores its lengths; `length` gives the variable for each of them."""
    arrays = _arrays(node.type)
    if len(arrays) > 1 and any(effects.level(a.dim, to.scope) == effects.ACTS for a in arrays):
        raise to.error("lengths of an array with side effects are not supported", node)
    if node.init is not None:
        raise to.error(f"{node.name} has a variable length, so it cannot be initialised", node)
    element = to.declarations.kind_of(arrays[-1].type, to.scope)
    known = [_length(array.dim, number, to, length) for number, array in enumerate(arrays)]
    fixed = kinds.number_of_scalars(element)
    for size, _, _ in known:
        fixed *= 1 if size is None else size
    room = _room(element, fixed, [high for size, high, _ in known if size is None], to)
    kind: AnyKind = element
    for size, high, count in reversed(known):
        kind = Array(kind, min(high, room), count) if size is None else Array(kind, size)
        if count is not None and high > room:
            most = constant(count.type, room)
            reason = f"an array of variable length is modelled up to {room:,} elements"
            to.limit(f"array {node.name} of more than {room:,}", reason, comparison("le", count, most))
    return kind


def _arrays(kind: Any) -> list[Any]:
    """The arrays of a declared type, from the outermost."""
    found = []
    while form(kind) == "ArrayDecl" and kind.dim is not None:
        found.append(kind)
        kind = kind.type
    return found


def _is_constant(node: Any, to: Expressions) -> bool:
    try:
        to.constant(node)
    except SpecError:
        return False
    return True


def _length(
    node: Any, number: int, to: Expressions, length: Callable[[int], Term]
) -> tuple[int | None, int, Term | None]:
    """The length if it is known on this path, the greatest one of its type, and the variable for it."""
    value = to.scalar(node)
    if not isinstance(value.kind, Integer):
        raise to.error(f"{to.text(node)} is not an integer", node)
    known = to.flow.constant_of(value.term)
    if known.is_const and effects.level(node, to.scope) != effects.ACTS and int(known.payload) > 0:
        return int(known.payload), int(known.payload), None
    zero = constant(value.term.type, 0)
    positive = comparison("gt", value.term, zero)
    if value.kind.high > kinds.LONG.high:  # no object is as large
        positive = conjunction(positive, comparison("le", value.term, constant(zero.type, kinds.LONG.high)))
    to.arithmetic.oblige(SideCondition.LENGTH, positive)
    count = length(number)
    to.flow.step(to.where, f"length = {to.text(node)}", (count, recast(value.term, count.type)))
    return None, value.kind.high, count


def _room(element: AnyKind, fixed: int, highest: list[int], to: Expressions) -> int:
    """The number of elements in each of the dimensions whose length is not known."""
    most = MOST_SCALARS
    if to.arithmetic.mathematical:
        is_scalar = isinstance(element, Integer)
        if not is_scalar or to.arithmetic.limits(element, variable("?", to.type_of(element))) is not TRUE:
            most = MOST_LIMITED
    if not highest:
        return 1
    room = max(1, int((most // max(1, fixed)) ** (1 / len(highest))))
    return min(room, max(highest))
