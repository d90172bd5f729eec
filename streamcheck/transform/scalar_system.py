"""Specification → TransitionSystem: cells are state, constants are state that never changes, everything scalar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from streamcheck.core.simplify import disjunction
from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import EnumType, part_names
from streamcheck.problem.claim import Claim, Goal, RangeOf
from streamcheck.problem.specification import Specification
from streamcheck.problem.transition import Definition, State, TransitionSystem
from streamcheck.problem.verdict import Evidence
from streamcheck.transform.scalars import scalars


class ScalarSystem:
    """The transition system of a specification, every property as a term that always holds."""

    def __init__(self, specification: Specification) -> None:
        self.problem: TransitionSystem = always(to_system(specification))

    def back(self, evidence: Evidence) -> Evidence:
        """The same: evidence names parts of arrays and structs."""
        return evidence


def to_system(specification: Specification) -> TransitionSystem:
    parts = scalars(specification.variables())
    scalars([*specification.roots(), *(w.term for w in specification.wires)], parts)
    inputs = [part for i in specification.inputs for part in parts[i.var]]
    constants = [part for c in specification.constants for part in parts[c.var]]
    state = [State(part, None, part) for part in constants]
    for cell in specification.cells:
        columns = zip(parts[cell.var], parts[cell.initial], parts[cell.next], strict=True)
        state += [State(var, None if cell.free else init, after) for var, init, after in columns]
    definitions = [
        Definition(name, part)
        for wire in specification.wires
        for (name, _), part in zip(part_names(wire.name, wire.term.type), parts[wire.term], strict=True)
    ]
    assumptions = [replace(a, term=parts[a.term][0]) for a in specification.assumptions]
    properties = [replace(p, term=parts[p.term][0]) for p in specification.properties]
    return TransitionSystem(
        specification.name,
        tuple(state),
        tuple(inputs),
        tuple(definitions),
        (
            *assumptions,
            *_members([*inputs, *constants, *(part for c in specification.cells if c.free for part in parts[c.var])]),
        ),
        tuple(properties),
    )


def always(system: TransitionSystem) -> TransitionSystem:
    """The system with every property as a term that holds at every step: a reachable one by its negation."""
    properties = tuple(replace(p, term=p.invariant, goal=Goal.ALWAYS) for p in system.properties)
    return replace(system, properties=properties)


def _members(variables: list[Term]) -> Iterator[Claim]:
    """Enums hold their members' codes only."""
    for var in variables:
        if isinstance(var.type, EnumType):
            codes = [term("eq", var, constant(var.type, code)) for code in var.type.codes]
            yield Claim(f"{var.payload} is a member of {var.type}", disjunction(*codes), origin=RangeOf(var))
