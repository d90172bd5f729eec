"""The parts of the C: the cells that are read, delays as rings or plain variables, and the terms of a step.

A delay `[v0 … vn-1] ++ s` is a chain of cells, each taking over the next one's value. A short chain is
shifted; in a long one only the oldest value is replaced, in a ring whose index advances.

    position i of a ring of n at index k is element (k + i) mod n; position 0 is the oldest, replaced by the newest
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from streamcheck.codegen.rewrite import rewrite
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.term import FALSE, Term, cone, walk
from streamcheck.core.types import ArrayType, MachineType, StructType, Type, machine
from streamcheck.problem.specification import Cell, Constant, Input, Named, Specification, Trigger


@dataclass(frozen=True, slots=True)
class Ring:
    """The cells of one delay, oldest first, and the value that enters at the end."""

    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        return self.cells[0].name

    @property
    def newest(self) -> Term:
        return self.cells[-1].next

    @property
    def type(self) -> Type:
        return self.cells[0].initial.type

    @property
    def index(self) -> MachineType:
        """The smallest type that counts the elements."""
        return next(t for t in (machine(w, signed=False) for w in (8, 16, 32)) if len(self.cells) - 1 <= t.high)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A step: the inputs it samples, the triggers in order, the observers it shows, the state it leaves."""

    specification: Specification
    externs: tuple[Input, ...]  # the interface: those that triggers and observers depend on as written
    inputs: tuple[Input, ...]  # the ones that are read
    cells: tuple[Cell, ...]
    rings: tuple[Ring, ...]
    triggers: tuple[Trigger, ...]
    silent: tuple[Trigger, ...]  # their guards simplify to false
    observers: tuple[Named, ...]
    names: dict[Term, Named]  # the user's names for terms

    def nexts(self) -> Iterator[Term]:
        yield from (c.next for c in self.cells)
        yield from (r.newest for r in self.rings)

    def roots(self) -> Iterator[Term]:
        for t in self.triggers:
            yield from t.terms()
        yield from (o.term for o in self.observers)
        yield from self.nexts()


def lower(specification: Specification, *, observers: bool, held: str = "") -> Lowered:
    """`held`: a cell that is kept even if nothing that is shown depends on it."""
    shown = specification.observers if observers else ()
    roots = list(specification.outputs(observers=observers))
    images = rewrite([*roots, *(c.next for c in specification.cells), *(w.term for w in specification.wires)])
    rewritten_triggers = tuple(
        replace(t, guard=images[t.guard], args=tuple((name, images[a]) for name, a in t.args))
        for t in specification.triggers
    )
    triggers = tuple(t for t in rewritten_triggers if t.guard is not FALSE)
    silent = tuple(t for t in rewritten_triggers if t.guard is FALSE)
    shown = tuple(replace(o, term=images[o.term]) for o in shown)
    also = [c.var for c in specification.cells if c.name == held]
    as_written = specification.needed_by([*roots, *also])
    externs = tuple(i for i in specification.inputs if i.extern and i.var in as_written)
    cells = [replace(c, next=images[c.next]) for c in specification.cells]
    kept = [node for t in triggers for node in t.terms()] + [o.term for o in shown] + also
    needed = cone(kept, {c.var: c.next for c in cells})
    read = [c for c in cells if c.var in needed]
    inputs = tuple(i for i in specification.inputs if i.var in needed)
    _check(inputs, [*roots, *(c.next for c in read)], specification)
    rings = tuple(_rings(read, kept))
    in_rings = {c.name for r in rings for c in r.cells}
    names: dict[Term, Named] = {}
    for wire in specification.wires:
        names.setdefault(images[wire.term], wire)
    plain = tuple(c for c in read if c.name not in in_rings)
    return Lowered(specification, externs, inputs, plain, rings, triggers, silent, shown, names)


WIDTHS = (8, 16, 32, 64)


def _check(inputs: Iterable[Input], roots: list[Term], specification: Specification) -> None:
    """Raise SpecError for inputs that the C cannot have, and for types without a size."""
    for given in inputs:
        if not given.extern:
            raise SpecError(
                f"the C would depend on `{given.name}`, an unknown, which is not an input of it",
                given.where,
                write=f'extern("{given.name}", {given.type})',
            )
    mathematical = mathematical_streams(specification, roots)
    if mathematical:
        what, type, where = mathematical[0]
        raise SpecError(
            f"{what} is {type}, which has no size in C",
            where,
            write="a machine type (Int32, Word16, Double …), or `--narrow`, which proves ranges for Int streams",
        )
    for node in walk(roots):  # other languages have other widths
        if isinstance(node.type, MachineType) and node.type.width not in WIDTHS:
            raise SpecError(
                f"a value of {node.type} has no type in C", specification.where, write="8, 16, 32 or 64 bits"
            )


