"""Bounds of numbers, and of sums of numbers that are alike, raised until they are inductive.

Decides: filters, integrators, voters and controllers, whose values stay within bounds that no random run comes near and
no line of the spec names.

Papers: the bounds of fixed sums, found by a solver, are template polyhedra [SSM05]; the thresholds are those of
[Astree03]. A row is a number of the state, a number that the state alone determines (the next value of a register), or
the sum of such numbers whose equations have the same form. Its bound begins at the greatest value that random runs
show. As long as a step leads from states within all bounds to one beyond some, those are raised to the next threshold.
What stays is inductive, and no set of lower thresholds is.

Numbers that determine each other are looked at together, and after those that they depend on.

Limits: linear arithmetic; rows that are raised too often have no bound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import ceil, floor
from typing import TypeAlias

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import disjunction, negation
from streamcheck.core.term import Term, constant, term, variables, walk
from streamcheck.core.types import INT, Value
from streamcheck.problem.claim import Claim
from streamcheck.problem.fingerprints import components
from streamcheck.problem.transition import TransitionSystem
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import Chained
from streamcheck.transform.reduce import Restriction

MOST_GROUPS = 40  # in one part
MOST_ALIKE = 8  # numbers in a sum
COARSE, FINE = Fraction(3, 2), Fraction(33, 32)  # from threshold to threshold, where the system has no constant between
LEAST, GREATEST = Fraction(1, 32), 1 << 31
MOST_RAISES = 24  # of a coarse bound
WITHIN = "within the bounds"
RowGroup: TypeAlias = tuple[Term, ...]  # of rows with one bound


class Widening:
    """Bounds for a system. `values_of` gives the values of a term in the states that random runs met."""

    def __init__(
        self, system: TransitionSystem, values_of: Callable[[Term], Sequence[Value]], patience: int | None
    ) -> None:
        self.system = system
        self.values_of = values_of
        self.patience = patience
        self.ends: dict[Term, Fraction] | None = None  # of each row with rough bounds, these
        self.nexts = {s.var: s.next for s in system.state}
        self.forms = _TermForms()
        self.met: dict[Term, Fraction] = {}  # of each row, the greatest value in the states that were met
        self.parts = list(self._parts())

    def rough(self) -> Iterator[Term]:
        """Bounds that are inductive together."""
        yield from self._bounds(_Thresholds(self.system, COARSE))

    def close(self) -> Iterator[Term]:
        """The same rows' bounds, with many thresholds."""
        yield from self._bounds(_Thresholds(self.system, FINE))

    def _bounds(self, thresholds: _Thresholds) -> list[Term]:
        found: dict[Term, Fraction] = {}
        for groups in self.parts:
            if bounded := [g for g in groups if self.ends is None or g[0] in self.ends]:
                found |= self._inductive(bounded, found, thresholds)
        self.ends = found
        return list(map(_at_most, found, found.values()))

    def _parts(self) -> Iterator[list[RowGroup]]:
        """The rows of numbers that determine each other together, grouped by the form of their equations."""
        needs = {v: [n for n in variables([after]) if n in self.nexts] for v, after in self.nexts.items()}
        for part in components(self.nexts, lambda v: needs[v]):
            groups: list[RowGroup] = []
            for alike in self._alike(part):
                total = [reduce(lambda a, b: term("add", a, b), alike)] if 1 < len(alike) <= MOST_ALIKE else []
                for rows in (alike, total):
                    if moving := [row for row in rows if self._moves(row)]:
                        groups += [tuple(moving), tuple(term("neg", row) for row in moving)]
            yield groups[:MOST_GROUPS]

    def _alike(self, part: Sequence[Term]) -> Iterable[list[Term]]:
        numbers = [v for v in part if v.type.kind in ("integer", "real")]
        registers = [self.nexts[v] for v in numbers if self.nexts[v].args and self._is_state_alone(self.nexts[v])]
        alike: dict[object, list[Term]] = {}
        for row, meaning in [(v, self.nexts[v]) for v in numbers] + [(r, r) for r in dict.fromkeys(registers)]:
            alike.setdefault((row is meaning, row.type, self.forms.of(meaning)), []).append(row)
        return alike.values()

    def _moves(self, row: Term) -> bool:
        values = [Fraction(v) for v in dict.fromkeys(self.values_of(row))]  # type: ignore[arg-type]
        self.met |= {row: max(values), term("neg", row): -min(values)}
        return len(values) > 1

    def _is_state_alone(self, node: Term) -> bool:
        return self.nexts.keys() >= {*variables([node])}

    def _inductive(
        self, groups: Sequence[RowGroup], known: dict[Term, Fraction], thresholds: _Thresholds
    ) -> dict[Term, Fraction]:
        """Bounds of these rows that are inductive, given what is known: one for the rows of a group."""
        rows = [row for group in groups for row in group]
        claim = Claim(WITHIN, disjunction(*(_at_most(row, Fraction(0)) for row in rows)))
        asked = Restriction(replace(self.system, properties=(claim,)), (WITHIN,)).problem
        here = {s.var for s in asked.state}
        given = [_at_most(row, bound) for row, bound in known.items() if here.issuperset(variables([row]))]
        steps, beyond = Chained(asked), Solver(self.patience)
        beyond.add(*steps.equations(0), *(steps.image(t, i) for t in given for i in (0, 1)))
        beyond.add(*(steps.image(a.term, i) for a in asked.assumptions for i in (0, 1)))
        before, after = ({row: steps.image(row, i) for row in rows} for i in (0, 1))
        bounds = {group: thresholds.above(max(self.met[row] for row in group)) for group in groups}
        raises = dict.fromkeys(groups, 0)
        while bounds:
            # A ∧ T ∧ B[x0] ∧ ¬B[x1]
            beyond.push()
            beyond.add(*(_at_most(before[row], bound) for group, bound in bounds.items() for row in group))
            above = (negation(_at_most(after[row], bound)) for group, bound in bounds.items() for row in group)
            answer = beyond.check(disjunction(*above))
            if answer is not True:
                return {row: b for group, b in bounds.items() for row in group} if answer is False else {}
            evaluation = Evaluation(beyond.model())
            beyond.pop()
            reached = {group: max(Fraction(evaluation.of(after[row])) for row in group) for group in bounds}  # type: ignore[arg-type]
            raised = [group for group, bound in bounds.items() if reached[group] > bound]
            beyond_ends = self.ends is not None and any(reached[group] > self.ends[group[0]] for group in raised)
            if not raised or beyond_ends:  # a model that our values do not express
                return {}
            for group in raised:
                raises[group] += 1
                bounds[group] = thresholds.above(reached[group])
                if self.ends is not None:
                    bounds[group] = min(bounds[group], self.ends[group[0]])
                elif raises[group] > MOST_RAISES or bounds[group] > GREATEST:
                    del bounds[group]
        return {}


