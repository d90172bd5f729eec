"""Small changes of the user's equations [OLRUZ96]: another comparison, a constant one more or less, `&` for `|`,
branches of a `mux` swapped, `+` for `-`, another initial value, an assumption dropped.

A change is one of a definition: a stream with its name, a delay, a guard, an argument or an observer. Properties stay,
but speak of the changed streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import replace
from functools import partial

from streamcheck.core.location import Location
from streamcheck.core.printer import Printer
from streamcheck.core.simplify import conjunction, simplify
from streamcheck.core.term import Term, constant, substitute, term, variable, walk
from streamcheck.core.types import BOOL, EnumType, FloatType, MachineType
from streamcheck.problem.claim import Claim
from streamcheck.problem.mutants import Mutation
from streamcheck.problem.specification import Cell, Named, Specification, Trigger
from streamcheck.transform.fresh import fresh_name
from streamcheck.transform.product import same_value

SWAPPED = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt", "eq": "ne", "ne": "eq"}
SWAPPED |= {"and": "or", "or": "and", "add": "sub", "sub": "add", "min": "max", "max": "min"}
SAME_OUTPUTS = "the outputs are the same"


def mutations_of(specification: Specification) -> Iterator[Mutation]:
    """The mutations of what the outputs depend on (of all, if there are none), line by line. Definitions of one line
    that share a node, as macros make them, change together."""
    roots = [*specification.outputs(), *(a.term for a in specification.assumptions)]
    needed = specification.needed_by(roots if any(True for _ in specification.outputs()) else specification.roots())
    named = {w.term for w in specification.wires}
    names = {w.term: w.name for w in specification.wires}
    names |= {c.var: f"‹line {c.where.line}›" for c in specification.cells if not c.named and c.where}

    def text_of(t: Term) -> str:
        return Printer(names, [t]).use(t)

    def definition(t: Term) -> str:
        return Printer({n: name for n, name in names.items() if n is not t}, [t]).definition(t)

    seen: set[tuple[object, Term, Term]] = set()
    for owner, root in _definitions(specification, needed):
        for node, other in _changes(root, named - {root} if isinstance(owner, Named) else named):
            key = (owner.where or owner.name, node, other)
            if key not in seen:
                seen.add(key)
                text = definition(node) if node is root else text_of(node)
                yield Mutation(
                    _name(owner), owner.where, text, text_of(other), _change_at(specification, owner, node, other)
                )
    for cell in _written_cells(specification):
        for other in _constants(cell.initial) if cell.var in needed else ():
            changed = _with_cell(specification, replace(cell, initial=other))
            yield Mutation(
                _name(cell), cell.where, f"[{text_of(cell.initial)}] ++ …", f"[{text_of(other)}] ++ …", changed
            )
    for output, where, root, changed_to in _outputs(specification):
        for node, other in _changes(root, named):
            changed = changed_to(substitute([root], {node: other})[root])
            yield Mutation(output, where, text_of(node), text_of(other), changed)
    for a in specification.assumptions:
        if a.is_implied:  # that a function is one
            continue
        others = tuple(b for b in specification.assumptions if b is not a)
        name = f"assume {a.name.removeprefix('assume ')}"
        yield Mutation(name, a.where, definition(a.term), "true", replace(specification, assumptions=others))


def _definitions(specification: Specification, needed: Set[Term]) -> Iterator[tuple[Named | Cell, Term]]:
    for wire in specification.wires:
        if wire.term in needed:
            yield wire, wire.term
    for cell in _written_cells(specification):
        if cell.var in needed:
            yield cell, cell.next


def _written_cells(specification: Specification) -> Iterator[Cell]:
    """The cells that are not of the reader's own making, such as those that remember the calls of a function."""
    return (c for c in specification.cells if c.named or c.where is not None)


def _name(owner: Named | Cell) -> str:
    unnamed = isinstance(owner, Cell) and not owner.named and owner.where is not None
    return f"‹line {owner.where.line}›" if unnamed and owner.where else owner.name


