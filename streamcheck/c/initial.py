"""Initialisers in braces (6.7.8): which scalar gets which expression. What is left out is zero."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamcheck.c import kinds
from streamcheck.c.kinds import AnyKind, Array, Integer, Struct
from streamcheck.c.literals import characters
from streamcheck.c.lvalues import is_storable
from streamcheck.c.syntax import form

if TYPE_CHECKING:
    from streamcheck.c.expressions import Evaluator

PartPath = tuple["str | int", ...]  # fields and indices from the outside in


@dataclass(frozen=True, slots=True)
class ArrayLiteral:
    """A compound literal of an array without a size, as a declaration."""

    name: str
    type: Any
    init: Any


def kind_of(node: Any, to: Evaluator) -> AnyKind:
    """The kind of a declared variable. An array without a size takes it from its initialiser."""
    if form(node.type) == "ArrayDecl" and node.type.dim is None:
        element = to.declarations.kind_of(node.type.type, to.scope)
        if form(node.init) == "InitList" and not (node.init.exprs and is_text(Array(element, 1), node.init.exprs[0])):
            places = [path[0] for path, _ in items(Array(element, 1 << 30), node.init, to)]
            return Array(element, max((p for p in places if isinstance(p, int)), default=0) + 1)
        text = node.init.exprs[0] if form(node.init) == "InitList" else node.init
        if is_text(Array(element, 1), text):
            return Array(element, len(string(text, to)))
        raise to.error(f"the array {node.name} has no size", node)
    kind = to.declarations.kind_of(node, to.scope)
    if kind == kinds.VOID:
        raise to.error(f"{node.name} is void", node)
    return kind


def kind_at(kind: AnyKind, path: PartPath) -> AnyKind:
    """The kind of a part."""
    for step in path:
        if isinstance(kind, Array):
            kind = kind.element
        elif isinstance(kind, Struct):
            kind = kind.kind_of(str(step))
    return kind


def items(kind: AnyKind, node: Any, to: Evaluator) -> Iterator[tuple[PartPath, Any]]:
    """The scalars that an initialiser in braces gives, each with its path."""
    if not isinstance(kind, Array | Struct):
        yield (), node.exprs[0]
        return
    if node.exprs and is_text(kind, node.exprs[0]):  # char t[] = {"ab"}
        yield from _text_items(kind, node.exprs[0], to)
        return
    place = 0
    queue = list(node.exprs)
    names = [name for name, _ in kind.fields] if isinstance(kind, Struct) else []
    most = kind.length if isinstance(kind, Array) else len(names)
    one_only = isinstance(kind, Struct) and kind.union
    while queue:
        part = queue[0]
        named = form(part) == "NamedInitializer"
        if named:
            step, inner = _designation(kind, part, names, to)
            place = step
            queue[0] = inner
            part = inner
        if place >= most or (one_only and place > 0 and not named):
            raise to.error("more values than elements or fields", part)
        key: str | int = place if isinstance(kind, Array) else names[place]
        below = kind.element if isinstance(kind, Array) else kind.kind_of(str(key))
        if not is_storable(below, pointers=not to.is_portable):
            queue.pop(0)  # it cannot be read
        elif is_text(below, part):
            queue.pop(0)
            yield from (((key, *path), code) for path, code in _text_items(below, part, to))
        elif form(part) == "InitList":
            queue.pop(0)
            yield from (((key, *path), leaf) for path, leaf in items(below, part, to))
        elif isinstance(below, Array | Struct):
            yield from (((key, *path), leaf) for path, leaf in _scalars_in_order(below, queue, to))
        else:
            yield (key,), queue.pop(0)
        place += 1


def _scalars_in_order(kind: AnyKind, queue: list[Any], to: Evaluator) -> Iterator[tuple[PartPath, Any]]:
    """Inner braces left out: the values go to the scalars in order."""
    if not queue:
        return
    if is_text(kind, queue[0]):
        yield from _text_items(kind, queue.pop(0), to)
    elif not is_storable(kind, pointers=not to.is_portable) and not isinstance(kind, Array):
        queue.pop(0)
    elif isinstance(kind, Array):
        for i in range(kind.length):
            yield from (((i, *path), leaf) for path, leaf in _scalars_in_order(kind.element, queue, to))
    elif isinstance(kind, Struct):
        for name, inner in kind.fields[:1] if kind.union else kind.fields:
            yield from (((name, *path), leaf) for path, leaf in _scalars_in_order(inner, queue, to))
    else:
        yield (), queue.pop(0)


def is_text(kind: AnyKind, node: Any) -> bool:
    """A string literal that gives an array of characters its elements."""
    if not isinstance(kind, Array) or form(node) != "Constant" or node.type != "string":
        return False
    return isinstance(kind.element, Integer) and kind.element.width == 8


def _text_items(kind: AnyKind, node: Any, to: Evaluator) -> Iterator[tuple[PartPath, int]]:
    assert isinstance(kind, Array)
    yield from (((i,), code) for i, code in enumerate(string(node, to)[: kind.length]))


def _designation(kind: AnyKind, node: Any, names: list[str], to: Evaluator) -> tuple[int, Any]:
    if len(node.name) != 1:
        raise to.error("a nested designator is not supported", node)
    if isinstance(kind, Array):
        inner = node.name[0]
        return to.constant(getattr(inner, "expr", None) or getattr(inner, "dim", None) or inner), node.expr
    if node.name[0].name not in names:
        raise to.error(f"{kind} has no field {node.name[0].name}", node)
    return names.index(node.name[0].name), node.expr


def string(node: Any, to: Evaluator) -> list[int]:
    """The characters of a string literal and the zero at its end."""
    codes = characters(node, signed=to.model.char_signed)
    if codes is None:
        raise to.error(f"the string {node.value} is not supported", node)
    return [*codes, 0]


def scalar_values(kind: AnyKind, node: Any, to: Evaluator) -> dict[PartPath, Any]:
    """The nodes (for a string: the numbers) of an initialiser of an array or struct, by path."""
    if form(node) == "InitList":
        return dict(items(kind, node, to))
    if is_text(kind, node):
        return dict(_text_items(kind, node, to))
    raise to.error(f"{to.text(node)} cannot initialise an array", node)
