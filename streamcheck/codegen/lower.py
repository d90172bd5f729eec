"""The parts of the C: the cells that are read, delays as rings or plain variables, and the terms of a step.

A delay `[v0 … vn-1] ++ s` is a chain of cells, each taking over the next one's value. A short chain is
shifted; in a long one only the oldest value is replaced, in a ring whose index advances.

    position i of a ring of n at index k is element (k + i) mod n; position 0 is the oldest, replaced by the newest
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from streamcheck.codegen.loops import Loop, roll, without_loops
from streamcheck.codegen.rewrite import rewrite
from streamcheck.codegen.sharing import SharedCall, SharedEquations
from streamcheck.codegen.toggles import Toggle, toggle_of
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.simplify import simple_term
from streamcheck.core.term import FALSE, Term, constant, walk, walk_cone
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
class Batch:
    """Cells that change alike and are kept in one array."""

    cells: tuple[Cell, ...]

    @property
    def name(self) -> str:
        return self.cells[0].name


@dataclass(frozen=True, slots=True)
class Extreme:
    """The largest or smallest value of a ring that nothing else reads, and the variable that stands for it."""

    ring: Ring
    operator: Literal["max", "min"]
    result: Term

    @property
    def neutral(self) -> Term:
        type = self.ring.type
        assert isinstance(type, MachineType)
        return constant(type, type.low if self.operator == "max" else type.high)

    def initials(self) -> list[Term]:
        """The first contents of the array: for each value the extreme of it and those after it."""
        values: list[Term] = []
        for cell in reversed(self.ring.cells):
            values.append(simple_term(self.operator, cell.initial, values[-1]) if values else cell.initial)
        return values[::-1]


@dataclass(frozen=True, slots=True)
class Lowered:
    """A step: the inputs it samples, the triggers in order, the observers it shows, the state it leaves."""

    specification: Specification
    externs: tuple[Input, ...]  # the interface: those that triggers and observers depend on as written
    inputs: tuple[Input, ...]  # the ones that are read
    cells: tuple[Cell, ...]
    rings: tuple[Ring, ...]
    batches: tuple[Batch, ...]
    extremes: dict[str, Extreme]  # by the name of the ring
    folds: dict[Term, Loop]  # by the variable that stands for the result
    changing: tuple[Loop, ...]  # those that only change batches
    triggers: tuple[Trigger, ...]
    silent: tuple[Trigger, ...]  # their guards simplify to false
    observers: tuple[Named, ...]
    names: dict[Term, Named]  # the user's names for terms
    calls: tuple[SharedCall, ...] = ()  # each after those whose results it needs
    toggle: Toggle | None = None

    def nexts(self) -> Iterator[Term]:
        yield from (c.next for c in self.cells)
        yield from (r.newest for r in self.rings)

    def roots(self) -> Iterator[Term]:
        for t in self.triggers:
            yield from t.terms()
        yield from (o.term for o in self.observers)
        yield from self.nexts()
        yield from self.arguments()
        if self.toggle is not None:
            yield self.toggle.condition

    def arguments(self) -> Iterator[Term]:
        """The arguments of the calls of components."""
        for call in self.calls:
            yield from call.args

    def loops(self) -> Iterator[Loop]:
        yield from self.folds.values()
        yield from self.changing

    def all_roots(self) -> Iterator[Term]:
        """The roots, and what loops compute."""
        yield from self.roots()
        for loop in self.loops():
            yield from loop.terms()


def lower(
    equations: SharedEquations, *, observers: bool, loops: bool = True, held: str = "", windows: bool = True
) -> Lowered:
    """The parts of the C. `loops`: equal work becomes loops; `windows`: of a window whose extreme alone is read, the
    extremes are kept. `held`: a cell that is kept even if nothing that is shown depends on it."""
    banned: set[Term] = set()
    while True:
        lowered = _lower(equations, observers, banned, loops, held, windows)
        wrong = _stray_cells(lowered)
        if not wrong:
            return _with_toggle(lowered) if loops else lowered
        banned |= wrong


def _lower(
    equations: SharedEquations, observers: bool, banned: set[Term], loops: bool, held: str, windows: bool
) -> Lowered:
    specification, results = equations.specification, {r for call in equations.calls for r in call.results}
    shown = specification.observers if observers else ()
    roots = [*specification.outputs(observers=observers), *(a for call in equations.calls for a in call.args)]
    also = [c.var for c in specification.cells if c.name == held]
    as_written = specification.needed_by([*roots, *also])
    cells = [c for c in specification.cells if c.var in as_written]
    wires = [w.term for w in specification.wires]
    step = (
        roll(specification, [*roots, *also], cells, wires, banned)
        if loops
        else without_loops([*roots, *also, *wires], cells)
    )
    cheaper = rewrite([*step.images.values(), *(t for loop in step.loops() for t in loop.needs())])
    images = {t: cheaper[image] for t, image in step.images.items()}
    rewritten_triggers = tuple(
        replace(t, guard=images[t.guard], args=tuple((name, images[a]) for name, a in t.args))
        for t in specification.triggers
    )
    triggers = tuple(t for t in rewritten_triggers if t.guard is not FALSE)
    silent = tuple(t for t in rewritten_triggers if t.guard is FALSE)
    shown = tuple(replace(o, term=images[o.term]) for o in shown)
    externs = tuple(i for i in specification.inputs if i.extern and i.var in as_written)
    cells = [replace(c, next=images[c.next]) for c in cells]
    kept = [node for t in triggers for node in t.terms()] + [o.term for o in shown] + also
    calls = [call.with_images(images) for call in equations.calls]
    needed = _cone(kept, cells, [loop.with_images(cheaper) for loop in step.loops()], calls)
    read = [c for c in cells if c.var in needed]
    inputs = tuple(i for i in specification.inputs if i.var in needed and i.var not in results)
    calls = [call for call in calls if not needed.isdisjoint(call.results)]
    kept += [a for call in calls for a in call.args]
    _check(inputs, [*roots, *(c.next for c in specification.cells if c.var in needed)], specification)
    kept_loops = [loop.with_images(cheaper) for loop in step.loops() if _is_needed(loop, needed)]
    batches = tuple(Batch(change.cells) for loop in kept_loops for change in loop.changes)
    in_batches = {c.name for batch in batches for c in batch.cells}
    single = [c for c in read if c.name not in in_batches]
    in_loops = {t for loop in kept_loops for f in loop.families for t in f.terms}
    rings = tuple(_rings(single, [*kept, *(t for loop in kept_loops for t in loop.terms())], in_loops))
    in_rings = {c.name for r in rings for c in r.cells}
    names: dict[Term, Named] = {}
    for wire in specification.wires:
        names.setdefault(images[wire.term], wire)
    plain = tuple(c for c in single if c.name not in in_rings)
    folds = {loop.result: loop for loop in kept_loops if loop.result is not None}
    changing = tuple(loop for loop in kept_loops if loop.result is None)
    nexts = [c.next for c in (*plain, *(r.cells[-1] for r in rings))]
    extremes = _extremes(rings, kept_loops, [*kept, *nexts]) if windows else {}
    folds = {result: loop for result, loop in folds.items() if result not in {e.result for e in extremes.values()}}
    parts = (plain, rings, batches, extremes, folds, changing, triggers, silent, shown, names)
    return Lowered(specification, externs, inputs, *parts, tuple(calls))


WINDOWS = range(16, 513)  # lengths; the proof of a window is quadratic, and a short one is as fast as a loop


def _extremes(rings: Iterable[Ring], loops: list[Loop], roots: list[Term]) -> dict[str, Extreme]:
    """The rings of which only the largest or the smallest value is read."""
    extremes: dict[str, Extreme] = {}
    for ring in rings:
        readers = [loop for loop in loops if any(t in f.terms for f in loop.families for t in [ring.cells[0].var])]
        cells = {c.var for c in ring.cells}
        if len(ring.cells) not in WINDOWS or not isinstance(ring.type, MachineType) or len(readers) != 1:
            continue
        loop = readers[0]
        others = [t for o in loops for t in (*o.terms(), *(() if o is loop else o.needs()))]
        if any(node in cells for node in walk([*roots, *others])):
            continue
        (fold, *more), family = loop.folds or (None,), loop.families[0]
        whole = len(loop.families) == 1 and family.step == 1 and family.terms == tuple(c.var for c in ring.cells)
        if fold is None or more or loop.changes or not whole or loop.result is None:
            continue
        operator: Literal["max", "min"] = "max" if fold.after.op == "max" else "min"
        extreme = Extreme(ring, operator, loop.result)
        if (
            fold.after.op == operator
            and fold.after.args == (fold.hole, family.hole)
            and fold.initial is extreme.neutral
        ):
            extremes[ring.name] = extreme
    return extremes


def _cone(kept: Iterable[Term], cells: Iterable[Cell], loops: Iterable[Loop], calls: Iterable[SharedCall]) -> set[Term]:
    """The cone of influence. A loop that changes cells is needed as a whole, and so is a call."""
    nexts: dict[Term, tuple[Term, ...]] = {c.var: (c.next,) for c in cells}
    nexts |= {result: call.args for call in calls for result in call.results}
    for loop in loops:
        changed = [c.var for change in loop.changes for c in change.cells]
        needs = (*loop.needs(), *changed)
        nexts |= dict.fromkeys(changed, tuple(changed[:1]))
        nexts |= dict.fromkeys([*changed[:1], *([loop.result] if loop.result is not None else [])], needs)
    return set(walk_cone(kept, nexts))


def _is_needed(loop: Loop, needed: set[Term]) -> bool:
    return loop.result in needed or any(c.var in needed for change in loop.changes for c in change.cells[:1])


def _with_toggle(lowered: Lowered) -> Lowered:
    found = toggle_of(lowered.cells, lowered.triggers)
    if found is None:
        return lowered
    toggle, cells, triggers = found
    return replace(lowered, toggle=toggle, cells=cells, triggers=triggers)


def _stray_cells(lowered: Lowered) -> set[Term]:
    """Cells of families that are not consecutive elements of one ring."""
    places = {c.var: (r.name, i) for r in lowered.rings for i, c in enumerate(r.cells)}
    in_batches = {c.var for b in lowered.batches for c in b.cells}
    wrong: set[Term] = set()
    for loop in lowered.loops():
        for family in loop.families:
            first = family.terms[0]
            if family.step and first.op == "var" and first not in in_batches:
                name, start = places.get(first, ("", 0))
                wanted = [(name, start + family.step * i) for i in range(len(family.terms))]
                if [places.get(t) for t in family.terms] != wanted:
                    wrong.update(family.terms)
    return wrong


WIDTHS = (8, 16, 32, 64)


def _check(inputs: Iterable[Input], roots: list[Term], specification: Specification) -> None:
    """Raise SpecError for inputs that the C cannot have, and for types without a size."""
    below = set(walk(roots)) if specification.constants else set()
    for free in (c for c in specification.constants if c.var in below):
        text = f"the C would depend on `{free.name}`, a constant without a value"
        raise SpecError(text, free.where, write=f"a value: {free.name} = …")
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


def _rings(cells: list[Cell], roots: list[Term], in_loops: set[Term]) -> Iterator[Ring]:
    """The delays that are rings: long ones, and those that a loop reads."""
    by_var = {c.var: c for c in cells}
    uses: Counter[Term] = Counter(roots)
    for node in walk([*roots, *(c.next for c in cells)]):
        uses.update(node.args)
    uses.update(c.next for c in cells if c.next not in by_var)
    for chain in _chains(cells, by_var):
        middle = sum(uses[c.var] for c in chain[1:])
        # Shifting costs a load and a store for each cell; an element in the middle of a ring, a comparison.
        if 2 * len(chain) > 7 + 3 * middle or any(c.var in in_loops for c in chain):
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
    heads += [(b.cells[0], b.cells[0].next) for b in lowered.batches]
    after = {cell.var: newest for cell, newest in heads}
    named = {i.var: i.name for i in lowered.inputs} | {r: str(r.payload) for c in lowered.calls for r in c.results}
    named |= {cell.var: cell.name for cell, _ in heads if cell.named}
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
    cells += [c for b in lowered.batches for c in b.cells]
    nexts: dict[Term, tuple[Term, ...]] = {c.var: (c.next,) for c in cells if not c.named}
    nexts |= {result: tuple(loop.needs()) for result, loop in lowered.folds.items()}
    waiting: list[tuple[str, Term]] = [(wire.name, term) for term, wire in lowered.names.items()]
    waiting += [(c.name, c.next) for c in cells if c.named]
    waiting += [(t.name, term) for t in lowered.triggers for term in t.terms()]
    waiting += [(o.name, o.term) for o in lowered.observers]
    waiting += [(call.instance, arg) for call in lowered.calls for arg in call.args]
    readers: dict[Term, str] = {}
    seen: set[Term] = set()
    while waiting:
        reached: list[tuple[str, Term]] = []
        for name, root in waiting:
            for node in walk([root], seen):
                readers[node] = name
                if node in nexts:
                    reached += [(name, after) for after in nexts[node]]
        waiting = reached
    return readers