def mathematical_streams(
    specification: Specification, roots: Iterable[Term]
) -> list[tuple[str, Type, Location | None]]:
    """The streams below the roots that are Int or Real, with their lines."""
    nodes = [n for n in walk(roots) if is_mathematical(n.type)]
    if not nodes:
        return []
    known: dict[Term, tuple[str, Location | None]] = {}
    for named in (*specification.wires, *specification.observers):
        known.setdefault(named.term, (named.name, named.where))
    variables: list[Input | Cell | Constant] = [*specification.inputs, *specification.cells, *specification.constants]
    for declared in variables:
        known[declared.var] = (declared.name, declared.where)
    streams = [(f"`{known[n][0]}`", n.type, known[n][1]) for n in nodes if n in known]
    return streams or [("a value in this spec", nodes[0].type, specification.where)]


def is_mathematical(type: Type) -> bool:
    match type:
        case ArrayType():
            return is_mathematical(type.element)
        case StructType():
            return any(is_mathematical(t) for _, t in type.fields)
    return type.kind in ("integer", "real")


def _rings(cells: list[Cell], roots: list[Term]) -> Iterator[Ring]:
    by_var = {c.var: c for c in cells}
    uses: Counter[Term] = Counter(roots)
    for node in walk([*roots, *(c.next for c in cells)]):
        uses.update(node.args)
    uses.update(c.next for c in cells if c.next not in by_var)
    for chain in _chains(cells, by_var):
        middle = sum(uses[c.var] for c in chain[1:])
        # Shifting costs a load and a store for each cell; an element in the middle of a ring, a comparison.
        if 2 * len(chain) > 7 + 3 * middle:
            yield Ring(tuple(chain))


def _chains(cells: list[Cell], by_var: dict[Term, Cell]) -> Iterator[list[Cell]]:
    """Chains of cells, each of which takes over the value of the next."""
    taken_over = {c.next for c in cells if c.next in by_var}
    claimed: set[str] = set()
    for cell in sorted(cells, key=lambda c: c.var in taken_over):  # one that no other cell takes over begins a chain
        chain: list[Cell] = []
        at: Cell | None = cell
        while at is not None and at.name not in claimed and at.initial.type is cell.initial.type:
            claimed.add(at.name)
            chain.append(at)
            at = by_var.get(at.next)
        if len(chain) > 1:
            yield chain


def state_names(lowered: Lowered) -> dict[str, str]:
    """A name for each cell, and for each ring by its first. A cell without a name of the user's is called after what it
    delays, else after the first that reads it, so names do not change with edits elsewhere in the file."""
    heads = [(c, c.next) for c in lowered.cells] + [(r.cells[0], r.newest) for r in lowered.rings]
    after = {cell.var: newest for cell, newest in heads}
    named = {i.var: i.name for i in lowered.inputs} | {cell.var: cell.name for cell, _ in heads if cell.named}
    named = {term: wire.name for term, wire in lowered.names.items()} | named
    readers = reader_names(lowered)
    wishes: dict[str, str] = {}
    for cell, delayed in heads:
        seen = {cell.var}
        while delayed not in named and delayed in after and delayed not in seen:
            seen.add(delayed)
            delayed = after[delayed]
        if cell.named:
            wishes[cell.name] = cell.name
        elif delayed in named:
            wishes[cell.name] = f"{named[delayed]}_before"
        else:
            wishes[cell.name] = f"{readers.get(cell.var, 'kept')}_state"
    return wishes


def reader_names(lowered: Lowered) -> dict[Term, str]:
    """The name of the first named stream, trigger or observer that reads a variable, directly or through cells without
    names."""
    cells = [*lowered.cells, *(c for r in lowered.rings for c in r.cells)]
    nexts = {c.var: c.next for c in cells if not c.named}
    waiting: list[tuple[str, Term]] = [(wire.name, term) for term, wire in lowered.names.items()]
    waiting += [(c.name, c.next) for c in cells if c.named]
    waiting += [(t.name, term) for t in lowered.triggers for term in t.terms()]
    waiting += [(o.name, o.term) for o in lowered.observers]
    readers: dict[Term, str] = {}
    seen: set[Term] = set()
    while waiting:
        reached: list[tuple[str, Term]] = []
        for name, root in waiting:
            for node in walk([root], seen):
                readers[node] = name
                if node in nexts:
                    reached.append((name, nexts[node]))
        waiting = reached
    return readers
