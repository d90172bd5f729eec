"""From equations to what engines get: claims, integer models, reduction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamcheck.core.term import variables
from streamcheck.problem.automaton import Program, conjuncts
from streamcheck.problem.certificate_json import Model
from streamcheck.problem.claim import Claim, RangeOf
from streamcheck.problem.specification import Specification
from streamcheck.problem.transition import TransitionSystem
from streamcheck.run.checking import Subject
from streamcheck.transform.automata import guarded, in_integers, program_equations, ranges_of, terms_in_integers
from streamcheck.transform.integers import Inexpressible, has_machine_integers, to_integers
from streamcheck.transform.reduce import Reduced, reduce
from streamcheck.transform.to_system import always, to_system


@dataclass(frozen=True, slots=True)
class Modelled:
    """The system in one integer model: as certificates speak of it, and reduced, as engines see it."""

    model: Model
    system: TransitionSystem
    reduced: Reduced
    program: Program | None = None  # the automata it stands for, in the same model

    @property
    def subject(self) -> Subject:
        if self.program is None:
            return Subject(self.model, self.system)
        return Subject(self.model, self.system, self.program.blocks, self.program.source)

    def claim(self, name: str) -> Claim:
        return next(c for c in self.system.properties if c.name == name)


def models(equations: Specification) -> list[Modelled]:
    """The integer models that can express the claims, the better bet first.

    Wrapping integers decide arithmetic at every width alike (Boyer-Moore with 8, 32, 64 bits in the same time);
    bit-vectors take what they cannot express, and run beside them. Without machine integers there is one model.
    """
    system = always(to_system(equations))
    program = equations.program
    bits = Modelled("bits", system, reduce(system), program)
    if not has_machine_integers(system):
        return [bits]
    try:
        if program is not None:
            return [_over_integers(equations, program), bits]
        integers = to_integers(system)
    except Inexpressible:
        return [bits]
    return [Modelled("integers", integers, reduce(integers)), bits]


def _over_integers(equations: Specification, program: Program) -> Modelled:
    """The system of the automaton over Int, in which guards tell what does not wrap."""
    over_int, ranges = in_integers(program.blocks), ranges_of(program.blocks)
    wanted = {p.name for p in equations.properties}
    of_program = program_equations(replace(program, blocks=over_int))
    properties = tuple(p for p in of_program.properties if p.name in wanted)
    system = always(to_system(replace(of_program, properties=properties)))
    assumed = tuple(
        Claim(f"range {i}", part, origin=RangeOf(variables([part])[0])) for i, part in enumerate(conjuncts(ranges))
    )
    system = replace(system, assumptions=assumed)
    predicates = terms_in_integers(program.predicates)
    in_model = replace(program, blocks=guarded(over_int, ranges), predicates=predicates)
    return Modelled("integers", system, reduce(system), in_model)


def claim_named(equations: Specification, name: str) -> Claim:
    return next(p for p in equations.properties if p.name == name)
