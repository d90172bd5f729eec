"""The texts of a problem that are shown and written: none has a character that is a command there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.printable import LINES, command_in
from streamcheck.core.types import ArrayType, EnumType, StructType, Type

if TYPE_CHECKING:
    from streamcheck.problem.specification import Specification


def require_printable(texts: Iterable[tuple[str | None, Location | None]], allowed: str = "") -> None:
    """SpecError if a text has a character that is a command to terminals, editors or other languages."""
    for text, where in texts:
        for shown in (text, None if where is None else where.file):
            found = None if shown is None else command_in(shown, allowed)
            if found is not None:
                words = repr(shown).replace("##[", "# # [")
                raise SpecError(f"{words} has a character that is a command, not text: {found}", where)


def require_printable_names(specification: Specification) -> None:
    names = [*_names(specification)]
    if any(text is None for text, _ in names):
        raise ValueError("a name is missing")
    require_printable(names)
    require_printable([(i.doc, i.where) for i in specification.inputs], LINES)
    require_printable([(text, None) for text in (*specification.warnings, *specification.unused)], LINES)


def _names(specification: Specification) -> Iterator[tuple[str | None, Location | None]]:
    yield specification.name, specification.where
    yield from ((cell.name, cell.where) for cell in specification.cells)
    yield from ((named.name, named.where) for named in (*specification.wires, *specification.observers))
    yield from ((claim.name, claim.where) for claim in (*specification.properties, *specification.assumptions))
    for i in specification.inputs:
        yield from ((text, i.where) for text in (i.name, i.unit))
    for trigger in specification.triggers:
        yield from ((text, trigger.where) for text in (trigger.name, *(n for n, _ in trigger.args if n is not None)))
    for constant in specification.constants:
        yield from ((text, constant.where) for text in (constant.name, constant.label))
    yield from ((call.function, None) for call in specification.calls)
    for type in {v.type for v in specification.variables()}:
        yield from ((text, specification.where) for text in _names_in(type))


def _names_in(type: Type) -> Iterator[str]:
    match type:
        case ArrayType():
            yield from _names_in(type.element)
        case StructType():
            yield type.name
            for name, inner in type.fields:
                yield name
                yield from _names_in(inner)
        case EnumType():
            yield type.name
            yield from (name for name, _ in type.members)
