"""Bool cells that are bits of unsigned variables: the relation between both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import simple_term
from streamcheck.core.term import Term, constant
from streamcheck.core.types import BOOL, MachineType, Type
from streamcheck.problem.places import Place
from streamcheck.problem.specification import Cell


@dataclass(frozen=True, slots=True)
class KeptWord:
    """The cells of one variable, by their bits."""

    cells: dict[int, Cell] = field(default_factory=dict)

    def term(self, type: Type, rest: Term) -> Term:
        """The value of the variable; all bits that are no cell's are those of `rest`."""
        if not isinstance(type, MachineType) or type.signed or max(self.cells) >= type.width:
            raise SpecError(f"bits of {' and '.join(c.name for c in self.cells.values())} are in a {type}")
        free = constant(type, type.high - sum(1 << bit for bit in self.cells))
        parts = [simple_term("bitand", rest, free)] if free.payload else []
        zero = constant(type, 0)
        parts += [simple_term("mux", cell.var, constant(type, 1 << bit), zero) for bit, cell in self.cells.items()]
        return reduce(lambda a, b: simple_term("bitor", a, b), parts)


def words_of(kept: Iterable[tuple[Cell, Place]]) -> Iterator[tuple[Place, KeptWord]]:
    """The variables of which cells are bits. SpecError if two cells are one bit."""
    words: dict[Place, KeptWord] = {}
    for cell, place in kept:
        if place.bit is None:
            continue
        word = words.setdefault(replace(place, bit=None), KeptWord())
        if place.bit in word.cells or place.bit < 0 or cell.initial.type is not BOOL or place.ring:
            raise SpecError(f"{cell.name} is not one bit of {place.variable}")
        word.cells[place.bit] = cell
    yield from words.items()


def bits_at(place: Place, values: list[Term]) -> list[Term]:
    """The bit of the value that a place is, or the values if it is no bit."""
    if place.bit is None:
        return values
    (word,) = values
    if not isinstance(word.type, MachineType) or word.type.signed or place.bit >= word.type.width:
        raise SpecError(f"a bit of a {word.type}")
    masked = simple_term("bitand", word, constant(word.type, 1 << place.bit))
    return [simple_term("ne", masked, constant(word.type, 0))]
