"""Initialisers: what variables begin with, in braces or not, the rest zero."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import ArrayType, default
from streamcheck.frontends.minic import effects, kinds
from streamcheck.frontends.minic.arithmetic import Value
from streamcheck.frontends.minic.kinds import Array, Kind, Pointer, Struct
from streamcheck.frontends.minic.places import Place, leaves

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions

Path = tuple["str | int", ...]


def kind_of(node: Any, to: Expressions) -> Kind:
    """The type of a declared variable; an array without a size takes it from its initialiser."""
    if node.type.__class__.__name__ == "ArrayDecl" and node.type.dim is None:
        element = to.types.of(node.type.type, to.scope)
        if node.init.__class__.__name__ == "InitList":
            places = [path[0] for path, _ in items(Array(element, 1 << 30), node.init, to)]
            return Array(element, max((p for p in places if isinstance(p, int)), default=0) + 1)
        if node.init.__class__.__name__ == "Constant" and node.init.type == "string":
            return Array(element, len(_characters(node.init, to)) + 1)
        raise to.refused(f"the array {node.name} has no size", node)
    kind = to.types.of(node, to.scope)
    if kind == kinds.VOID:
        raise to.refused(f"{node.name} is void", node)
    return kind


def start(place: Place, node: Any, to: Expressions) -> list[tuple[Term, Term]]:
    """What a variable that lasts the whole run begins with: constants, zero where nothing is said."""
    if node is not None and effects.level(node, to.scope):
        raise to.refused(f"{to.text(node)} is not constant", node)
    found = updates(place, node, to)
    for _, value in found:
        if any(part.op == "var" for part in _parts(value)):
            raise to.refused(f"{to.text(node)} is not constant", node)
    return found


def _parts(value: Term) -> Iterator[Term]:
    from streamcheck.core.term import walk

    return walk([value])


def updates(place: Place, node: Any, to: Expressions) -> list[tuple[Term, Term]]:
    """The variables of a place with their first values."""
    form = node.__class__.__name__
    if node is not None and form != "InitList" and not isinstance(place.kind, Array):
        return list(to.updates(place, to.value(node), place_name(place)))
    values: dict[Path, Term] = {}
    if form == "Constant" and node.type == "string" and isinstance(place.kind, Array):
        codes = [*_characters(node, to), 0][: place.kind.length]
        for i, code in enumerate(codes):
            values[(i,)] = to.arithmetic.converted(to.arithmetic.number(kinds.INT, code), place.kind.element).term
    elif node is not None and form != "InitList":
        raise to.refused(f"{to.text(node)} is no initialiser of an array", node)
    elif node is not None:
        for path, part in items(place.kind, node, to):
            if effects.level(part, to.scope) == effects.ACTS:
                raise to.refused(f"{to.text(part)}: an initialiser in braces that does something is not read", part)
            values[path] = _value(part, kind_at(place.kind, path), to)
    return [
        (place.object.part(fields), _assembled(to.arithmetic.core(leaf), (), fields, place.kind, values))
        for fields, leaf in leaves(place.kind)
    ]


def place_name(place: Place) -> str:
    return str(place.object.parts[0][1].payload)


def _value(node: Any, kind: Kind, to: Expressions) -> Term:
    found = to.value(node)
    if not isinstance(found, Value):
        raise to.refused(f"{to.text(node)} is not a number", node)
    return to.arithmetic.converted(found, kind).term


def _assembled(type: Any, at: Path, fields: tuple[str, ...], kind: Kind, values: dict[Path, Term]) -> Term:
    """The value of a scalar field of every element, given by path from the outside in."""
    if isinstance(kind, Struct):
        return _assembled(type, (*at, fields[0]), fields[1:], dict(kind.fields)[fields[0]], values)
    if isinstance(kind, Array):
        assert isinstance(type, ArrayType)
        if not any(path[: len(at)] == at for path in values):
            return constant(type, default(type))
        parts = (_assembled(type.element, (*at, i), fields, kind.element, values) for i in range(kind.length))
        return term("array", *parts, payload=type)
    return values.get(at, constant(type, default(type)))


def kind_at(kind: Kind, path: Path) -> Kind:
    for step in path:
        if isinstance(kind, Array):
            kind = kind.element
        elif isinstance(kind, Struct):
            kind = dict(kind.fields)[str(step)]
    return kind


def items(kind: Kind, node: Any, to: Expressions) -> Iterator[tuple[Path, Any]]:
    """The scalars that an initialiser in braces gives, with where they go."""
    if not isinstance(kind, Array | Struct):
        yield (), node.exprs[0]
        return
    place = 0
    queue = list(node.exprs)
    names = [name for name, _ in kind.fields] if isinstance(kind, Struct) else []
    while queue:
        part = queue[0]
        if part.__class__.__name__ == "NamedInitializer":
            step, inner = _designated(kind, part, names, to)
            place = step
            queue[0] = inner
            part = inner
        if place >= (kind.length if isinstance(kind, Array) else len(names)):
            raise to.refused("more values than there are places for", part)
        key: str | int = place if isinstance(kind, Array) else names[place]
        below = kind.element if isinstance(kind, Array) else dict(kind.fields)[key]  # type: ignore[index]
        if part.__class__.__name__ == "InitList":
            queue.pop(0)
            yield from (((key, *path), leaf) for path, leaf in items(below, part, to))
        elif isinstance(below, Array | Struct):
            yield from (((key, *path), leaf) for path, leaf in _flat(below, queue))
        elif isinstance(below, Pointer):
            raise to.refused("a pointer in braces is not read", part)
        else:
            yield (key,), queue.pop(0)
        place += 1


def _flat(kind: Kind, queue: list[Any]) -> Iterator[tuple[Path, Any]]:
    """Inner braces left out: the values go to the scalars in order."""
    if not queue:
        return
    if isinstance(kind, Array):
        for i in range(kind.length):
            yield from (((i, *path), leaf) for path, leaf in _flat(kind.element, queue))
    elif isinstance(kind, Struct):
        for name, inner in kind.fields:
            yield from (((name, *path), leaf) for path, leaf in _flat(inner, queue))
    else:
        yield (), queue.pop(0)


def _designated(kind: Kind, node: Any, names: list[str], to: Expressions) -> tuple[int, Any]:
    if len(node.name) != 1:
        raise to.refused("a designator of several steps is not read", node)
    if isinstance(kind, Array):
        inner = node.name[0]
        return to.constant(getattr(inner, "expr", None) or getattr(inner, "dim", None) or inner), node.expr
    if node.name[0].name not in names:
        raise to.refused(f"there is no field {node.name[0].name}", node)
    return names.index(node.name[0].name), node.expr


def _characters(node: Any, to: Expressions) -> list[int]:
    import re

    parts = re.findall(r"\\[0-7]{1,3}|\\x[0-9a-fA-F]+|\\.|.", node.value[1:-1], re.S)
    codes = [kinds.character(f"'{part}'") for part in parts]
    if any(code is None for code in codes) or not node.value.startswith('"'):
        raise to.refused(f"the string {node.value} is not read", node)
    return [code for code in codes if code is not None]
