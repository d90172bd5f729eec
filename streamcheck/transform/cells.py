"""An automaton over arrays as one over a few of their cells.

Every array is followed at some cells only, each a scalar variable of its own: those that the program names by a
constant, and *witness cells*, at indexes that are chosen once, before the run begins, and never change. What is read
elsewhere is any value.

    a[i] := t     the cell at k:  mux(i == k, t, old)
    … a[i] …      mux(i == k, the cell at k, any value)

Every run of the program is one of this automaton, whatever the witness indexes are. So a claim about what is read at
an index may ask for the run in which that is the witness: the edges to an error ask that k is the index that they
read. An invariant of this automaton is one of the program for all k: what holds of the cell at k holds of every cell.

The constraint costs nothing in soundness, for the choice of k may depend on the whole run, its end included: prophecy
[MIP21]. The certificate is checked on the program with its arrays, for any k (`certify.cells`).

Limits: what several cells keep among them (sorted arrays) needs as many witnesses as its claim reads; what a loop reads
at other indexes than the witness is any value. So violations here may be none of the program's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias, assert_never

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import choice, conjunction, implication, negation, simple_term, simplify
from streamcheck.core.term import FALSE, TRUE, Term, constant, rebuild, substitute, term, variable, walk
from streamcheck.core.types import INT, ArrayType, MachineType, StructType, Type, Value, default, machine
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.verdict import (
    BlockCertificate,
    Certificate,
    EdgePath,
    Evidence,
    LocationInvariants,
    Trace,
    Unmappable,
)

ArrayPlace: TypeAlias = tuple[Term, ...]  # an index for each dimension, within the array
MOST_WITNESSES = 3  # that an error asks for, of arrays of as many dimensions
MOST_CONSTANTS = 16  # cells of one array that constants name
MOST_PAIRS = 10  # of cells read on one edge that may be the same one


class NoCells(Exception):
    """The automaton has no form over cells, for this reason."""


@dataclass(frozen=True, slots=True)
class ArrayCell:
    """A variable that holds what an array has at a place."""

    var: Term
    array: Term
    place: ArrayPlace


@dataclass(frozen=True, slots=True)
class Read:
    """An element that an edge reads of an array, or of a choice of a whole array, and the term that stands for it if it
    is none of the cells."""

    array: Term
    place: ArrayPlace
    otherwise: Term


class ArrayCells:
    """The automaton over cells. NoCells if there is none."""

    def __init__(self, automaton: Automaton) -> None:
        self.source = automaton
        self.problem, self._cells, self._indexes, self._reads = _Abstraction(automaton).result()

    def back(self, evidence: Evidence) -> Evidence:
        """Invariants that hold for any witness; a path with the values of the cells that it reads."""
        match evidence:
            case LocationInvariants(at) if at:
                return self._invariants(at)
            case LocationInvariants():
                return evidence
            case EdgePath():
                return self._path(evidence)
            case BlockCertificate():
                raise Unmappable("a proof over several steps says nothing about the cells that it does not follow")
            case Certificate() | Trace():
                return evidence
        assert_never(evidence)

    def _invariants(self, at: Sequence[tuple[str, Term]]) -> LocationInvariants:
        replacement = {c.var: _element(c.array, c.place) for c in self._cells}
        inside = conjunction(*(r for k, last in self._indexes.items() for r in _range(k, last)))
        images = substitute([invariant for _, invariant in at], replacement)
        rows = tuple((q, implication(inside, images[invariant])) for q, invariant in at)
        return LocationInvariants(rows, tuple(self._indexes))

    def _path(self, path: EdgePath) -> EdgePath:
        """The same edges. Each value that is read becomes that of a cell, where the array got its contents last."""
        values: dict[Term, Value] = {
            v: path.initial.get(str(v.payload), default(v.type)) for v in self.problem.variables
        }
        kept = {str(v.payload) for v in self.source.variables}
        initial = {name: value for name, value in path.initial.items() if name in kept}
        origins = {v: initial for v in self.source.variables if isinstance(v.type, ArrayType)}
        start = Evaluation(values)
        for cell in self._cells:
            initial[_name(cell.array, cell.place, start)] = values[cell.var]
        edges: list[tuple[int, dict[str, Value]]] = []
        for number, given in path.edges:
            abstract, concrete = self.problem.edges[number], self.source.edges[number]
            chosen = {c: given.get(str(c.payload), default(c.type)) for c in abstract.choices}
            now = Evaluation({**values, **chosen})
            own = {str(c.payload): chosen[c] for c in concrete.choices if c in chosen}
            for read in self._reads[number]:
                cells = own if read.array in concrete.choices else origins[read.array]
                cells.setdefault(_name(read.array, read.place, now), now.of(read.otherwise))
            bases = {v: base for v, t in concrete.updates if v in origins and (base := _base(t)) is not None}
            after = {v: own if b in concrete.choices else origins.get(b, {}) for v, b in bases.items()}
            origins.update(after)
            values.update({v: now.of(t) for v, t in abstract.updates})
            edges.append((number, own))
        return EdgePath(initial, tuple(edges))


def _base(node: Term) -> Term | None:
    """The array that is updated, if there is one only."""
    while node.op == "update":
        node = node.args[0]
    return node if node.op in ("var", "array") else None


def _element(array: Term, place: ArrayPlace) -> Term:
    for index in place:
        array = term("index", array, index)
    return array


def _name(array: Term, place: ArrayPlace, values: Evaluation) -> str:
    return ".".join([str(array.payload), *(str(values.of(index)) for index in place)])


def _range(index: Term, last: int) -> tuple[Term, Term]:
    zero, end = constant(index.type, 0), constant(index.type, last)
    return simple_term("ge", index, zero), simple_term("le", index, end)


def lengths(type: Type) -> tuple[int, ...]:
    """The length of each dimension of an array of scalars."""
    found = []
    while isinstance(type, ArrayType):
        found.append(type.length)
        type = type.element
    if isinstance(type, StructType):
        raise NoCells("an array of structs")
    return tuple(found)


def element_type(type: Type) -> Type:
    while isinstance(type, ArrayType):
        type = type.element
    return type


class _Abstraction:
    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.arrays = [v for v in automaton.variables if isinstance(v.type, ArrayType)]
        if not self.arrays:
            raise NoCells("no array")
        chosen = (c for e in automaton.edges for c in e.choices)
        self.lengths = {v: lengths(v.type) for v in (*self.arrays, *chosen) if isinstance(v.type, ArrayType)}
        if any(isinstance(v.type, StructType) for v in (*automaton.variables, *chosen)):
            raise NoCells("a struct")
        words = any(node.type.kind in ("signed", "unsigned") for e in automaton.edges for node in walk(e.roots()))
        self.index_type: Type = machine(64, signed=True) if words else INT
        self.indexes: dict[Term, int] = {}  # of witnesses, each with the last index it may be
        self.cells: dict[Term, list[ArrayCell]] = {v: [] for v in self.arrays}
        self.witnesses: dict[int, list[ArrayPlace]] = {}  # by the number of dimensions

    def result(self) -> tuple[Automaton, list[ArrayCell], dict[Term, int], list[list[Read]]]:
        first = [_EdgeReads(edge, i, self) for i, edge in enumerate(self.automaton.edges)]
        asked = [self._places_asked(reads) for reads in first if reads.edge.target in self.automaton.bad]
        self._follow_constants(first)
        self._follow_witnesses(asked)
        edges, read = [], []
        for i, edge in enumerate(self.automaton.edges):
            reads = _EdgeReads(edge, i, self)
            edges.append(self._edge(edge, reads))
            read.append(reads.found)
        cells = [cell for own in self.cells.values() for cell in own]
        scalars = [v for v in self.automaton.variables if v not in self.cells]
        variables = (*scalars, *(c.var for c in cells), *self.indexes)
        return replace(self.automaton, variables=variables, edges=tuple(edges)), cells, self.indexes, read

    def _places_asked(self, reads: _EdgeReads) -> dict[int, list[ArrayPlace]]:
        """The places that the guard of an edge to an error reads, by the number of dimensions."""
        reads.scalar(reads.edge.guard)
        places: dict[int, dict[ArrayPlace, None]] = {}
        for read in reads.found:
            if not all(index.is_const for index in read.place):
                places.setdefault(len(read.place), {})[read.place] = None
        return {n: list(found)[:MOST_WITNESSES] for n, found in places.items()}

    def _follow_constants(self, first: Sequence[_EdgeReads]) -> None:
        named: dict[Term, dict[ArrayPlace, None]] = {v: {} for v in self.arrays}
        for reads in first:
            for array, place in reads.constant_places():
                named.setdefault(array, {})[place] = None
        for array in self.arrays:
            for place in list(named[array])[:MOST_CONSTANTS]:
                at = "".join(f"[{index.payload}]" for index in place)
                self._follow(array, place, f"{array.payload}{at}")

    def _follow_witnesses(self, asked: Sequence[Mapping[int, Sequence[ArrayPlace]]]) -> None:
        """As many witnesses as one error asks for; the errors share them, for a run gets to one of them."""
        for dimensions in dict.fromkeys(n for places in asked for n in places):
            arrays = [v for v in self.arrays if len(self.lengths[v]) == dimensions]
            last = [max(self.lengths[v][d] for v in arrays) - 1 for d in range(dimensions)]
            for _ in range(max(len(places.get(dimensions, ())) for places in asked)):
                place = tuple(self._witness(end) for end in last)
                self.witnesses.setdefault(dimensions, []).append(place)
                at = "".join(f"[{index.payload}]" for index in place)
                for array in arrays:
                    self._follow(array, self.within(place, array), f"{array.payload}{at}")

    def _witness(self, last: int) -> Term:
        """A new index; no identifier of C has a prime."""
        index = variable(f"k{len(self.indexes) + 1}'", self.index_type)
        self.indexes[index] = last
        return index

    def _follow(self, array: Term, place: ArrayPlace, name: str) -> None:
        if all(cell.place != place for cell in self.cells[array]):
            self.cells[array].append(ArrayCell(variable(name, element_type(array.type)), array, place))

    def within(self, place: ArrayPlace, array: Term) -> ArrayPlace:
        """The place in this array: of a shorter one than others it is the nearest."""
        found = []
        for index, length in zip(place, self.lengths[array], strict=True):
            end = constant(self.index_type, length - 1)
            short = index in self.indexes and self.indexes[index] > length - 1
            found.append(choice(simple_term("gt", index, end), end, index) if short else index)
        return tuple(found)

    def _edge(self, edge: Edge, reads: _EdgeReads) -> Edge:
        ranges = [r for k, last in self.indexes.items() for r in _range(k, last)]
        guard = conjunction(*conjuncts(reads.scalar(edge.guard)), *ranges)
        if edge.target in self.automaton.bad:
            chosen = [
                _are_equal(witness, place)
                for dimensions, places in self._places_asked(reads).items()
                for witness, place in zip(self.witnesses[dimensions], places, strict=False)
            ]
            guard = conjunction(guard, *chosen, *self._agreements())
        images = {t: reads.scalar(t) for _, t in edge.updates}
        updates = [(v, images[t]) for v, t in edge.updates if v not in self.cells]
        for array, new in edge.updates:
            for cell in self.cells.get(array, ()):
                updates.append((cell.var, reads.read(new, cell.place)))
        guard = conjunction(guard, *reads.agreements())
        simple = simplify([guard, *(t for _, t in updates)])
        scalars = [c for c in edge.choices if not isinstance(c.type, ArrayType)]
        return replace(
            edge,
            guard=simple[guard],
            updates=tuple((v, simple[t]) for v, t in updates if simple[t] is not v),
            choices=(*scalars, *(read.otherwise for read in reads.found)),
        )

    def _agreements(self) -> Iterator[Term]:
        """Two cells of an array that are one hold the same."""
        for own in self.cells.values():
            for a, b in list(combinations(own, 2))[:MOST_PAIRS]:
                yield implication(_are_equal(a.place, b.place), term("same", a.var, b.var))


def _write_of(node: Term) -> tuple[Term, list[Term], Term]:
    """The array that is updated, the index for each dimension, and the new value: a[i][j] = t updates a at i by a[i]
    updated at j."""
    array, index, new = node.args
    indexes, old = [index], term("index", array, index)
    while new.op == "update" and new.args[0] is old:
        indexes.append(new.args[1])
        old, new = term("index", old, new.args[1]), new.args[2]
    return array, indexes, new


def _types(type: Type) -> Iterator[Type]:
    while isinstance(type, ArrayType):
        yield type
        type = type.element


def _are_equal(a: ArrayPlace, b: ArrayPlace) -> Term:
    return conjunction(*(_is_same_index(x, y) for x, y in zip(a, b, strict=True)))


def _is_same_index(a: Term, b: Term) -> Term:
    if a is b:
        return TRUE
    return FALSE if a.is_const and b.is_const else simple_term("eq", a, b)


@dataclass(slots=True)
class _EdgeReads:
    """The terms of one edge over cells. Nothing here recurses: a block may update an array a thousand times."""

    edge: Edge
    number: int
    whole: _Abstraction
    known: set[Term] = field(init=False)
    images: dict[Term, Term] = field(default_factory=dict)
    values: dict[tuple[Term, ArrayPlace], Term] = field(default_factory=dict)
    found: list[Read] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = set(conjuncts(self.edge.guard))

    def scalar(self, root: Term) -> Term:
        for node in walk([root], set(self.images)):
            if isinstance(node.type, ArrayType | StructType):
                self.images[node] = node
            elif node.op == "index":
                array, index = node.args
                self.images[node] = self.read(array, (self._within(index, array.type),))
            elif any(isinstance(a.type, ArrayType | StructType) for a in node.args) and node.op != "mux":
                raise NoCells(f"{node.op} of arrays")
            else:
                self.images[node] = rebuild(node, [self.images[a] for a in node.args])
        return self.images[root]

    def constant_places(self) -> Iterator[tuple[Term, ArrayPlace]]:
        """The places with constant indexes that are read or written here."""
        for root in self.edge.roots():
            self.scalar(root)
        for read in list(self.found):
            if read.array in self.whole.cells and all(index.is_const for index in read.place):
                yield read.array, read.place
        for v, t in self.edge.updates:
            if v in self.whole.cells and len(self.whole.lengths[v]) == 1:
                for node in walk([t]):
                    if node.op == "update" and node.type is v.type and node.args[1].is_const:
                        yield v, (self._within(node.args[1], v.type),)

    def _within(self, index: Term, array: Type) -> Term:
        """The index that is meant: outside of the array the nearest."""
        assert isinstance(array, ArrayType)
        type, last = self.whole.index_type, array.length - 1
        if index.is_const:
            return constant(type, max(0, min(int(index.payload), last)))
        own, image = index.type, self.images[index]
        low, high = (own.low, own.high) if isinstance(own, MachineType) else (None, None)
        if high is None or high > last:
            over = term("gt", index, constant(own, last))
            if negation(over) not in self.known:
                image = choice(simple_term("gt", image, constant(own, last)), constant(own, last), image)
        if low is None or low < 0:
            under = term("lt", index, constant(own, 0))
            if negation(under) not in self.known:
                image = choice(simple_term("lt", image, constant(own, 0)), constant(own, 0), image)
        return image if own is type else simple_term("cast", image, payload=type)

    def read(self, array: Term, place: ArrayPlace) -> Term:
        """The element of an array at a place, or of an array of arrays at a shorter one."""
        stack = [(array, place)]
        while stack:
            at = stack[-1]
            if at in self.values:
                stack.pop()
                continue
            parts = list(self._parts(*at))
            pending = [key for _, key in parts if key not in self.values]
            if pending:
                stack.extend(pending)
                continue
            stack.pop()
            self.values[at] = self._choice_of(parts) if parts else self._leaf(*at)
        return self.values[array, place]

    def _choice_of(self, parts: Sequence[tuple[Term, tuple[Term, ArrayPlace]]]) -> Term:
        result = self.values[parts[-1][1]]
        for condition, key in reversed(parts[:-1]):
            result = choice(condition, self.values[key], result)
        return result

    def _parts(self, node: Term, place: ArrayPlace) -> Iterator[tuple[Term, tuple[Term, ArrayPlace]]]:
        """The terms that are read instead: the first whose condition holds. None for a variable."""
        if not place:
            if isinstance(node.type, ArrayType | StructType):
                raise NoCells(f"{node.op} as a whole")
            return
        match node.op:
            case "var":
                return
            case "index":
                self.scalar(node.args[1])
                yield TRUE, (node.args[0], (self._within(node.args[1], node.args[0].type), *place))
            case "update":
                array, indexes, new = _write_of(node)
                here = []
                for index, type in zip(indexes, _types(array.type), strict=False):
                    self.scalar(index)
                    here.append(self._within(index, type))
                hit = _are_equal(tuple(here), place[: len(here)])
                if hit is not FALSE:
                    yield hit, (new, place[len(here) :])
                if hit is not TRUE:
                    yield TRUE, (array, place)
            case "mux":
                condition, a, b = node.args
                yield self.scalar(condition), (a, place)
                yield TRUE, (b, place)
            case "array":
                yield from self._literal(node.args, place)
            case _:
                raise NoCells(f"{node.op} of arrays")

    def _literal(self, elements: Sequence[Term], place: ArrayPlace) -> Iterator[tuple[Term, tuple[Term, ArrayPlace]]]:
        index, rest = place[0], place[1:]
        if len(elements) == 1:
            yield TRUE, (elements[0], rest)
            return
        if index.is_const:
            yield TRUE, (elements[index.payload], rest)
            return
        ((common, _),) = Counter(elements).most_common(1)
        for i, element in enumerate(elements):
            if element is not common:
                yield _is_same_index(index, constant(index.type, i)), (element, rest)
        yield TRUE, (common, rest)

    def _leaf(self, node: Term, place: ArrayPlace) -> Term:
        if not place:
            return self.scalar(node)
        cells = self.whole.cells.get(node, [])
        tracked = next((cell.var for cell in cells if cell.place == place), None)
        if tracked is not None:
            return tracked
        result = otherwise = variable(f"read {len(self.found)}, edge {self.number}", element_type(node.type))
        for cell in reversed(cells):
            result = choice(_are_equal(cell.place, place), cell.var, result)
        self.found.append(Read(node, place, otherwise))
        return result

    def agreements(self) -> Iterator[Term]:
        """Elements that are read twice are the same."""
        found = [(read.array, read.place, read.otherwise) for read in self.found]
        pairs = [(a, b) for a, b in combinations(found, 2) if a[0] is b[0]]
        for (_, p, x), (_, q, y) in pairs[:MOST_PAIRS]:
            yield implication(_are_equal(p, q), term("same", x, y))
