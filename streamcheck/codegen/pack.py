"""Bool state in bits: equations of the same meaning, in which words take the place of Bool cells.

    a = [false] ++ f, b = [true] ++ g        flags = [2] ++ ((f ? 1 : 0) | (g ? 2 : 0)),  a is (flags & 1) != 0
    a delay of up to 64 Bools                bits = [0] ++ (bits << 1 | newest), its oldest value is the highest bit

Not packed: what loops index, one Bool alone, and the cell that NAME_assumptions_hold returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from streamcheck.codegen.lower import Lowered, Ring, lower, state_names
from streamcheck.codegen.sharing import SharedEquations
from streamcheck.codegen.text import source
from streamcheck.core.names import FreshNames
from streamcheck.core.term import Term, constant, substitute, term, variable
from streamcheck.core.types import BOOL, MachineType, machine
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Specification

BYTE = machine(8, signed=False)
WORDS = tuple(machine(width, signed=False) for width in (8, 16, 32, 64))


@dataclass(frozen=True, slots=True)
class PackedWord:
    """A word and the cells that are its bits, the lowest first. `newest`: what a delay takes in at bit 0."""

    name: str
    type: MachineType
    cells: tuple[Cell, ...]
    note: str  # for the header
    newest: Term | None = None

    @property
    def var(self) -> Term:
        return variable(self.name, self.type)

    def bits(self) -> Iterator[tuple[Term, Term]]:
        """Each cell, and what it is read as."""
        for i, cell in enumerate(self.cells):
            masked = term("bitand", self.var, constant(self.type, 1 << i))
            yield cell.var, term("ne", masked, constant(self.type, 0))

    def cell(self, images: Mapping[Term, Term]) -> Cell:
        first = sum(1 << i for i, cell in enumerate(self.cells) if cell.initial.payload)
        if self.newest is not None:
            shifted = term("shl", self.var, constant(self.type, 1))
            after = term("bitor", shifted, self._weight(images[self.newest], 0))
        else:
            after = reduce(
                lambda a, b: term("bitor", a, b), (self._weight(images[c.next], i) for i, c in enumerate(self.cells))
            )
        return Cell(self.name, constant(self.type, first), after, self.cells[0].where)

    def _weight(self, bit: Term, position: int) -> Term:
        return term("mux", bit, constant(self.type, 1 << position), constant(self.type, 0))


@dataclass(frozen=True, slots=True)
class Packed:
    """The equations with words, by name. `images`: the variables of the cells that became bits."""

    specification: Specification
    words: Mapping[str, PackedWord] = field(default_factory=dict)
    images: Mapping[Term, Term] = field(default_factory=dict)

    def claims(self, claims: Sequence[Claim]) -> list[Claim]:
        found = substitute([c.term for c in claims], dict(self.images))
        return [replace(c, term=found[c.term]) for c in claims]


@dataclass(frozen=True, slots=True)
class LoweredEquations:
    """Equations, packed if that was wanted, and the parts of their C."""

    equations: SharedEquations
    low: Lowered
    packing: Packed


def lower_packed(
    equations: SharedEquations, *, pack: bool, observers: bool, loops: bool, held: str = "", windows: bool = True
) -> LoweredEquations:
    """The parts of the C. `pack`: Bool state in bits."""
    low = lower(equations, observers=observers, loops=loops, held=held, windows=windows)
    packing = pack_state(low, held) if pack else Packed(equations.specification)
    if packing.words:
        image = substitute([a for call in equations.calls for a in call.args], packing.images)
        calls = tuple(call.with_images(image) for call in equations.calls)
        equations = replace(equations, specification=packing.specification, calls=calls)
        low = lower(equations, observers=observers, loops=loops, held=held, windows=windows)
    return LoweredEquations(equations, low, packing)


def pack_state(low: Lowered, held: str) -> Packed:
    """The equations of a step with its Bool state in words. `held`: a cell that stays as it is."""
    specification = low.specification
    words = list(_words(low, held))
    if not words:
        return Packed(specification)
    bits = {var: bit for word in words for var, bit in word.bits()}
    roots = [*specification.roots(), *(w.term for w in specification.wires)]
    images = substitute(roots, bits)
    inside = {cell.name for word in words for cell in word.cells}
    kept = (replace(c, next=images[c.next]) for c in specification.cells if c.name not in inside)

    made = replace(
        specification,
        cells=(*kept, *(word.cell(images) for word in words)),
        wires=tuple(replace(w, term=images[w.term]) for w in specification.wires),
        triggers=tuple(
            replace(t, guard=images[t.guard], args=tuple((name, images[a]) for name, a in t.args))
            for t in specification.triggers
        ),
        observers=tuple(replace(o, term=images[o.term]) for o in specification.observers),
        properties=tuple(replace(p, term=images[p.term]) for p in specification.properties),
        assumptions=tuple(replace(a, term=images[a.term]) for a in specification.assumptions),
        calls=(),
    )
    return Packed(made, {word.name: word for word in words}, bits)


def _words(low: Lowered, held: str) -> Iterator[PackedWord]:
    specification, wishes = low.specification, state_names(low)
    as_written = {c.name: c for c in specification.cells}
    names = FreshNames([str(v.payload) for v in specification.variables()] + [w.name for w in specification.wires])
    for ring in low.rings:
        if _is_register(ring, low):
            type = next(t for t in WORDS if t.width >= len(ring.cells))
            cells = tuple(as_written[c.name] for c in reversed(ring.cells))
            note = f"the last {len(cells)} of {source(cells[-1].where)}, the newest in the lowest bit"
            yield PackedWord(names.fresh(f"{wishes[ring.name]}_bits"), type, cells, note, cells[0].next)
    flags = [as_written[c.name] for c in low.cells if c.initial.type is BOOL and c.name != held]
    for at in range(0, len(flags), BYTE.width):
        some = tuple(flags[at : at + BYTE.width])
        if len(flags) > 1:
            note = f"bits, from the lowest: {', '.join(wishes[cell.name] for cell in some)}"
            yield PackedWord(names.fresh("flags"), BYTE, some, note)


def _is_register(ring: Ring, low: Lowered) -> bool:
    in_loops = {t for loop in low.loops() for f in loop.families for t in f.terms}
    is_read_by_loop = any(cell.var in in_loops for cell in ring.cells)
    return ring.type is BOOL and len(ring.cells) <= WORDS[-1].width and not is_read_by_loop
