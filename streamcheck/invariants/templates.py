"""Invariants by template: what holds of all states that random runs reach, kept where induction agrees.

Decides: properties that follow by induction from bounds, sums and differences of two numbers, linear equalities,
implications between two conditions, one-hot groups, values of modes, and bounds that hold under a condition. Its
invariants go to the other engines as soon as they are shown.

Papers: the shape of candidates after Kahsai, Ge, Tinelli, Instantiation-Based Invariant Discovery (2011), and Ernst
et al., The Daikon system (2007); the filter is `houdini`. The properties themselves are candidates too.

A bound is a candidate only if half of the states already show it: what grows with every run is chance.

Limits: what no template says; conditions beyond the first few dozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import ClassVar

from streamcheck.core.simplify import disjunction, implication, negation
from streamcheck.core.term import Term, constant, term, variables, walk
from streamcheck.invariants.discovery import Discovery
from streamcheck.invariants.nullspace import relations
from streamcheck.smt.linear import Kind, Row, literal, to_term

MOST_NUMBERS = 24
MOST_CONDITIONS = 36
MOST_VALUES = 6  # of what counts as a mode


class Templates(Discovery):
    name: ClassVar[str] = "templates"

    def stages(self) -> Iterator[Iterable[Term]]:
        yield self._single()
        yield self._pairs()
        yield self._conditions()
        yield self._conditional()

    # Candidates

    def _numbers(self) -> list[Term]:
        numbers = [s.var for s in self.system.state if s.var.type.kind in ("integer", "real")]
        return [v for v in numbers if len(set(self.columns.of[v])) > 1][:MOST_NUMBERS]

    def _single(self) -> Iterator[Term]:
        """Constants, bounds, values of modes, linear equalities."""
        for s in self.system.state:
            column = self.columns.of[s.var]
            values = dict.fromkeys(column)
            if s.var.type.kind in ("float", "bool") and len(values) > 1:
                continue
            if s.var.type.kind == "float":
                continue
            if len(values) <= MOST_VALUES:
                yield disjunction(*(term("same", s.var, constant(s.var.type, v)) for v in values))
            if s.var.type.kind in ("integer", "real"):
                yield from self._bounds(Row({s.var: 1}, 0))
        numbers = self._numbers()
        for row in relations([self.columns.numbers(v) for v in numbers]):
            of = {v: a for v, a in zip(numbers, row[:-1], strict=True) if a}
            yield to_term(literal(Kind.ZERO, Row(of, row[-1])))

    def _pairs(self) -> Iterator[Term]:
        """Bounds on sums and differences, and on the sum of all."""
        numbers = self._numbers()
        for x, y in combinations(numbers, 2):
            if x.type is y.type:
                yield from self._bounds(Row({x: 1, y: 1}, 0))
                yield from self._bounds(Row({x: 1, y: -1}, 0))
        if len(numbers) > 2 and len({v.type for v in numbers}) == 1:
            yield from self._bounds(Row(dict.fromkeys(numbers, 1), 0))

    def _atoms(self) -> list[Term]:
        """Conditions over the state: its Bools, the values of modes, the comparisons of the system."""
        known = {s.var for s in self.system.state}
        atoms: dict[Term, None] = dict.fromkeys(s.var for s in self.system.state if s.var.type.kind == "bool")
        for s in self.system.state:
            values = dict.fromkeys(self.columns.of[s.var])
            if s.var.type.kind not in ("bool", "float") and 1 < len(values) <= MOST_VALUES:
                atoms |= {term("same", s.var, constant(s.var.type, v)): None for v in values}
        for node in walk([c.term for c in self.system.properties]):
            if node.op in ("lt", "le", "gt", "ge", "eq", "ne", "same") and known.issuperset(variables([node])):
                atoms[node] = None
        varied = [a for a in atoms if len(set(self.columns.holds(a))) > 1]
        return varied[:MOST_CONDITIONS]

    def _conditions(self) -> Iterator[Term]:
        """Of two conditions, every combination that was never met; and groups of which one always holds."""
        atoms = self._atoms()
        apart: dict[Term, set[Term]] = {a: set() for a in atoms}
        for a, b in combinations(atoms, 2):
            met = set(zip(self.columns.holds(a), self.columns.holds(b), strict=True))
            if (True, True) not in met:
                apart[a].add(b)
                apart[b].add(a)
            for x, y in ((True, True), (True, False), (False, True), (False, False)):
                if (x, y) not in met:
                    yield disjunction(negation(a) if x else a, negation(b) if y else b)
        for group in _groups(atoms, apart):
            if all(any(row) for row in zip(*(self.columns.holds(a) for a in group), strict=True)):
                yield disjunction(*group)

    def _conditional(self) -> Iterator[Term]:
        """Bounds that are closer where a condition holds."""
        numbers = self._numbers()
        for atom in self._atoms():
            for wanted in (True, False):
                rows = [i for i, v in enumerate(self.columns.holds(atom)) if v is wanted]
                condition = atom if wanted else negation(atom)
                for x in numbers:
                    if x not in variables([atom]):
                        everywhere = set(self._bounds(Row({x: 1}, 0)))
                        for bound in self._bounds(Row({x: 1}, 0), rows):
                            if bound not in everywhere:
                                yield implication(condition, bound)

    def _bounds(self, row: Row, among: list[int] | None = None) -> Iterator[Term]:
        """Least and greatest value of the sum over the states, where half of them already show it."""
        columns = [(self.columns.of[v], a) for v, a in row.of.items()]
        rows = range(len(columns[0][0])) if among is None else among
        totals = [sum(a * column[i] for column, a in columns) for i in rows]  # type: ignore[operator, misc]
        if not totals or min(totals) == max(totals):
            return
        half = totals[: len(totals) // 2 + 1]
        if min(half) == min(totals):
            yield to_term(literal(Kind.NONNEGATIVE, row.shifted(-min(totals))))
        if max(half) == max(totals):
            yield to_term(literal(Kind.NONNEGATIVE, row.times(-1).shifted(max(totals))))


def _groups(atoms: list[Term], apart: dict[Term, set[Term]]) -> Iterator[list[Term]]:
    """Maximal groups of conditions no two of which hold together, one from each condition on."""
    for first in atoms:
        group = [first]
        for other in atoms:
            if other is not first and all(other in apart[member] for member in group):
                group.append(other)
        if len(group) > 2:
            yield group