class _TermForms:
    """Numbers for the forms of terms: two terms have the same one if they differ in their variables alone."""

    def __init__(self) -> None:
        self.numbers: dict[object, int] = {}
        self.known: dict[Term, int] = {}

    def of(self, root: Term) -> int:
        for node in walk([root]):
            if node not in self.known:
                leaf = node.payload if node.op != "var" else None
                form = (node.op, node.type, leaf, *(self.known[a] for a in node.args))
                self.known[node] = self.numbers.setdefault(form, len(self.numbers))
        return self.known[root]


class _Thresholds:
    """The constants of a system, and a sequence that grows geometrically; both with either sign."""

    def __init__(self, system: TransitionSystem, growth: Fraction) -> None:
        numeric = (n.payload for n in walk(system.roots()) if n.is_const and n.type.kind in ("integer", "real"))
        sizes = {Fraction(0), *(abs(Fraction(c)) for c in numeric if abs(c) <= GREATEST)}
        size = LEAST
        while size <= GREATEST:
            sizes.add(Fraction(ceil(size * 64), 64))
            size *= growth
        self.all = sorted({sign * s for s in sizes for sign in (1, -1)})

    def above(self, value: Fraction) -> Fraction:
        """The least one that is not less."""
        place = bisect_left(self.all, value)
        return self.all[place] if place < len(self.all) else Fraction(GREATEST + 1)


def _at_most(row: Term, bound: Fraction) -> Term:
    return term("le", row, constant(row.type, floor(bound) if row.type is INT else bound))
