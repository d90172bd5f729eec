"""Equal work found in the terms of a step: folds, and cells that change alike, as loops.

    fold      x3 + (x2 + (x1 + x0)), or several values that depend on each other; the x are one family
    group     cells whose next values are one family: they are kept in one array

A fold takes its values in the order of the equations, so a sum of floats rounds as it does there. A loop's result is a
variable, which stands for it in the terms of the step. A group whose cells only one fold reads changes in its rounds.
Nothing here has to be right for the proof of the C: that compares the loops with the equations as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from streamcheck.codegen.families import (
    Accumulator,
    Family,
    Group,
    NoFamily,
    Terms,
    Unifier,
    at_path,
    below,
)
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variable, walk
from streamcheck.core.types import ArrayType, FloatType, MachineType, StructType, Type
from streamcheck.problem.specification import Cell, Specification

FEWEST = 4  # rounds of a loop; fewer are written one after the other


@dataclass(frozen=True, slots=True)
class Fold:
    """A value that every round replaces: the variable for the value before a round, the first one, the operation."""

    hole: Term
    initial: Term
    after: Term


@dataclass(frozen=True, slots=True)
class Change:
    """The cells of one array and their next values, as one term with holes."""

    cells: tuple[Cell, ...]
    after: Term


@dataclass(frozen=True, slots=True)
class Loop:
    """`result` stands for the last value of the first fold; None if there is none."""

    result: Term | None
    rounds: int
    folds: tuple[Fold, ...]
    changes: tuple[Change, ...]
    families: tuple[Family, ...]
    invariants: tuple[Term, ...]

    def terms(self) -> Iterator[Term]:
        """The terms that are computed: once before the rounds, and in each."""
        yield from (f.initial for f in self.folds)
        yield from self.invariants
        yield from (f.after for f in self.folds)
        yield from (c.after for c in self.changes)

    def needs(self) -> Iterator[Term]:
        """Everything that the loop reads: its terms, and the values of its families."""
        yield from self.terms()
        for family in self.families:
            yield from family.terms

    def with_images(self, images: dict[Term, Term]) -> Loop:
        return replace(
            self,
            folds=tuple(Fold(f.hole, images[f.initial], images[f.after]) for f in self.folds),
            changes=tuple(Change(c.cells, images[c.after]) for c in self.changes),
            invariants=tuple(images[i] for i in self.invariants),
            families=tuple(replace(f, terms=tuple(images[t] for t in f.terms)) for f in self.families),
        )


@dataclass(frozen=True, slots=True)
class Rolled:
    """The step with loops: the terms that stand for the roots, the folds, and the loops that only change cells."""

    images: dict[Term, Term]
    folds: tuple[Loop, ...]
    changing: tuple[Loop, ...]

    def loops(self) -> Iterator[Loop]:
        yield from self.folds
        yield from self.changing


def roll(
    specification: Specification, roots: list[Term], cells: list[Cell], named: list[Term], banned: set[Term]
) -> Rolled:
    """The loops of a step with these roots and cells, and the images of these and of the named terms. `banned`: cells
    that no array can hold."""
    banned = set(banned)
    while True:
        finder = _Finder(specification, roots, cells, banned)
        failed = finder.cells_without_a_group()
        if not failed:
            return finder.result(named)
        banned |= failed


def without_loops(terms: list[Term], cells: list[Cell]) -> Rolled:
    """The step without loops."""
    return Rolled({t: t for t in [*terms, *(c.next for c in cells)]}, (), ())


@dataclass(slots=True)
class _Found:
    """A loop while it is made."""

    unifier: Unifier
    main: Accumulator | None
    last: Term | None  # the term that the result stands for
    changes: list[tuple[tuple[Cell, ...], Term]] = field(default_factory=list)


class _Finder:
    def __init__(self, specification: Specification, roots: list[Term], cells: list[Cell], banned: set[Term]) -> None:
        self.cells = {c.var: c for c in cells}
        self.nexts = [c.next for c in cells]
        self.roots = [*roots, *self.nexts]
        self.inputs = {i.var for i in specification.inputs}
        chained = [c for c in cells if c.next in self.cells and c.next.type is c.var.type and c.var not in banned]
        self.delays = {c.var: c.next for c in chained}
        self.banned = banned
        self.shapes: dict[Term, int] = {}
        self.parents: dict[Term, list[Term]] = {}
        self.order = list(walk(self.roots))
        self._study()
        self.groups = self._candidates()
        self.found: list[_Found] = []
        self._find_folds()
        self.clusters = self._clusters()

    def _study(self) -> None:
        """The shape of every node: equal for those that may be one family. And the nodes that it is part of."""
        numbers: dict[tuple[object, ...], int] = {}
        for node in self.order:
            if node.op == "const":
                key: tuple[object, ...] = ("const", node.type)
            elif node.op == "var":
                key = ("var", node.type, node in self.inputs, node in self.delays or node in self.delays.values())
            else:
                key = (node.op, node.payload, node.type, *(self.shapes[a] for a in node.args))
            self.shapes[node] = numbers.setdefault(key, len(numbers))
            for a in node.args:
                self.parents.setdefault(a, []).append(node)

    def _candidates(self) -> dict[Term, Group]:
        taken_over = set(self.delays.values())
        alike: dict[tuple[int, Type], list[Term]] = {}
        for var, cell in self.cells.items():
            is_delay = var in self.delays or var in taken_over
            if not is_delay and var not in self.banned and cell.next is not var and is_scalar(var.type):
                alike.setdefault((self.shapes[cell.next], var.type), []).append(var)
        groups: dict[Term, Group] = {}
        for variables in alike.values():
            if len(variables) >= FEWEST:
                groups.update(dict.fromkeys(variables, Group(tuple(variables))))
        return groups

    # Folds

    def _find_folds(self) -> None:
        roots, taken = set(self.roots), set[Term]()
        for node in reversed(self.order):
            if node in taken or not node.args:
                continue
            values = self._chain(node)
            if len(values) <= FEWEST:
                continue
            taken.update(values[1:])
            for start, stop in self._runs(values):
                found = self._fold(values[start : stop + 1])
                between = values[start + 1 : stop]
                if found is not None and not any(self._is_used_elsewhere(v, found, roots) for v in between):
                    self.found.append(found)

    def _chain(self, node: Term) -> Terms:
        """The values of the longest fold that ends in a node, the first first."""
        best: list[Term] = []
        for path, candidate in below(node):
            if candidate.op == node.op and candidate.type is node.type:
                values = [node]
                before: Term | None = candidate
                while before is not None:
                    values.append(before)
                    before = at_path(before, path, node) if before.op == node.op else None
                if len(values) > len(best):
                    best = values
        return tuple(reversed(best))

    def _runs(self, values: Terms) -> Iterator[tuple[int, int]]:
        """The first and the last value of the parts of a fold that may be one loop: all of it, or rounds alike."""
        if self._fold(values) is not None:
            yield 0, len(values) - 1
            return
        start = 0
        for _, run in groupby(range(1, len(values)), key=lambda i: self._round_shape(values[i], values[i - 1])):
            count = len(list(run))
            if count >= FEWEST - 1:
                yield start, start + count
            start += count

    def _round_shape(self, after: Term, before: Term) -> tuple[object, ...]:
        return (after.op, *(-1 if a is before else self.shapes[a] for a in after.args))

    def _fold(self, values: Terms) -> _Found | None:
        """The loop of a fold, which begins with a neutral element if the first value is like the others."""
        neutral = self._neutral(values)
        if neutral is not None:
            found = self._unify((neutral, *values), extended=True)
            if found is not None:
                return found
        return self._unify(values, extended=False) if len(values) > FEWEST else None

    def _unify(self, values: Terms, *, extended: bool) -> _Found | None:
        unifier = Unifier(f"loop {len(self.found)}", len(values) - 1, self.groups, self.delays, self.inputs)
        main = unifier.accumulate(values)
        try:
            if extended:
                left = values[-1].args[0] is values[-2]
                other = unifier.unify((values[1], *(v.args[left] for v in values[2:])))
                main.after = term(values[-1].op, *((main.hole, other) if left else (other, main.hole)))
                unifier.inside.update(values[2:])
            unifier.unify_steps()
        except NoFamily:
            return None
        return _Found(unifier, main, values[-1])

    def _neutral(self, values: Terms) -> Term | None:
        """The neutral element of the operation, if every value is one operation on the one before."""
        last = values[-1]
        if len(last.args) != 2 or values[0].is_const:
            return None
        left = last.args[0] is values[-2]
        if any(v.op != last.op or v.args[not left] is not b for b, v in pairwise(values)):
            return None
        return _neutral_element(last.op, last.type)

    def _is_used_elsewhere(self, node: Term, found: _Found, roots: set[Term]) -> bool:
        return node in roots or any(p not in found.unifier.inside for p in self.parents[node])

    # Cells that change alike

    def _clusters(self) -> list[_Found]:
        """A loop for the groups that read each other; the fold's if only one fold reads them."""
        clusters = []
        made: set[int] = set()
        for group in self.groups.values():
            if id(group) in made:
                continue
            together = self._read_together(group)
            made.update(map(id, together))
            clusters.append(self._cluster(together))
        return clusters

    def _read_together(self, group: Group) -> list[Group]:
        together, waiting = [group], [group]
        while waiting:
            for node in walk([self.cells[var].next for var in waiting.pop().cells]):
                other = self.groups.get(node)
                if other is not None and other not in together:
                    together.append(other)
                    waiting.append(other)
        return together

    def _cluster(self, together: list[Group]) -> _Found:
        rounds = len(together[0].cells)
        hosts = [f for f in self.found if any(fam.terms[0] in g.cells for fam in f.unifier.families for g in together)]
        own = Unifier(f"change {together[0].cells[0].payload}", rounds, self.groups, self.delays, self.inputs)
        alone = _Found(own, None, None)
        self._add_changes(alone, together)
        if len(hosts) == 1 and hosts[0].unifier.rounds == rounds and alone.changes:
            host = hosts[0]
            cells = {var for g in together for var in g.cells}
            if host.last is not None and not self._are_read_elsewhere(cells, host.last):
                self._add_changes(host, together)
                if host.changes:
                    return host
        return alone

    def _are_read_elsewhere(self, cells: set[Term], result: Term) -> bool:
        """True if the cells are read otherwise than by a fold and by their own next values."""
        own = {self.cells[var].next for var in cells}
        return any(node in cells for node in walk([r for r in self.roots if r not in own], {result}))

    def _add_changes(self, found: _Found, together: list[Group]) -> None:
        changes = []
        try:
            for group in together:
                group.is_ordered = True
                if len(group.cells) != found.unifier.rounds:
                    raise NoFamily
                after = found.unifier.unify(tuple(self.cells[v].next for v in group.cells))
                changes.append((tuple(self.cells[v] for v in group.cells), after))
        except NoFamily:
            return
        families = found.unifier.families
        aligned = all(f.terms == self.groups[f.terms[0]].cells for f in families if f.terms[0] in self.groups)
        arrays = [f.terms[0].args[0] for f in families if f.terms[0].op == "index"]
        cells = {v for group in together for v in group.cells}
        if aligned and not any(node in cells for node in walk([*found.unifier.invariants, *arrays])):
            found.changes = changes

    def cells_without_a_group(self) -> set[Term]:
        """The cells whose group is none after all."""
        done = {c.var for f in (*self.clusters, *self.found) for cells, _ in f.changes for c in cells}
        return set(self.groups) - done

    # The result

    def result(self, named: list[Term]) -> Rolled:
        results = {f.last: variable(f"{f.unifier.name} result", f.last.type) for f in self.found if f.last is not None}
        loops = [self._loop(f, results.get(f.last) if f.last else None) for f in [*self.found, *self._alone()]]
        wanted = [*self.roots, *named]
        images = substitute([*wanted, *(t for loop in loops for t in loop.needs())], results)
        loops = [loop.with_images(images) for loop in loops]
        return Rolled(
            {t: images[t] for t in wanted},
            tuple(loop for loop in loops if loop.result is not None),
            tuple(loop for loop in loops if loop.result is None),
        )

    def _alone(self) -> list[_Found]:
        return [c for c in self.clusters if c.main is None]

    def _loop(self, found: _Found, result: Term | None) -> Loop:
        unifier = found.unifier
        folds = tuple(Fold(a.hole, a.values[0], a.after) for a in unifier.accumulators if a.after is not None)
        changes = tuple(Change(cells, after) for cells, after in found.changes)
        read = set(walk([*(f.after for f in folds), *(c.after for c in changes)]))
        families = tuple(f for f in unifier.families if f.hole in read)
        invariants = tuple(i for i in unifier.invariants if i in read and not i.is_const)
        return Loop(result, unifier.rounds, folds, changes, families, invariants)


def is_scalar(type: Type) -> bool:
    return not isinstance(type, ArrayType | StructType)


def _neutral_element(op: str, type: Type) -> Term | None:
    match op:
        case "and":
            return TRUE
        case "or" | "xor":
            return FALSE
        case "add" if isinstance(type, FloatType):
            return constant(type, -0.0)  # 0.0 is not: it makes 0.0 of -0.0
        case "add" | "bitor" | "bitxor" if isinstance(type, MachineType):
            return constant(type, 0)
        case "max" if isinstance(type, MachineType):
            return constant(type, type.low)
        case "min" if isinstance(type, MachineType):
            return constant(type, type.high)
    return None
