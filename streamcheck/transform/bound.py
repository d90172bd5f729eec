"""A specification whose runs are all of at most `steps` steps: one more assumption, about one more cell.

    the step < K    with    the step = [0] ++ the step + 1

The proofs and counterexamples of the bounded specification are checked like any. A proof of it is none for all time: it
says that no run of at most K steps breaks the property.
"""

from __future__ import annotations

from dataclasses import replace

from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import INT, Type, machine
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Specification
from streamcheck.transform.fresh import fresh_name


def with_bound(specification: Specification, steps: int) -> Specification:
    taken = {str(v.payload) for v in specification.variables()} | {a.name for a in specification.assumptions}
    clock = variable(fresh_name("the step", taken), _counter(specification, steps))
    most = constant(clock.type, steps)
    after = term("min", term("add", clock, constant(clock.type, 1)), most)
    cell = Cell(str(clock.payload), constant(clock.type, 0), after, None, named=False)
    ends = Claim(fresh_name("the bound", taken), term("lt", clock, most))
    return replace(
        specification,
        cells=(*specification.cells, cell),
        assumptions=(*specification.assumptions, ends),
    )


def _counter(specification: Specification, steps: int) -> Type:
    """A machine integer unless the variables are unbounded: solvers for bits know no Int."""
    if any(v.type.kind in ("integer", "real") for v in specification.variables()):
        return INT
    return machine(next(width for width in (8, 16, 32, 64) if steps < 1 << (width - 1)), signed=False)
