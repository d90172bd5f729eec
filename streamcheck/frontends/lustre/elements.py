"""Arrays defined element by element: `a[i] = …`; an element may depend on those before it.

Each element that is read becomes a name of its own, `a[0]`, defined in the scope of the array.
"""

from __future__ import annotations

from typing import TypeAlias

from streamcheck.core.term import constant
from streamcheck.core.types import INT, ArrayType
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.open_arrays import is_open
from streamcheck.frontends.lustre.scopes import LazyDefinition, LazyElements, LustreScope
from streamcheck.frontends.lustre.syntax import ExpressionText, name_expression

Position: TypeAlias = tuple[int, ...]
Indexed: TypeAlias = tuple[LustreScope, LazyElements, list[ExpressionText]]  # an array, its scope, and indices


def lazy_array_of(declarations: LustreDeclarations, e: ExpressionText, scope: LustreScope) -> Indexed | None:
    """The array and indices if `e` is one element of an array that is defined element by element and has a size, else
    None."""
    indices: list[ExpressionText] = []
    base = e
    while base.op == "index":
        indices.insert(0, base.args[1])
        base = base.args[0]
    owner = scope.owner(base.value) if base.op == "name" else None
    array = None if owner is None else owner.definitions.get(base.value)
    if owner is None or not isinstance(array, LazyElements) or len(indices) != len(array.indices):
        return None
    if is_open(declarations, owner.shapes[array.name].type, len(indices)):
        return None
    return owner, array, indices


def element(
    declarations: LustreDeclarations, owner: LustreScope, array: LazyElements, position: Position, at: int
) -> str:
    """The name of one element, which is defined now if it was not. Outside the array it is any value."""
    name = _element_name(array, position)
    if name not in owner.values and name not in owner.definitions:
        lengths = _lengths(declarations, owner, array)
        if all(0 <= i < length for i, length in zip(position, lengths, strict=True)):
            _define_element(owner, array, position)
        else:
            type = owner.shapes[array.name].type
            for _ in position:
                assert isinstance(type, ArrayType)
                type = type.element
            declarations.variables.warn(at, f"{name} is outside of the array: it has any value")
            owner.values[name] = declarations.variables.unknown(owner.path + name, type, at)
    return name


def whole_array(declarations: LustreDeclarations, owner: LustreScope, array: LazyElements) -> ExpressionText:
    """The array as a literal of its elements."""
    lengths = _lengths(declarations, owner, array)

    def literal(position: Position) -> ExpressionText:
        if len(position) == len(lengths):
            name = _element_name(array, position)
            if name not in owner.values and name not in owner.definitions:
                _define_element(owner, array, position)
            return name_expression(name, array.at)
        parts = tuple(literal((*position, i)) for i in range(lengths[len(position)]))
        return ExpressionText("array", parts, None, array.at)

    return literal(())


def _element_name(array: LazyElements, position: Position) -> str:
    return array.name + "".join(f"[{i}]" for i in position)


def _define_element(owner: LustreScope, array: LazyElements, position: Position) -> None:
    inner = LustreScope(owner.path, owner.context, owner, owner.node)
    for index, value in zip(array.indices, position, strict=True):
        inner.values[index] = constant(INT, value)
    name = _element_name(array, position)
    owner.definitions[name] = LazyDefinition((name,), array.value, inner, array.at)


def _lengths(declarations: LustreDeclarations, owner: LustreScope, array: LazyElements) -> list[int]:
    """The lengths, outermost first."""
    return declarations.lengths(owner.shapes[array.name], len(array.indices), array.at)
