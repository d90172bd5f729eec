"""A game without arrays and structs: each of their parts is an input, an output or a cell of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from streamcheck.core.simplify import instantiate
from streamcheck.core.term import Term, term, walk
from streamcheck.core.types import ArrayType, StructType, Type, part_names
from streamcheck.problem.specification import Cell, Specification
from streamcheck.transform.realization import ComponentMove, EnvironmentMove, Game
from streamcheck.transform.scalars import scalars, wholes


class ScalarGame:
    """The game, and the way back for the component's moves."""

    def __init__(self, given: Game) -> None:
        self.given = given
        self.problem = given
        self._parts: dict[Term, list[Term]] = {}
        if any(isinstance(node.type, ArrayType | StructType) for node in walk(_roots(given.specification))):
            self.problem = self._scalar()

    def _scalar(self) -> Game:
        s = self.given.specification
        parts = self._parts = scalars(s.variables())
        scalars(_roots(s), parts)
        properties = tuple(replace(p, term=parts[p.term][0]) for p in s.properties)
        scalar = Specification(
            s.name,
            tuple(replace(i, name=name, type=type) for i in s.inputs for name, type in part_names(i.name, i.type)),
            (),
            tuple(cell for c in s.cells for cell in self._cells(c)),
            (),
            (),
            (),
            properties,
            tuple(replace(a, term=parts[a.term][0]) for a in s.assumptions),
            s.where,
        )
        inputs = tuple(i.var for i in scalar.inputs if i.extern)
        outputs = tuple(i.var for i in scalar.inputs if not i.extern)
        return Game(scalar, inputs, outputs, properties)

    def _cells(self, cell: Cell) -> Iterator[Cell]:
        columns = (self._parts[cell.initial], self._parts[cell.next])
        for (name, _), initial, after in zip(part_names(cell.name, cell.var.type), *columns, strict=True):
            yield replace(cell, name=name, initial=initial, next=after)

    def answers_back(self, moves: Iterable[ComponentMove]) -> tuple[ComponentMove, ...]:
        return tuple(ComponentMove(self._back([m.guard])[m.guard], self._outputs(m.outputs)) for m in moves)

    def rules_back(self, moves: Iterable[EnvironmentMove]) -> tuple[EnvironmentMove, ...]:
        """The states of the rules. Their inputs stay as they are."""
        return tuple(replace(m, states=self._back([m.states])[m.states]) for m in moves)

    def _back(self, terms: Sequence[Term]) -> dict[Term, Term]:
        return instantiate(terms, wholes(self.given.specification.variables()))

    def _outputs(self, outputs: Mapping[Term, Term]) -> Mapping[Term, Term]:
        if not self._parts:
            return outputs
        back = self._back(list(outputs.values()))
        return {
            whole: _whole_of(whole.type, (back[outputs[part]] for part in self._parts[whole]))
            for whole in self.given.outputs
        }


def _roots(specification: Specification) -> Iterator[Term]:
    yield from specification.variables()
    yield from (p.term for p in specification.properties)
    yield from (a.term for a in specification.assumptions)
    yield from (t for c in specification.cells for t in (c.initial, c.next))


def _whole_of(type: Type, parts: Iterator[Term]) -> Term:
    """The term of these parts, in the order of `part_names`."""
    match type:
        case ArrayType():
            return term("array", *[_whole_of(type.element, parts) for _ in range(type.length)], payload=type)
        case StructType():
            return term("struct", *[_whole_of(t, parts) for _, t in type.fields], payload=type)
    return next(parts)
