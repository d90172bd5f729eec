"""A run with everything in it: the reference semantics, term by term, for replaying what a solver claims.

Unlike `compile`, it also takes values for the constants of foralls and for `unknown`s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from streamcheck.core.evaluate import evaluate, value_of
from streamcheck.core.term import Term
from streamcheck.core.types import Value, assembled, default, part_names, scalar_parts
from streamcheck.problem.specification import Cell, Specification


def simulate(
    equations: Specification, constants: Mapping[str, Value], inputs: Sequence[Mapping[str, Value]]
) -> Iterator[dict[Term, Value]]:
    """The value of every term of the equations at each step. Scalars go by the names of their parts (`pos.x`); what
    is not given is a default value of its type. `constants` also holds the first values of free cells."""
    fixed = {c.var: _given(c.var, constants) for c in equations.constants}
    state = {c.var: _first(c, constants) for c in equations.cells}
    roots = [*equations.variables(), *equations.roots(), *(w.term for w in equations.wires)]
    for given in inputs:
        read = {i.var: _given(i.var, given) for i in equations.inputs}
        values = evaluate(roots, {**fixed, **state, **read})
        yield values
        state = {c.var: values[c.next] for c in equations.cells}


def _first(cell: Cell, given: Mapping[str, Value]) -> Value:
    """A free cell begins with what is given of it."""
    initial = value_of(cell.initial, {})
    if not cell.free:
        return initial
    names = part_names(cell.name, cell.initial.type)
    parts = (given.get(name, part) for (name, _), part in zip(names, scalar_parts(initial), strict=True))
    return assembled(cell.initial.type, parts)


def _given(var: Term, scalars: Mapping[str, Value]) -> Value:
    parts = (scalars.get(part, default(t)) for part, t in part_names(var.payload, var.type))
    return assembled(var.type, parts)
