"""Many rounds of the steps of a specification at once: each step as an edge, whose rounds `rounds` computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamcheck.certify.logic import conjunction
from streamcheck.certify.rounds import repeat
from streamcheck.certify.runs import read_specification
from streamcheck.core.term import Term
from streamcheck.core.types import Value, assemble, scalar_parts
from streamcheck.problem.automaton import Edge
from streamcheck.problem.specification import Specification


class NotRepeated(Exception):
    """Rounds that are not known to be possible."""


def after_rounds(
    specification: Specification, state: Mapping[Term, Value], inputs: Sequence[Mapping[Term, Value]], times: int
) -> dict[Term, Value]:
    """The constants and cells after so many rounds of the inputs, as far as they are known."""
    if specification.calls:
        raise NotRepeated("functions without a definition may have other values in each round")
    reading = read_specification(specification)
    parts, runs = reading.parts, reading.runs
    updates = tuple((r.var, r.next) for r in runs.registers)
    step = Edge("", "", conjunction(*runs.all_assumptions), updates, runs.inputs, "a step")

    def scalars(values: Mapping[Term, Value]) -> dict[Term, Value]:
        return {part: x for v, value in values.items() for part, x in zip(parts[v], scalar_parts(value), strict=True)}

    after = repeat([(step, scalars(row)) for row in inputs], scalars(state), times)
    if isinstance(after, str):
        raise NotRepeated(after)
    return {v: assemble(v.type, (after[p] for p in parts[v])) for v in state if all(p in after for p in parts[v])}
