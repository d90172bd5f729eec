"""A cell that is true as long as every assumption has been true: the run-time check of the assumptions."""

from __future__ import annotations

from dataclasses import replace

from streamcheck.core.errors import SpecError
from streamcheck.core.names import FreshNames
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, variable, variables
from streamcheck.core.types import BOOL
from streamcheck.problem.specification import Cell, Specification


def with_assumption_cell(specification: Specification) -> tuple[Specification, str]:
    """The specification with that cell, and its name."""
    if not specification.assumptions:
        raise SpecError(
            f"{specification.name} has no assumption to check",
            specification.where,
            write='spec.assume("name", condition), or no --assumptions',
        )
    unknown = {c.var: c for c in specification.constants}
    for claim in specification.assumptions:
        for var in variables([claim.term]):
            if var in unknown:
                raise SpecError(f"the assumption {claim.name} is about {var.payload}, which no run knows", claim.where)
    taken = [str(v.payload) for v in specification.variables()] + [w.name for w in specification.wires]
    name = FreshNames(taken).fresh("assumptions_held")
    held = variable(name, BOOL)
    after = conjunction(held, *(claim.term for claim in specification.assumptions))
    cell = Cell(name, TRUE, after, specification.assumptions[0].where)
    return replace(specification, cells=(*specification.cells, cell)), name
