"""Invariants by template: conditions that hold in all states that random runs reach, kept if they are inductive.

Decides: properties that follow by induction from bounds, sums and differences of numbers, linear equalities (of
machine integers also up to wrapping around), implications between two conditions, one-hot groups, values of modes,
remainders, bounds under a condition, and bounds that no run shows (`widening`). Its invariants go to the other engines
as soon as they are shown.

Papers: the shape of candidates after [KGT11] and [Daikon07]; the filter is `houdini`. The properties
themselves are candidates too.

A bound is a candidate only if half of the states already show it: bounds that grow with every run are chance.

Limits: the templates; conditions beyond the first few dozen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import gcd
from typing import Any, ClassVar

from streamcheck.core.simplify import disjunction, implication, negation
from streamcheck.core.term import Term, constant, term, variables, walk
from streamcheck.core.types import INT, Value
from streamcheck.invariants.discovery import Discovery
from streamcheck.invariants.nullspace import Number, relations
from streamcheck.invariants.options import TemplatesOptions
from streamcheck.invariants.sums import least_sums
from streamcheck.invariants.widening import Widening
from streamcheck.problem.claim import RangeOf
from streamcheck.smt.linear import Kind, Row, literal, sum_term, to_term

MOST_NUMBERS = 24
MOST_SUMMED = 7
MOST_CONDITIONS = 36
MOST_MARKS = 2
HIGHEST_MARK = 1 << 30  # beyond are the ends of types (heuristic)
MOST_DIFFERENCES = 4
MOST_STEPS = 16  # by which something counts
MOST_VALUES = 6  # of what counts as a mode


class Templates(Discovery):
    name: ClassVar[str] = "templates"

    def __init__(self, options: TemplatesOptions | None = None) -> None:
        self.options = options or TemplatesOptions()
        self._machine_differences: list[Term] | None = None

    def stages(self) -> Iterator[Iterable[Term]]:
        yield self.everywhere(self._single)
        of_reals = any(s.var.type.kind == "real" for s in self.system.state)
        if of_reals:  # whose bounds random runs hardly ever show
            yield from self._raised_bounds()
        if self.options.pairs:
            yield self.everywhere(self._pairs)
        if self.options.sums:
            yield self.everywhere(self._sums)
        if self.options.conditions:
            yield self.everywhere(self._conditions)
        if self.options.conditional:
            yield self.everywhere(self._remainders)
            yield self.everywhere(self._conditional)
        if not of_reals:
            yield from self._raised_bounds()
        yield list(self.dropped)  # they may stand with what was shown since

    def _raised_bounds(self) -> Iterator[Iterable[Term]]:
        if self.options.widening and self.place is None:
            widening = Widening(self.system, self.columns.holds, self.houdini.patience)
            yield widening.rough()
            yield widening.close()

    # Candidates

    def _numbers(self) -> list[Term]:
        numbers = [s.var for s in self.system.state if s.var.type.kind in ("integer", "real")]
        numbers = [v for v in numbers if v is not self.place]
        varied = [v for v in numbers if len(set(self.columns.of[v])) > 1][:MOST_NUMBERS]
        return [*varied, *(d for d in self._differences() if len(set(self.columns.holds(d))) > 1)]

    def _differences(self) -> list[Term]:
        """The differences of machine integers that the system speaks of, as the machine computes them: of counters that
        wrap around, often nothing else is bounded."""
        if self._machine_differences is None:
            periods = self._periods()
            pairs: dict[tuple[Term, Term], None] = {}
            for node in walk(self.system.roots()) if len(periods) > 1 else ():
                if node.op == "sub" and node.type is INT:
                    sides = [[v for v in variables([a]) if v in periods and v in self.columns.of] for a in node.args]
                    if all(len(side) == 1 for side in sides) and sides[0] != sides[1]:
                        pairs[sides[0][0], sides[1][0]] = None
            alike = [(x, y) for x, y in pairs if periods[x] == periods[y]]
            self._machine_differences = [
                _wrap_around(term("sub", x, y), periods[x]) for x, y in alike[:MOST_DIFFERENCES]
            ]
        return self._machine_differences

    def _single(self) -> Iterator[Term]:
        """Constants, bounds, values of modes, remainders, linear equalities."""
        for s in self.system.state:
            if s.var is self.place:
                continue
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
            if s.var.type.kind == "integer":
                yield from _remainder(s.var, list(values))
        yield from self._equalities()
        yield from self._congruences()
        yield from self._thresholds()
        yield from self._comparisons_that_hold()

    def _equalities(self, among: list[int] | None = None) -> Iterator[Term]:
        """Linear relations between numbers."""
        numbers = self._numbers()
        columns = [self.columns.numbers(v) for v in numbers]
        if among is not None:
            columns = [[column[i] for i in among] for column in columns]
        for row in relations(columns):
            of = {v: a for v, a in zip(numbers, row[:-1], strict=True) if a}
            yield to_term(literal(Kind.ZERO, Row(of, row[-1])))

    def _congruences(self) -> Iterator[Term]:
        """Linear relations between machine integers up to wrapping around: those of the states with small numbers."""
        periods = self._periods()
        numbers = [v for v in self._numbers() if v in periods]
        columns = [self.columns.numbers(v) for v in numbers]
        small = [i for i, row in enumerate(zip(*columns, strict=True)) if _is_small(row, numbers, periods)]
        for row in relations([[column[i] for i in small] for column in columns]) if len(small) > len(numbers) else ():
            of = {v: a for v, a in zip(numbers, row[:-1], strict=True) if a}
            if len(of) > 2:
                total, modulus = sum_term(Row(of, row[-1]), INT), min(periods[v] for v in of)
                yield term("eq", term("mod", total, constant(INT, modulus)), constant(INT, 0))

    def _periods(self) -> dict[Term, int]:
        """How many values the machine integers have that these Int variables stand for."""
        found = {}
        for claim in self.system.assumptions:
            if isinstance(claim.origin, RangeOf) and claim.origin.variable.type is INT:
                ends = [int(n.payload) for n in walk([claim.term]) if n.is_const]
                found[claim.origin.variable] = max(ends) - min(ends) + 1
        return found

    def _thresholds(self) -> Iterator[Term]:
        """The closest constants of the system, and their neighbours, that bound the values of a number: guards compare
        with them, though no run may have come near."""
        numeric = (n for n in walk(self.system.roots()) if n.is_const and n.type.kind in ("integer", "real"))
        constants: set[Any] = {n.payload for n in numeric}
        marks = sorted({c + d for c in constants for d in (-1, 0, 1) if abs(c) < HIGHEST_MARK})
        for v in self._numbers():
            least, most = min(self.columns.numbers(v)), max(self.columns.numbers(v))
            for mark in [m for m in marks if m <= least][-MOST_MARKS:]:
                yield to_term(literal(Kind.NONNEGATIVE, Row({v: 1}, -mark)))
            for mark in [m for m in marks if m >= most][:MOST_MARKS]:
                yield to_term(literal(Kind.NONNEGATIVE, Row({v: -1}, mark)))

    def _comparisons_that_hold(self) -> Iterator[Term]:
        """Comparisons of the program that hold in all states; for `a < b` that is not among them, `a <= b` if it is."""
        if self.place is not None:
            for atom in self._comparisons():
                for literal in (atom, negation(atom)):
                    weaker = {"lt": "le", "gt": "ge"}.get(literal.op)
                    for candidate in (literal, *([term(weaker, *literal.args)] if weaker else [])):
                        if all(self.columns.holds(candidate)):
                            yield candidate

    def _pairs(self) -> Iterator[Term]:
        """Bounds on sums and differences, and on the sum of all."""
        numbers = self._numbers()
        for x, y in combinations(numbers, 2):
            if x.type is y.type:
                yield from self._bounds(Row({x: 1, y: 1}, 0))
                yield from self._bounds(Row({x: 1, y: -1}, 0))
        if len(numbers) > 2 and len({v.type for v in numbers}) == 1:
            yield from self._bounds(Row(dict.fromkeys(numbers, 1), 0))

    def _sums(self) -> Iterator[Term]:
        """Bounds on sums of more than two numbers, added or subtracted, that do not follow from bounds on fewer."""
        of_type: dict[object, list[Term]] = {}
        for v in self._numbers():
            of_type.setdefault(v.type, []).append(v)
        for numbers in of_type.values():
            if 2 < len(numbers) <= MOST_SUMMED:
                for factors, least in least_sums([self.columns.numbers(v) for v in numbers]):
                    of = {v: a for v, a in zip(numbers, factors, strict=True) if a}
                    if len(of) > 2:
                        yield to_term(literal(Kind.NONNEGATIVE, Row(of, -least)))

    def _atoms(self) -> list[Term]:
        """Conditions over the state: its Bools, the values of modes, the comparisons of the system, and signs."""
        known = {s.var for s in self.system.state if s.var is not self.place}
        atoms: dict[Term, None] = dict.fromkeys(s.var for s in self.system.state if s.var.type.kind == "bool")
        for s in self.system.state:
            values = dict.fromkeys(self.columns.of[s.var])
            if s.var in known and s.var.type.kind not in ("bool", "float") and 1 < len(values) <= MOST_VALUES:
                atoms |= {term("same", s.var, constant(s.var.type, v)): None for v in values}
        atoms |= dict.fromkeys(self._comparisons())
        atoms |= {to_term(literal(Kind.POSITIVE, Row({v: 1}, 0))): None for v in self._numbers()}
        varied = [a for a in atoms if len(set(self.columns.holds(a))) > 1]
        return varied[:MOST_CONDITIONS]

    def _comparisons(self) -> Iterator[Term]:
        """The comparisons of the properties, and of a program's guards."""
        known = {s.var for s in self.system.state if s.var is not self.place}
        asked = [c.term for c in self.system.properties] + [s.next for s in self.system.state if s.var is self.place]
        for node in walk(asked):
            if node.op in ("lt", "le", "gt", "ge", "eq", "ne", "same") and known.issuperset(variables([node])):
                yield node

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
        """Bounds that are closer if a condition holds."""
        numbers, always = self._numbers(), {*self._equalities()}
        for atom in self._atoms():
            for wanted in (True, False):
                rows = [i for i, v in enumerate(self.columns.holds(atom)) if v is wanted]
                condition = atom if wanted else negation(atom)
                if self.place is not None and len(rows) > 2:
                    closer = (e for e in self._equalities(rows) if e not in always)
                    yield from (implication(condition, e) for e in closer)
                for row in self._rows_beside(atom, numbers):
                    everywhere = set(self._bounds(row))
                    yield from (implication(condition, b) for b in self._bounds(row, rows) if b not in everywhere)

    def _remainders(self) -> Iterator[Term]:
        """Remainders of numbers, for each value of another one: what counts in steps of k is divisible by k."""
        numbers = [v for v in self._numbers() if v.type.kind == "integer"]
        for step in numbers:
            column: list[int] = self.columns.of[step]  # type: ignore[assignment]
            for value in range(min(column), max(column) + 1) if max(column) - min(column) < MOST_STEPS else ():
                rows = [i for i, other in enumerate(column) if other == value]
                condition = term("eq", step, constant(step.type, value))
                for x in [x for x in numbers if x is not step]:
                    values = dict.fromkeys(self.columns.of[x][i] for i in rows) or (0, value, 2 * value)  # not met
                    yield from (implication(condition, r) for r in _remainder(x, list(values)))

    def _rows_beside(self, atom: Term, numbers: list[Term]) -> Iterator[Row]:
        """Numbers that the condition does not speak of, and differences to those it speaks of."""
        named = {*variables([atom])}
        yield from (Row({x: 1}, 0) for x in numbers if x not in named)
        if len(numbers) <= MOST_SUMMED:
            pairs = [(x, y) for x, y in combinations(numbers, 2) if named & {x, y} and x.type is y.type]
            yield from (Row({x: 1, y: -1}, 0) for x, y in pairs)

    def _bounds(self, row: Row, among: list[int] | None = None) -> Iterator[Term]:
        """Least and greatest value of the sum over the states, if half of them already have that bound."""
        columns = [(self.columns.of[v], a) for v, a in row.of.items()]
        rows = range(len(columns[0][0])) if among is None else among
        totals = [sum(a * column[i] for column, a in columns) for i in rows]  # type: ignore[operator, misc]
        if not totals or min(totals) == max(totals):
            return
        half = totals[: len(totals) // 2 + 1]
        if min(half) == min(totals):
            yield to_term(literal(Kind.NONNEGATIVE, row.plus_constant(-min(totals))))
        if max(half) == max(totals):
            yield to_term(literal(Kind.NONNEGATIVE, row.times(-1).plus_constant(max(totals))))


def _wrap_around(difference: Term, period: int) -> Term:
    """The difference of two numbers from -period/2 up, wrapped around into the same numbers."""
    low, high, turn = (constant(INT, n) for n in (-period // 2, period // 2 - 1, period))
    lowered = term("mux", term("gt", difference, high), term("sub", difference, turn), difference)
    return term("mux", term("lt", difference, low), term("add", difference, turn), lowered)


def _is_small(row: Iterable[Number], numbers: list[Term], periods: Mapping[Term, int]) -> bool:
    return all(-periods[v] < 4 * a < periods[v] for v, a in zip(numbers, row, strict=True))


def _remainder(var: Term, values: list[Value]) -> Iterator[Term]:
    """Equality of all values modulo the greatest possible number."""
    numbers = [int(v) for v in values]  # type: ignore[arg-type]
    step = gcd(*(n - numbers[0] for n in numbers))
    if len(numbers) > 2 and step > 1:
        left = term("mod", var, constant(var.type, step))
        yield term("eq", left, constant(var.type, numbers[0] % step))


def _groups(atoms: list[Term], apart: dict[Term, set[Term]]) -> Iterator[list[Term]]:
    """Maximal groups of conditions no two of which hold together, one from each condition on."""
    for first in atoms:
        group = [first]
        for other in atoms:
            if other is not first and all(other in apart[member] for member in group):
                group.append(other)
        if len(group) > 2:
            yield group