def _change_at(specification: Specification, owner: Named | Cell, node: Term, other: Term) -> Specification:
    """The specification with the node changed in the owner, and in all definitions of the same line."""

    def is_changed(one: Named | Cell) -> bool:
        return one is owner or (owner.where is not None and one.where == owner.where)

    replacement: dict[Term, Term] = {}
    for wire in specification.wires:
        if is_changed(wire):
            inner = {t: image for t, image in replacement.items() if t is not wire.term}
            replacement[wire.term] = substitute([wire.term], {**inner, node: other})[wire.term]
    nexts = {c.var: c.next for c in specification.cells if is_changed(c)}
    images = substitute(nexts.values(), {**replacement, node: other})
    changed = _with_images(specification, substitute(_all_terms(specification), replacement))
    cells = tuple(replace(c, next=images[nexts[c.var]]) if c.var in nexts else c for c in changed.cells)
    return replace(changed, cells=cells)


def _changes(root: Term, boundaries: set[Term]) -> Iterator[tuple[Term, Term]]:
    """The nodes of a definition that have other forms, each with one of them."""
    if root in boundaries:
        return
    for node in walk([root], set(boundaries)):
        if node.is_const:
            yield from ((node, other) for other in _constants(node))
        elif simplify([node])[node].is_const:
            continue
        elif node.op == "mux":
            yield node, term("mux", node.args[0], node.args[2], node.args[1])
        elif node.op == "not":
            yield node, node.args[0]
        elif node.op in SWAPPED:
            yield node, term(SWAPPED[node.op], *node.args, payload=node.payload)


def _constants(node: Term) -> Iterator[Term]:
    """Constants that are near."""
    if not node.is_const or isinstance(node.type, EnumType | FloatType):
        return
    value = node.payload
    if node.type is BOOL:
        yield constant(BOOL, not value)
        return
    for other in (value + 1, value - 1):
        if not isinstance(node.type, MachineType) or node.type.low <= other <= node.type.high:
            yield constant(node.type, other)


def _with_cell(specification: Specification, cell: Cell) -> Specification:
    return replace(specification, cells=tuple(cell if c.var is cell.var else c for c in specification.cells))


def _outputs(
    specification: Specification,
) -> Iterator[tuple[str, Location | None, Term, Callable[[Term], Specification]]]:
    """Guards, arguments and observers: whose, where, the term, and the specification with another."""

    def with_trigger(i: int, trigger: Trigger) -> Specification:
        triggers = specification.triggers
        return replace(specification, triggers=(*triggers[:i], trigger, *triggers[i + 1 :]))

    def with_guard(guard: Term, i: int, trigger: Trigger) -> Specification:
        return with_trigger(i, replace(trigger, guard=guard))

    def with_argument(arg: Term, i: int, trigger: Trigger, j: int) -> Specification:
        args = trigger.args
        return with_trigger(i, replace(trigger, args=(*args[:j], (args[j][0], arg), *args[j + 1 :])))

    def with_observer(shown: Term, i: int) -> Specification:
        observers = specification.observers
        return replace(
            specification, observers=(*observers[:i], replace(observers[i], term=shown), *observers[i + 1 :])
        )

    for i, t in enumerate(specification.triggers):
        yield f"trigger {t.name}", t.where, t.guard, partial(with_guard, i=i, trigger=t)
        for j, (_, arg) in enumerate(t.args):
            yield f"trigger {t.name}", t.where, arg, partial(with_argument, i=i, trigger=t, j=j)
    for i, o in enumerate(specification.observers):
        yield f"observer {o.name}", o.where, o.term, partial(with_observer, i=i)


def _all_terms(specification: Specification) -> list[Term]:
    wires = (w.term for w in specification.wires)
    return [*specification.roots(), *wires, *specification.variables(), *specification.call_terms()]


