"""The part of a specification that some terms depend on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from streamcheck.core.term import Term
from streamcheck.problem.specification import Specification


def part_for(specification: Specification, roots: Iterable[Term]) -> Specification:
    """The variables that the roots depend on, with all assumptions and calls, and without claims and outputs."""
    assumed = (a.term for a in specification.assumptions)
    needed = specification.needed_by([*roots, *assumed, *specification.call_terms()])
    return replace(
        specification,
        inputs=tuple(i for i in specification.inputs if i.var in needed),
        constants=tuple(c for c in specification.constants if c.var in needed),
        cells=tuple(c for c in specification.cells if c.var in needed),
        wires=(),
        triggers=(),
        observers=(),
        properties=(),
        fairness=(),
        instances=(),
        components=(),
    )
