"""The first state as C: NAME_init, or the initialisers of the variables of `--abi copilot`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from streamcheck.codegen import text
from streamcheck.codegen.lower import Batch, Lowered, Ring
from streamcheck.codegen.names import LocalNames
from streamcheck.codegen.step import StepWriter
from streamcheck.core.c_names import member_name
from streamcheck.core.operators import c_type
from streamcheck.core.term import Term, constant
from streamcheck.core.types import ArrayType, StructType, Type, array_of, default, part_names

FEWEST_ZEROS = 4  # elements of an array, for which it is worth while to clear the state as a whole


@dataclass(frozen=True, slots=True)
class InitialState:
    low: Lowered
    names: LocalNames
    step: StepWriter

    def definitions(self, observed: str) -> Iterator[str]:
        """The variables of the file. `observed`: the definition of the observers, if there are any."""
        lines: list[str] = []
        for cell in self.low.cells:
            declared = text.declaration(text.kept_type(cell.initial.type), self.step.state_names[cell.name])
            lines.append(text.comment(text.source(cell.where)))
            lines.append(f"static {declared} = {text.initial_text(cell.initial)};")
        for ring in self.low.rings:
            declared = text.declaration(array_type(ring), self.step.state_names[ring.name])
            lines.append(text.comment(f"the last {len(ring.cells)} of {text.source(ring.cells[0].where)}"))
            lines += self._array_definition(ring, f"static {declared}")
            lines.append(f"static {c_type(ring.index)} {self.step.indices[ring.name]} = 0u;")
            if ring.name in self.step.windows:
                neutral = text.initial_text(self.low.extremes[ring.name].neutral)
                lines.append(f"static {text.declaration(ring.type, self.step.windows[ring.name].recent)} = {neutral};")
        for batch in self.low.batches:
            declared = text.declaration(array_type(batch), self.step.state_names[batch.name])
            lines.append(text.comment(text.source(batch.cells[0].where)))
            lines += self._array_definition(batch, f"static {declared}")
        for call in self.low.calls:
            function = self.step.calls.functions[call.component]
            if function.state is not None:
                lines.append(text.comment(f"{call.instance}: {text.source(call.where)}"))
                declared = text.declaration(function.state, self.step.calls.members[call.instance])
                lines.append(f"static {declared} = {function.initial};")
        yield from lines
        if observed:
            yield observed
        if lines:
            yield ""

    def _array_definition(self, kept: Ring | Batch, declared: str) -> Iterator[str]:
        if _is_zero_array(kept):
            yield f"{declared} = {{{text.initial_text(kept.cells[0].initial)}}};"
            return
        yield f"{declared} = {{"
        yield from text.braced_lines(text.initial_text(initial) for initial in self._initials(kept))
        yield "};"

    def statements(self, observers: Sequence[tuple[Type, str]]) -> Iterator[str]:
        """The body of NAME_init. `observers`: their types and names."""
        state, links = self.names.state, self.names.links
        cleared = self._is_worth_clearing()
        if cleared:
            yield f"(void)memset({state}, 0, sizeof(*{state}));"
        yield from (f"{state}->{link} = {link};" for link in links)
        for place, value in (*self._scalars(), *self._observer_values(observers)):
            if not cleared or not _is_zero(value):
                yield f"{place} = {text.literal(value.type, value.payload).text};"
        for kept in self._arrays():
            if not cleared or not _is_zero_array(kept):
                yield from self._initial_array(kept)
        calls = self.step.calls
        for call in self.low.calls:
            if call.instance in calls.members:
                place = self.step.state(calls.members[call.instance])
                yield f"{calls.functions[call.component].init}(&{place});"
        if not (self.low.cells or self.low.rings or self.low.batches or links or calls.members or observers):
            yield f"{self.step.state('none')} = 0u;"

    def braces(self, members: Iterable[str]) -> str:
        """The initialiser of a struct with these members."""
        names, texts = self.step.state_names, dict[str, str]()
        for cell in self.low.cells:
            texts[names[cell.name]] = text.initial_text(cell.initial)
        for kept in self._arrays():
            values = self._initials(kept)[:1] if _is_zero_array(kept) else self._initials(kept)
            texts[names[kept.name]] = f"{{{', '.join(map(text.initial_text, values))}}}"
        texts |= dict.fromkeys(self.step.indices.values(), "0u")
        for call in self.low.calls:
            if call.instance in self.step.calls.members:
                texts[self.step.calls.members[call.instance]] = self.step.calls.functions[call.component].initial
        return f"{{{', '.join(texts[name] for name in members)}}}"

    def _is_worth_clearing(self) -> bool:
        """True if arrays would be set to zero, element by element. A float of zeros is 0.0, an integer 0."""
        zeros = [len(kept.cells) for kept in self._arrays() if _is_zero_array(kept)]
        for cell in self.low.cells:
            if text.is_composite(cell.initial.type):
                zeros.append(sum(_is_zero(value) for _, value in _parts("", cell.initial)))
        return max(zeros, default=0) >= FEWEST_ZEROS

    def _arrays(self) -> Iterator[Ring | Batch]:
        yield from self.low.rings
        yield from self.low.batches

    def _scalars(self) -> Iterator[tuple[str, Term]]:
        for cell in self.low.cells:
            yield from _parts(self.step.state(self.step.state_names[cell.name]), cell.initial)
        for ring in self.low.rings:
            yield self.step.state(self.step.indices[ring.name]), constant(ring.index, 0)
            if ring.name in self.step.windows:
                yield self.step.state(self.step.windows[ring.name].recent), self.low.extremes[ring.name].neutral

    def _observer_values(self, observers: Iterable[tuple[Type, str]]) -> Iterator[tuple[str, Term]]:
        for shown, name in observers:
            for part, type in part_names("", shown):
                yield text.c_path(self.step.state(f"observed.{name}"), part), constant(type, default(type))

    def _initial_array(self, kept: Ring | Batch) -> Iterator[str]:
        name = self.step.state_names[kept.name]
        place = self.step.state(name)
        if _is_uniform(kept):
            yield f"for (uint32_t i = 0u; i < {len(kept.cells)}u; i++) {{"
            for part, value in _parts(f"{place}[i]", kept.cells[0].initial):
                yield f"{text.INDENT}{part} = {text.literal(value.type, value.payload).text};"
            yield "}"
        else:
            table = self.names.fresh(f"{name}_initial")
            yield from self._array_definition(kept, f"static const {text.declaration(array_type(kept), table)}")
            yield f"(void)memcpy({place}, {table}, sizeof({place}));"

    def _initials(self, kept: Ring | Batch) -> list[Term]:
        extreme = self.low.extremes.get(kept.name)
        return extreme.initials() if extreme is not None else [c.initial for c in kept.cells]


def array_type(kept: Ring | Batch) -> ArrayType:
    made = array_of(text.kept_type(kept.cells[0].initial.type), len(kept.cells))
    assert isinstance(made, ArrayType)
    return made


def _is_uniform(kept: Ring | Batch) -> bool:
    return all(c.initial is kept.cells[0].initial for c in kept.cells)


def _is_zero_array(kept: Ring | Batch) -> bool:
    return _is_uniform(kept) and _is_zero(kept.cells[0].initial)


def _is_zero(initial: Term) -> bool:
    """True if all bits are zero; of -0.0 one is not."""
    if initial.op in ("array", "struct"):
        return all(_is_zero(a) for a in initial.args)
    return str(initial.payload) in ("0", "False", "0.0")


def _parts(place: str, value: Term) -> Iterator[tuple[str, Term]]:
    """The places of the scalars of a constant."""
    match value.op:
        case "array":
            for i, part in enumerate(value.args):
                yield from _parts(f"{place}[{i}]", part)
        case "struct":
            assert isinstance(value.type, StructType)
            for (name, _), part in zip(value.type.fields, value.args, strict=True):
                yield from _parts(f"{place}.{member_name(name)}", part)
        case _:
            yield place, value