def _with_images(specification: Specification, image: Mapping[Term, Term]) -> Specification:
    """The specification with these images of its terms, initial values excepted."""

    def claims(those: tuple[Claim, ...]) -> tuple[Claim, ...]:
        return tuple(replace(c, term=image[c.term]) for c in those)

    return replace(
        specification,
        cells=tuple(replace(c, name=str(image[c.var].payload), next=image[c.next]) for c in specification.cells),
        wires=tuple(Named(w.name, image[w.term], w.where) for w in specification.wires),
        triggers=tuple(
            replace(t, guard=image[t.guard], args=tuple((name, image[a]) for name, a in t.args))
            for t in specification.triggers
        ),
        observers=tuple(Named(o.name, image[o.term], o.where) for o in specification.observers),
        properties=claims(specification.properties),
        assumptions=claims(specification.assumptions),
        calls=tuple(call.with_images(image) for call in specification.calls),
    )


def side_by_side(specification: Specification, mutated: Specification, props: Callable[[Claim], bool]) -> Specification:
    """Both on the same inputs: the chosen properties of the mutated one, and one that the outputs are the same. Cells
    that the change does not reach are shared; the others of the mutated one have a prime. The assumptions of both
    count, without one that the change dropped."""
    copies = _copied_cells(specification, mutated)
    taken = {str(v.payload) for v in specification.variables()}
    renamed: dict[Term, Term] = {}
    for cell in copies:
        name = fresh_name(f"{cell.name}'", taken)
        taken.add(name)
        renamed[cell.var] = variable(name, cell.var.type)
    image = substitute(_all_terms(mutated), renamed)
    copy = _with_images(mutated, image)
    own = set(renamed.values())
    kept = {a.name for a in mutated.assumptions}
    assumptions = {a.term: a for a in (*specification.assumptions, *copy.assumptions) if a.name in kept}
    numbered = tuple(replace(a, name=f"{a.name} ({i})") for i, a in enumerate(assumptions.values()))
    same = Claim(SAME_OUTPUTS, _same_outputs(specification, copy), specification.where)
    return replace(
        specification,
        cells=(*specification.cells, *(c for c in copy.cells if c.var in own)),
        triggers=(),
        observers=(),
        properties=(*(p for p in copy.properties if props(p)), same),
        assumptions=numbered,
        calls=tuple(dict.fromkeys((*specification.calls, *copy.calls))),
    )


def _copied_cells(specification: Specification, mutated: Specification) -> list[Cell]:
    """The cells of the mutated specification that may have other values."""
    pairs = list(zip(specification.cells, mutated.cells, strict=True))
    copied = {b.var for a, b in pairs if a.next is not b.next or a.initial is not b.initial}
    while True:
        more = {b.var for _, b in pairs if b.var not in copied and any(n in copied for n in walk([b.next]))}
        if not more:
            return [b for _, b in pairs if b.var in copied]
        copied |= more


def _same_outputs(a: Specification, b: Specification) -> Term:
    """The condition that both call the same handlers with the same arguments, and show the same; of specifications
    without triggers and observers, that all named streams are the same."""
    parts: list[Term] = []
    for one, other in zip(a.triggers, b.triggers, strict=True):
        parts.append(term("eq", one.guard, other.guard))
        pairs = zip(one.args, other.args, strict=True)
        parts += [term("implies", one.guard, same_value(x, y)) for (_, x), (_, y) in pairs if x is not y]
    parts += [same_value(x.term, y.term) for x, y in zip(a.observers, b.observers, strict=True) if x.term is not y.term]
    if not a.triggers and not a.observers:
        parts += [same_value(x.term, y.term) for x, y in zip(a.wires, b.wires, strict=True)]
        parts += [same_value(x.var, y.var) for x, y in zip(a.cells, b.cells, strict=True) if x.named]
    return conjunction(*(p for p in parts if p.args[0] is not p.args[-1]))
