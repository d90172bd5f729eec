"""Claims that should fail: a proof of one of them means that a proof of the user's property is vacuous.

for a property a ⇒ b     a is never true
with assumptions         no run meets them; no run meets them for LONG_ENOUGH steps, or as many as runs may have
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, Term, constant, term, variable
from streamcheck.core.types import INT
from streamcheck.problem.claim import Claim, Goal, VacuityTest, Written
from streamcheck.problem.specification import Cell, Specification
from streamcheck.transform.fresh import fresh_name

LONG_ENOUGH = 10  # steps


def with_vacuity_tests(specification: Specification, most: int = LONG_ENOUGH) -> Specification:
    """The specification with a test for each `implies` of the user's, and for the assumptions over at most so many
    steps."""
    tested = with_premise_tests(specification)
    if not specification.assumptions:
        return tested
    taken = {p.name for p in tested.properties}
    steps = min(most, LONG_ENOUGH)
    cell, before_last = clock_before(specification, steps)
    begins = Claim("no run meets the assumptions", FALSE, origin=VacuityTest(None, 1))
    lasts = Claim("no long run meets the assumptions", before_last, origin=VacuityTest(None, steps))
    tests = [_rename(test, taken) for test in (begins, lasts)]
    return replace(tested, cells=(*tested.cells, cell), properties=(*tested.properties, *tests))


def with_premise_tests(specification: Specification) -> Specification:
    """The specification with a test for each `implies` of the user's alone."""
    taken = {p.name for p in specification.properties}
    tests = [_rename(test, taken) for test in _premises(specification.properties)]
    return replace(specification, properties=(*specification.properties, *tests))


def clock_before(specification: Specification, steps: int) -> tuple[Cell, Term]:
    """A cell that counts the steps, and the condition that this is not yet the last of so many."""
    clock = variable(fresh_name("the step", {str(v.payload) for v in specification.variables()}), INT)
    last = constant(INT, steps - 1)
    after = term("min", term("add", clock, constant(INT, 1)), last)
    return Cell(str(clock.payload), constant(INT, 0), after, None, named=False), term("lt", clock, last)


def _premises(properties: Iterable[Claim]) -> Iterator[Claim]:
    for p in properties:
        if p.goal is Goal.ALWAYS and isinstance(p.origin, Written) and p.term.op == "implies":
            premise = p.term.args[0]
            if not premise.is_const:
                yield Claim(f"the premise of {p.name} is never true", negation(premise), origin=VacuityTest(p.name, 1))


def _rename(test: Claim, taken: set[str]) -> Claim:
    name = fresh_name(test.name, taken)
    taken.add(name)
    return replace(test, name=name)
