"""The checker's own reading of a specification: its runs, over scalars.

I   every state variable with an initial value has it
T   every state variable takes its next value
A   the assumptions, and for each enum variable that its value is a member
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamcheck.certify.logic import disjunction
from streamcheck.certify.scalars import Parts, take_apart
from streamcheck.core.term import Term, constant, term, variables, walk
from streamcheck.core.types import EnumType, part_names
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import Specification


@dataclass(frozen=True, slots=True)
class Register:
    """A state variable. `initial` is None if a run may begin with any value."""

    var: Term
    initial: Term | None
    next: Term


@dataclass(frozen=True, slots=True)
class Runs:
    """`transition`, if there is one, must hold of each step: the registers' values before it and the inputs."""

    registers: tuple[Register, ...]
    inputs: tuple[Term, ...]
    assumptions: tuple[Term, ...]
    members: tuple[Term, ...]  # conditions on one enum variable each, which matter only with their variable
    transition: Term | None = None

    def cone(self, roots: Iterable[Term]) -> Runs:
        """The part that the roots, the assumptions and the transition depend on."""
        nexts = {r.var: r.next for r in self.registers}
        seen: set[Term] = set()
        pending = [*roots, *self.assumptions, *([] if self.transition is None else [self.transition])]
        while pending:
            pending = [nexts[t] for t in walk(pending, seen) if t in nexts]
        return Runs(
            tuple(r for r in self.registers if r.var in seen),
            tuple(v for v in self.inputs if v in seen),
            self.assumptions,
            tuple(m for m in self.members if seen.issuperset(variables([m]))),
            self.transition,
        )

    def is_weaker_than(self, other: Runs) -> bool:
        """True if the steps of the other from any state are steps of this one: what it lacks may be anything."""
        known = {*other.registers, *other.assumptions, *other.members}
        return known.issuperset((*self.registers, *self.assumptions, *self.members)) and self.transition is None

    @property
    def all_assumptions(self) -> tuple[Term, ...]:
        return (*self.assumptions, *self.members)


@dataclass(frozen=True, slots=True)
class SpecificationRuns:
    """A specification taken apart: `named` holds the scalar parts of cells and wires by their names."""

    runs: Runs
    named: Mapping[str, Term]
    parts: Parts

    def invariant(self, claim: Claim) -> Term:
        """The term that has to hold at every step for the claim (if reachable: for its denial) to be shown."""
        (holds,) = self.parts[claim.term]
        return holds if claim.goal is Goal.ALWAYS else term("not", holds)


def read_specification(specification: Specification) -> SpecificationRuns:
    parts: Parts = {}
    take_apart([*specification.variables(), *specification.roots(), *(w.term for w in specification.wires)], parts)
    registers = [Register(part, None, part) for c in specification.constants for part in parts[c.var]]
    for cell in specification.cells:
        rows = zip(parts[cell.var], parts[cell.initial], parts[cell.next], strict=True)
        registers += [Register(var, None if cell.free else first, after) for var, first, after in rows]
    inputs = tuple(part for i in specification.inputs for part in parts[i.var])
    chosen = [*inputs, *(r.var for r in registers if r.initial is None)]
    named = {str(r.var.payload): r.var for r in registers}
    for wire in specification.wires:
        names = (name for name, _ in part_names(wire.name, wire.term.type))
        named.update(zip(names, parts[wire.term], strict=True))
    runs = Runs(
        tuple(registers),
        inputs,
        tuple(parts[a.term][0] for a in specification.assumptions),
        tuple(_member(var) for var in chosen if isinstance(var.type, EnumType)),
    )
    return SpecificationRuns(runs, named, parts)


def _member(var: Term) -> Term:
    assert isinstance(var.type, EnumType)
    return disjunction(*(term("eq", var, constant(var.type, code)) for code in var.type.codes))
