"""The views of a problem that engines work on: chains of transformations, each with its way back.

    Specification ─▶ ScalarSystem ─▶ (Restriction) ─▶ (SystemIntegers) ─▶ Reduction
    Automaton ─▶ ScalarAutomaton ─▶ Slicing ─▶ (LargeBlocks) ─▶ (AutomatonIntegers) ─▶ AutomatonSystem ─▶ Reduction
    Automaton ─▶ ScalarAutomaton ─▶ Slicing ─▶ Modes ─▶ (AutomatonIntegers) ─▶ AutomatonSystem ─▶ Reduction
    Automaton ─▶ Slicing ─▶ (LargeBlocks) ─▶ ArrayCells ─▶ (AutomatonIntegers) ─▶ AutomatonSystem ─▶ Reduction

Engines work on the last system, and engines for programs on the last automaton. Evidence goes all the way back before
it is judged: the checker has the problem and nothing else.

A view may have only a part of the properties: those that depend on an operation without a form over Int are in the view
with bit-vectors alone.

Structural abstraction chooses what it drops while it runs, so it is a transformation inside its engine, which names
the dropped definitions in its certificate (`free`). Clusters need no way back: a certificate for a part of a system is
one for the whole. Predicate abstraction is not of the problem but of the states an engine has found; its engines give
invariants over the problem's own variables.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol, TypeAlias, assert_never

from streamcheck.core.evaluate import is_unknown_function
from streamcheck.core.garbage import without_collection
from streamcheck.core.term import Term, walk
from streamcheck.core.types import ArrayType, Type, plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Specification
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import (
    BlockCertificate,
    Certificate,
    Evidence,
    LocationInvariants,
    ProofEvidence,
    Unmappable,
)
from streamcheck.transform.integers import Inexpressible, SystemIntegers, expressible_claims, has_machine_integers
from streamcheck.transform.reduce import Reduction, Restriction
from streamcheck.transform.scalar_system import ScalarSystem
from streamcheck.transform.scalars import width

LOG = logging.getLogger(__name__)
# Machine integers as bit-vectors, or over Int with every wrap-around; or that, and a program in another shape: arrays
# by a few of their cells, or a location for each combination of modes.
IntegerModel: TypeAlias = Literal["bits", "integers", "cells", "modes"]
MOST_SCALARS = 2048  # elements of a program's arrays that become variables (heuristic)
MOST_CHOICES = 100_000  # elements to choose from, in all places that read or write one (heuristic)


class Transformation(Protocol):
    """A new problem, and the way back for evidence about it."""

    @property
    def problem(self) -> TransitionSystem | Automaton: ...

    def back(self, evidence: Evidence) -> Evidence: ...


@dataclass(frozen=True)
class View:
    """A problem in one integer model. `automaton` and `predicates` are in the same model as the system."""

    model: IntegerModel
    steps: tuple[Transformation, ...]
    system: TransitionSystem
    automaton: Automaton | None = None
    predicates: tuple[Term, ...] = ()

    @property
    def is_another_shape(self) -> bool:
        """True if it is another program for the same claims, not only other integers."""
        return self.model in ("cells", "modes")

    @property
    def approximates(self) -> bool:
        """True if it has more runs than the problem: a violation may be none."""
        return self.model == "cells"

    @property
    def guesses(self) -> bool:
        """True if the system uses functions that are uninterpreted to the solver."""
        return any(is_unknown_function(node) for node in walk(self.system.roots()))

    @cached_property
    def variable_types(self) -> Mapping[str, Type]:
        """The types of the variables, by name: the automaton may have some that the system does without."""
        if self.automaton is None:
            return self.system.variable_types
        chosen = (c for e in self.automaton.edges for c in e.choices)
        own = {str(v.payload): v.type for v in (*self.automaton.variables, *chosen)}
        return {**own, **self.system.variable_types}

    def back(self, evidence: Evidence) -> Evidence:
        """The same evidence about the problem itself."""
        for step in reversed(self.steps):
            evidence = step.back(evidence)
        return evidence

    def proof_of(self, certificate: Certificate) -> ProofEvidence | str:
        """The same proof about the problem itself, or the reason why it is none."""
        try:
            evidence = self.back(certificate)
        except Unmappable as why:
            return str(why)
        assert isinstance(evidence, Certificate | LocationInvariants | BlockCertificate)
        return evidence


@without_collection()
def views(problem: Problem, *, blocks: bool = True) -> list[View]:
    """A view for each integer model that can express the problem, the better bet first. `blocks`: loop-free code of an
    automaton becomes single steps.

    Wrapping integers decide arithmetic at every width alike (Boyer-Moore with 8, 32, 64 bits in the same time);
    bit-vectors take what they cannot express, and run beside them. Without machine integers there is one view.
    """
    match problem:
        case Specification():
            all_views = _views_of_specification(problem)
        case Automaton():
            all_views = _views_of_automaton(problem, blocks=blocks)
        case _:
            assert_never(problem)
    if LOG.isEnabledFor(logging.INFO):
        for view in all_views:
            for step in view.steps:
                LOG.info("%s, after %s: %s", view.model, type(step).__name__, _size(step.problem))
    return all_views


def _size(problem: TransitionSystem | Automaton) -> str:
    match problem:
        case TransitionSystem():
            sizes = {
                "state variable": problem.state,
                "input": problem.inputs,
                "definition": problem.definitions,
                "assumption": problem.assumptions,
                "property": problem.properties,
            }
        case Automaton():
            sizes = {"location": problem.locations, "edge": problem.edges, "variable": problem.variables}
        case _:
            assert_never(problem)
    return ", ".join(plural(len(parts), name) for name, parts in sizes.items())


def _views_of_specification(specification: Specification) -> list[View]:
    scalar = ScalarSystem(specification)
    reduced = Reduction(scalar.problem)
    bits = View("bits", (scalar, reduced), reduced.problem)
    if not has_machine_integers(scalar.problem):
        return [bits]
    begun, over_int = _over_int(scalar.problem)
    if over_int is None:
        return [bits]
    reduced = Reduction(over_int.problem)
    return [View("integers", (scalar, *begun, over_int, reduced), reduced.problem), bits]


def _over_int(system: TransitionSystem) -> tuple[tuple[Transformation, ...], SystemIntegers | None]:
    """The system over Int, or the part of it that has such a form, and how to get to that part."""
    try:
        return (), SystemIntegers(system)
    except Inexpressible:
        part = Restriction(system, expressible_claims(system))
    if not has_machine_integers(part.problem):
        return (), None
    try:
        return (part,), SystemIntegers(part.problem)
    except Inexpressible:  # the range of a variable
        return (), None


def _views_of_automaton(automaton: Automaton, *, blocks: bool) -> list[View]:
    # Imported here: a specification does without these.
    from streamcheck.transform.automaton_scalars import ScalarAutomaton

    size = sum(width(v.type) for v in automaton.variables)
    cells = _over_cells(automaton, blocks=blocks)
    if cells is not None and (size > MOST_SCALARS or _choices(automaton) > MOST_CHOICES):
        return [cells]
    scalar = ScalarAutomaton(automaton)
    begun, whole = _smaller(scalar.problem, blocks=blocks)
    exact = _models_of_automaton((scalar, *begun), whole, automaton.predicates)
    modes = _in_modes((scalar, begun[0]), automaton.predicates) if blocks else None
    return [*exact, *(view for view in (cells, modes) if view is not None)]


def _choices(automaton: Automaton) -> int:
    """The number of elements that are read or written at some place: over scalars, each is a case of its own there."""
    terms = walk(t for edge in automaton.edges for t in edge.roots())
    arrays = (node.args[0].type for node in terms if node.op in ("index", "update"))
    return sum(type.length for type in arrays if isinstance(type, ArrayType))


def _smaller(automaton: Automaton, *, blocks: bool) -> tuple[tuple[Transformation, ...], Automaton]:
    """The automaton in slices and blocks."""
    from streamcheck.transform.blocks import LargeBlocks
    from streamcheck.transform.slicing import Slicing

    slicing = Slicing(automaton)
    if not blocks:
        return (slicing,), slicing.problem
    large = LargeBlocks(slicing.problem)
    return (slicing, large), large.problem


def _over_cells(automaton: Automaton, *, blocks: bool) -> View | None:
    """The view over a few cells of arrays, if there are any."""
    if not any(isinstance(v.type, ArrayType) for v in automaton.variables):
        return None
    from streamcheck.transform.cells import ArrayCells, NoCells

    begun, whole = _smaller(automaton, blocks=blocks)
    try:
        cells = ArrayCells(whole)
    except NoCells as why:
        LOG.info("arrays are taken apart, because the program has %s", why)
        return None
    best, *_ = _models_of_automaton((*begun, cells), cells.problem, ())
    return replace(best, model="cells")


def _in_modes(begun: tuple[Transformation, ...], given: tuple[Term, ...]) -> View | None:
    """The view with a location for each combination of modes, if that is worth the while. `begun` ends with slices."""
    from streamcheck.transform.modes import Modes, NoModes

    statements = begun[-1].problem
    assert isinstance(statements, Automaton)
    try:
        modes = Modes(statements)
    except NoModes:
        return None
    best, *_ = _models_of_automaton((*begun, modes), modes.problem, given)
    return replace(best, model="modes")


def _models_of_automaton(begun: tuple[Transformation, ...], whole: Automaton, given: tuple[Term, ...]) -> list[View]:
    """The views of an automaton over scalars, the better bet first. `given` are the user's predicates."""
    from streamcheck.transform.automaton_integers import AutomatonIntegers, terms_in_integers, with_ranges_in_guards
    from streamcheck.transform.automaton_system import AutomatonSystem

    system = AutomatonSystem(whole)
    reduced = Reduction(system.problem)
    bits = View("bits", (*begun, system, reduced), reduced.problem, whole, given)
    if not has_machine_integers(system.problem):
        return [bits]
    try:
        over_int = AutomatonIntegers(whole)
        predicates = terms_in_integers(given)
    except Inexpressible:
        return [bits]
    system = AutomatonSystem(over_int.problem, over_int.ranges)
    reduced = Reduction(system.problem)
    guarded = with_ranges_in_guards(over_int.problem, over_int.ranges)
    steps = (*begun, over_int, system, reduced)
    return [View("integers", steps, reduced.problem, guarded, predicates), bits]
