"""Families: terms that are alike but for what varies from one to the next, as one term with holes.

    x0 > 5, x1 > 5, x2 > 5      hole > 5, where the hole is x0, x1, x2

A hole is a variable. Its values are what C can index by the number of the round: constants, inputs, elements of one
array at consecutive positions, cells that are kept in one array, consecutive values of one delay; or the value that an
accumulator has before the round. Everything else must be the same in all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from streamcheck.core.term import Term, constant, term, variable
from streamcheck.core.types import ArrayType, StructType

Terms = tuple[Term, ...]
DEEPEST = 60  # operators of one family below each other
NEAREST = 40  # nodes of a term among which an earlier value of it is sought


class NoFamily(Exception):
    """The terms are not alike."""


@dataclass(slots=True)
class Accumulator:
    """`values[i]` is the value before round i; `after` the value after a round, over holes."""

    hole: Term
    values: Terms
    after: Term | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """The values of a hole, one for each round; `step` is the direction in which the values of a delay are read."""

    hole: Term
    terms: Terms
    step: int = 0


@dataclass(slots=True)
class Unifier:
    """Terms of successive rounds as one. `groups`: for each cell that may be kept in an array with others, those, and
    `delays`: for each cell that takes over another cell's value, that one."""

    name: str
    rounds: int
    groups: Mapping[Term, Group]
    delays: Mapping[Term, Term]
    inputs: set[Term]
    accumulators: list[Accumulator] = field(default_factory=list)
    families: list[Family] = field(default_factory=list)
    inside: set[Term] = field(default_factory=set)  # the terms that became one with others
    invariants: set[Term] = field(default_factory=set)
    _known: dict[Terms, Term] = field(default_factory=dict)

    def hole(self, like: Term) -> Term:
        return variable(f"{self.name}.{len(self.families) + len(self.accumulators)}", like.type)

    def accumulate(self, values: Terms) -> Accumulator:
        """A new accumulator with these values before the rounds; its terms after a round are the next values."""
        made = Accumulator(self.hole(values[0]), values)
        self.accumulators.append(made)
        return made

    def unify(self, terms: Terms, depth: int = 0) -> Term:
        """The term with holes that is each of these in its round, or NoFamily."""
        known = self._known.get(terms)
        if known is None:
            known = self._known[terms] = self._unify(terms, depth)
        return known

    def _unify(self, terms: Terms, depth: int) -> Term:
        first = terms[0]
        if depth > DEEPEST or any(t.type is not first.type for t in terms):
            raise NoFamily
        for accumulator in self.accumulators:
            if accumulator.values[: len(terms)] == terms:
                return accumulator.hole
        if all(t is first for t in terms):
            self.invariants.add(first)
            return first
        hole = self._leaf(terms)
        if hole is not None:
            return hole
        same = all(t.op == first.op and t.payload == first.payload and len(t.args) == len(first.args) for t in terms)
        if not same and len(terms) > 2 and (path := path_to(terms[2], terms[1])) and follows(terms, path):
            return self.accumulate(terms).hole
        if not same or not first.args:
            raise NoFamily
        self.inside.update(terms)
        args = [self.unify(arguments, depth + 1) for arguments in zip(*(t.args for t in terms), strict=True)]
        return term(first.op, *args, payload=first.payload)

    def _after(self, terms: Terms, depth: int) -> Term:
        """The operation that gives these values, which are not looked up as an accumulator's."""
        first = terms[0]
        if any(t.op != first.op or t.payload != first.payload or len(t.args) != len(first.args) for t in terms):
            raise NoFamily
        args = [self.unify(arguments, depth + 1) for arguments in zip(*(t.args for t in terms), strict=True)]
        return term(first.op, *args, payload=first.payload)

    def unify_steps(self) -> None:
        """The operations of the accumulators: each value from those before, also of accumulators found on the way."""
        for accumulator in self.accumulators:
            if accumulator.after is None:
                self.inside.update(accumulator.values[1:])
                accumulator.after = self._after(accumulator.values[1:], 0)

    def _leaf(self, terms: Terms) -> Term | None:
        """The hole for values that C can index, or None."""
        for family in self.families:
            if family.terms[: len(terms)] == terms:
                return family.hole
        step = self._indexable(terms)
        if step is None:
            return None
        if len(terms) < self.rounds:
            if not terms[-1].is_const:
                raise NoFamily
            terms += (terms[-1],) * (self.rounds - len(terms))
        made = Family(self.hole(terms[0]), terms, step)
        self.families.append(made)
        return made.hole

    def _indexable(self, terms: Terms) -> int | None:
        """The direction in which the values follow each other, 0 if they have none, None if C cannot index them."""
        first = terms[0]
        if isinstance(first.type, ArrayType | StructType) and first.op != "index":
            return None
        if all(t.is_const for t in terms):
            return 0
        if first.op == "index":
            array, start = first.args
            if not start.is_const or not isinstance(array.type, ArrayType) or array.op == "array":
                return None
            if not self._fits(first, terms):
                return None
            follows_one = all(t.args[1] is constant(start.type, start.payload + i) for i, t in enumerate(terms))
            return 1 if follows_one else None
        if first in self.delays or first in self.delays.values():
            for step, order in ((1, terms), (-1, terms[::-1])):
                if all(self.delays.get(a) is b for a, b in pairwise(order)):
                    return step
            return None
        if first in self.groups:
            return 1 if self.groups[first].holds_in_order(terms) else None
        return 0 if all(t in self.inputs for t in terms) and len(set(terms)) == len(terms) else None

    @staticmethod
    def _fits(first: Term, terms: Terms) -> bool:
        array, start = first.args
        assert isinstance(array.type, ArrayType)
        same = all(t.op == "index" and t.args[0] is array for t in terms)
        return same and 0 <= start.payload <= array.type.length - len(terms)


@dataclass(slots=True, eq=False)
class Group:
    """Cells that may be kept in one array. Whoever reads several of them first chooses their order."""

    cells: Terms
    is_ordered: bool = False

    def holds_in_order(self, terms: Terms) -> bool:
        if not self.is_ordered and len(set(terms)) == len(terms) and set(terms) <= set(self.cells):
            chosen = set(terms)
            self.cells = (*terms, *(c for c in self.cells if c not in chosen))
            self.is_ordered = True
        if terms[0] not in self.cells:
            return False
        start = self.cells.index(terms[0])
        return self.cells[start : start + len(terms)] == terms


Path = tuple[int, ...]


def path_to(root: Term, wanted: Term) -> Path | None:
    """The positions of the arguments that lead from a term to one near below it."""
    return next((path for path, node in below(root) if node is wanted), None)


def below(root: Term) -> Iterator[tuple[Path, Term]]:
    """The nodes near below a term, the nearest first."""
    waiting: list[tuple[Path, Term]] = [((), root)]
    for at in range(NEAREST):
        if at >= len(waiting):
            return
        path, node = waiting[at]
        if at:
            yield path, node
        if len(node.args) <= 3:
            waiting.extend(((*path, i), a) for i, a in enumerate(node.args) if a.args or a.op == "var" or a.is_const)


def at_path(root: Term, path: Path, like: Term) -> Term | None:
    """The node that a path leads to, if it goes through the same operators as in another term."""
    for i in path:
        if root.op != like.op or len(root.args) <= i:
            return None
        root, like = root.args[i], like.args[i]
    return root


def follows(terms: Terms, path: Path) -> bool:
    """True if each term has the one before at the path."""
    like = terms[-1]
    return all(at_path(b, path, like) is a for a, b in pairwise(terms))
