"""Conditions about arrays as ones about the elements that they read, for the checker alone.

    a.set(i, t)[j]    t if j is i, else a[j]
    a[i], a[j]        two variables, which are equal if i is j

What is read of an array that was written is what was written last there, or what the array had before. So all that is
left of an array are reads of a variable, each at an index that is a term: these become variables. The condition has
a solution with arrays exactly if it has one with these variables: they agree where their indexes do, and that is all
that arrays ask for. An index outside an array means its nearest element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice, product

from streamcheck.certify.logic import choice, conjunction, disjunction, equality, fold_node, negation, replace_and_fold
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable, walk
from streamcheck.core.types import BOOL, INT, ArrayType, MachineType, StructType, Type, machine

At = tuple[Term, ...]  # an index for each dimension
MOST_INSTANCES = 64  # of an invariant, for one condition


class Unreadable(ValueError):
    """An operation on arrays that the checker does not know."""


def is_about_arrays(roots: Iterable[Term]) -> bool:
    return any(isinstance(node.type, ArrayType | StructType) for node in walk(roots))


@dataclass(slots=True)
class Elements:
    """The elements that conditions read, each a variable. Conditions over the same `Elements` have the same arrays."""

    of: dict[Term, dict[At, Term]] = field(default_factory=dict)  # by array and index
    scalars: dict[Term, Term] = field(default_factory=dict)
    _values: dict[tuple[Term, At], Term] = field(default_factory=dict)

    def without_arrays(self, condition: Term) -> Term:
        """The same with variables for elements. They stand for an array together with `agreement`."""
        for node in walk([condition], set(self.scalars)):
            if isinstance(node.type, StructType):
                raise Unreadable("a struct")
            if isinstance(node.type, ArrayType):
                self.scalars[node] = node
            elif node.op == "index":
                self.scalars[node] = self._read(node, ())
            elif any(isinstance(a.type, ArrayType) for a in node.args):
                raise Unreadable(f"{node.op} of arrays")
            else:
                self.scalars[node] = fold_node(node, [self.scalars[a] for a in node.args])
        return self.scalars[condition]

    def agreement(self) -> Term:
        """Elements of an array at the same index are one."""
        agree = []
        for found in self.of.values():
            for (i, x), (j, y) in combinations(found.items(), 2):
                agree.append(disjunction(negation(_is_at(i, j)), equality(x, y)))
        return conjunction(*agree)

    def _read(self, array: Term, at: At) -> Term:
        pending = [(array, at)]
        while pending:
            key = pending[-1]
            if key not in self._values:
                cases = list(self._cases(*key))
                missing = [(a, i) for _, a, i in cases if (a, i) not in self._values]
                if missing:
                    pending += missing
                    continue
                self._values[key] = self._first(cases) if cases else self._last(*key)
            pending.pop()
        return self._values[array, at]

    def _first(self, cases: Sequence[tuple[Term, Term, At]]) -> Term:
        *others, (_, array, at) = cases
        value = self._values[array, at]
        for condition, array, at in reversed(others):
            value = choice(condition, self._values[array, at], value)
        return value

    def _last(self, node: Term, at: At) -> Term:
        """A scalar, or an element of a variable."""
        if not at:
            return self.scalars[node]
        if node.op != "var":
            raise Unreadable(f"{node.op} of arrays")
        known = self.of.setdefault(node, {})
        if at not in known:
            count = sum(map(len, self.of.values()))
            known[at] = variable(f"element {count} of {node.payload}", _scalar_of(node.type))
        return known[at]

    def _cases(self, node: Term, at: At) -> Iterator[tuple[Term, Term, At]]:
        """Where the value comes from: the first case whose condition holds."""
        if isinstance(node.type, ArrayType) and not at:
            raise Unreadable("an array as a value")
        match node.op:
            case "index":
                array, index = node.args
                yield TRUE, array, (nearest(self.without_arrays(index), array.type), *at)
            case "update" if at:
                array, index, new = node.args
                here = _is_at((nearest(self.without_arrays(index), array.type),), at[:1])
                self.without_arrays(new)
                yield here, new, at[1:]
                yield TRUE, array, at
            case "mux" if at:
                yield self.without_arrays(node.args[0]), node.args[1], at
                yield TRUE, node.args[2], at
            case "array" if at:
                yield from self._of_literal(node, at)

    def _of_literal(self, node: Term, at: At) -> Iterator[tuple[Term, Term, At]]:
        """Elements that are written out; the last of them is most of them, often."""
        *_, otherwise = node.args
        for i, element in enumerate(node.args):
            self.without_arrays(element)
            if element is not otherwise:
                yield _is_at((constant(at[0].type, i),), at[:1]), element, at[1:]
        yield TRUE, otherwise, at[1:]


def nearest(index: Term, array: Type) -> Term:
    """The index of the element that is meant, in a type that all indexes have."""
    assert isinstance(array, ArrayType)
    whole, last = isinstance(index.type, MachineType), array.length - 1
    common = machine(64, signed=True) if whole else INT
    if index.is_const:
        return constant(common, max(0, min(index.payload, last)))
    own = index.type
    if not isinstance(own, MachineType) or last < own.high:
        end = constant(own, last)
        index = choice(term("le", end, index), end, index)
    if not isinstance(own, MachineType) or own.low < 0:
        index = choice(term("le", index, constant(own, 0)), constant(own, 0), index)
    return index if own is common else term("cast", index, payload=common)


def _is_at(i: At, j: At) -> Term:
    same = []
    for a, b in zip(i, j, strict=True):
        if a.type is not b.type:
            raise Unreadable("an array with indexes of two types")
        if a is not b:
            same.append(FALSE if a.is_const and b.is_const else term("eq", a, b))
    return conjunction(*same)


def _scalar_of(type: Type) -> Type:
    while isinstance(type, ArrayType):
        type = type.element
    return type


def instances(given: Term, chosen: Sequence[Term], wrong: Term) -> Term:
    """Scalars that have a solution if there is one of `wrong` in a state in which `given` holds for all values of
    the chosen variables: it is asked for these themselves, for the indexes that `wrong` reads, and for 0."""
    elements = Elements()
    formulas = [elements.without_arrays(wrong)]
    elements.without_arrays(given)  # as it is: for the chosen values themselves
    formulas.append(elements.scalars[given])
    for values in _values_of(chosen, elements):
        images = replace_and_fold([given], values)
        formulas.append(elements.without_arrays(images[given]))
    return conjunction(*formulas, elements.agreement())


def _values_of(chosen: Sequence[Term], elements: Elements) -> Iterator[Mapping[Term, Term]]:
    """Values for what is chosen: zeros, the indexes of an element that is read, and then any of the indexes."""
    if not chosen:
        return
    zeros = [FALSE if v.type is BOOL else constant(v.type, 0) for v in chosen]
    read = [at for found in elements.of.values() for at in found]
    indexes = dict.fromkeys(i for at in read for i in at)
    ways = [[v, zero, *(i for i in indexes if i.type is v.type)] for v, zero in zip(chosen, zeros, strict=True)]
    together = ([*at, *zeros[len(at) :]] for at in read if len(at) <= len(chosen))
    every = islice(chain([zeros], together, product(*ways)), MOST_INSTANCES)
    for values in dict.fromkeys(tuple(row) for row in every):
        if all(v.type is new.type for v, new in zip(chosen, values, strict=True)) and values != tuple(chosen):
            yield dict(zip(chosen, values, strict=True))
