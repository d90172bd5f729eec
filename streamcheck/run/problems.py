"""From equations to what engines get: claims, integer models, reduction."""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, Term, constant, term, variable
from streamcheck.core.types import INT
from streamcheck.problem.automaton import Program, conjuncts
from streamcheck.problem.certificate_json import Model
from streamcheck.problem.specification import Cell, Property, Specification
from streamcheck.problem.transition import Claim, TransitionSystem
from streamcheck.run.checking import Subject
from streamcheck.transform.automata import guarded, in_integers, program_equations, ranges_of, terms_in_integers
from streamcheck.transform.integers import Inexpressible, has_machine_integers, to_integers
from streamcheck.transform.reduce import Reduced, reduce
from streamcheck.transform.to_system import to_system

TRIGGERED = "\u2063some run triggers "  # the claim whose refutation shows that an implication's left side is reachable

LASTS = "\u2063some run lasts long enough"  # no name of a user's begins with an invisible separator
BEGINS = "\u2063some run begins"
LONG_ENOUGH = 10


def is_extra(name: str) -> bool:
    """Whether a claim is ours and not the spec's."""
    return name in (BEGINS, LASTS) or name.startswith(TRIGGERED)


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


def claims_of(equations: Specification, *, vacuity: bool) -> Specification:
    """Every property as something that must always hold: a `reachable` one by its opposite; and for each property
    `a ⇒ b` of the user's the claim that `a` never holds, which should fail."""
    claims = [p if p.goal == "always" else replace(p, term=term("not", p.term)) for p in equations.properties]
    if vacuity:
        for p in equations.properties:
            left = p.term.args[0] if p.term.op == "implies" and not p.implied and p.goal == "always" else None
            if left is not None and not left.is_const:
                claims.append(replace(p, name=TRIGGERED + p.name, term=negation(left)))
        if equations.assumptions:
            return _with_clock(replace(equations, properties=tuple(claims)))
    return replace(equations, properties=tuple(claims))


def _with_clock(equations: Specification) -> Specification:
    """With the claim that no run lasts `LONG_ENOUGH` steps, which fails where the assumptions leave room."""
    clock = variable("\u2063the step", INT)
    last = constant(INT, LONG_ENOUGH - 1)
    after = term("min", term("add", clock, constant(INT, 1)), last)
    cell = Cell("\u2063the step", constant(INT, 0), after, None)
    claim = Property(LASTS, term("lt", clock, last), None)
    begins = Property(BEGINS, FALSE, None)  # false of every run there is
    return replace(equations, cells=(*equations.cells, cell), properties=(*equations.properties, begins, claim))


def models(equations: Specification) -> list[Modelled]:
    """The integer models that can express the claims, the better bet first.

    Wrapping integers decide arithmetic at every width alike (Boyer-Moore with 8, 32, 64 bits in the same time);
    bit-vectors take what they cannot express, and run beside them. Without machine integers there is one model.
    """
    system = to_system(equations)
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
    system = to_system(replace(of_program, properties=properties))
    assumed = tuple(Claim(f"range {i}", part, None) for i, part in enumerate(conjuncts(ranges)))
    system = replace(system, assumptions=assumed)
    predicates = terms_in_integers(program.predicates)
    in_model = replace(program, blocks=guarded(over_int, ranges), predicates=predicates)
    return Modelled("integers", system, reduce(system), in_model)


def claim_term(equations: Specification, name: str) -> Term:
    return next(p.term for p in equations.properties if p.name == name)
