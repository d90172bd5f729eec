"""The state that a function keeps between its calls: the members of its struct, and which cell is where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from streamcheck.codegen import text
from streamcheck.codegen.initial_state import array_type
from streamcheck.codegen.lower import Lowered
from streamcheck.codegen.pack import LoweredEquations
from streamcheck.codegen.step import StepWriter
from streamcheck.core.term import Term
from streamcheck.core.types import Type
from streamcheck.problem.places import Place

Member = tuple[Type, str, str]  # its type, name and comment


@dataclass(frozen=True, slots=True)
class Places:
    """`cells`: by their names. `rings`: those that nothing needs of this instance, and that its function has."""

    cells: Mapping[str, tuple[Place, ...]]
    rings: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class StateStruct:
    lowered: LoweredEquations
    step: StepWriter
    notes: Mapping[Term, str]  # the ranges that are known of terms, in words

    @property
    def low(self) -> Lowered:
        return self.lowered.low

    def members(self) -> list[Member]:
        """In an order without padding."""
        return sorted(self._members(), key=lambda member: -text.alignment(member[0]))

    def _members(self) -> Iterator[Member]:
        for cell in self.low.cells:
            word = self.lowered.packing.words.get(cell.name)
            from_spec = word.note if word is not None else text.source(cell.where)
            about = ", ".join(part for part in (from_spec, self.notes.get(cell.var)) if part)
            yield text.kept_type(cell.initial.type), self.step.state_names[cell.name], text.comment(about)
        for ring in self.low.rings:
            note = text.comment(f"the last {len(ring.cells)} of {text.source(ring.cells[0].where)}")
            yield array_type(ring), self.step.state_names[ring.name], note
            yield ring.index, self.step.indices[ring.name], text.comment("the oldest of them")
            if ring.name in self.step.windows:
                window = self.step.windows[ring.name]
                yield ring.type, window.recent, text.comment("of the newest; the others hold extremes, see the source")
        for batch in self.low.batches:
            note = text.comment(text.source(batch.cells[0].where))
            yield array_type(batch), self.step.state_names[batch.name], note
        for call in self.low.calls:
            function = self.step.calls.functions[call.component]
            if function.state is not None:
                note = text.comment(f"{call.instance}: {text.source(call.where)}")
                yield function.state, self.step.calls.members[call.instance], note

    def places(self, inside: Mapping[str, Places]) -> Places:
        """Where each cell of the equations before sharing is. `inside`: the same of the functions that are called. A
        cell that two instances have is in both."""
        cells: dict[str, list[Place]] = {name: [place] for name, place in self._own_places()}
        rings: list[Place] = []
        for call in self.low.calls:
            images = {str(v.payload): t for v, t in call.images.items() if t in self.lowered.equations.cone}
            member = self.step.calls.members.get(call.instance, "")
            found = inside[call.component]
            rings += [_inside(member, place) for place in found.rings]
            for name, places in found.cells.items():
                there = [_inside(member, place) for place in places]
                if name in images:
                    cells.setdefault(str(images[name].payload), []).extend(there)
                else:
                    rings += [replace(place, position=0) for place in there if place.ring]
        return Places({name: tuple(found) for name, found in cells.items()}, tuple(dict.fromkeys(rings)))

    def _own_places(self) -> Iterator[tuple[str, Place]]:
        names = self.step.state_names
        places = {c.name: Place(names[c.name]) for c in self.low.cells}
        for batch in self.low.batches:
            places |= {c.name: Place(names[c.name], element=i) for i, c in enumerate(batch.cells)}
        for ring in self.low.rings:
            window = self.step.windows.get(ring.name)
            index = "" if window else self.step.indices[ring.name]
            for i, cell in enumerate(ring.cells):
                places[cell.name] = Place(names[ring.name], index, i, len(ring.cells), window=window)
        for word in self.lowered.packing.words.values():
            place = places.pop(word.name)
            places |= {cell.name: replace(place, bit=i) for i, cell in enumerate(word.cells)}
        yield from places.items()


def _inside(member: str, place: Place) -> Place:
    """The place in the state of a function, in that of its caller."""
    return replace(place, variable=f"{member}.{place.variable}", ring=place.ring and f"{member}.{place.ring}")
