"""IC3 with predecessors generalised by Cooper's elimination.

Decides: invariants that are conjunctions of clauses over linear inequalities, Bools and whatever atoms the system
has; and, from the other end, short runs that break a property.

Papers: [Laurent, "The IC3 algorithm" to "Lemma tightening"]; [Tegzes, sections 3.1.1.4, 3.1.2 and 4.3]. The
search is `pdr`'s, properties and assumptions are `system`'s.

Ingredients:
    predecessors generalised without the solver  `smt.implicant.cube`           [Tegzes, "Generalize predecessors"]
    the same by exact elimination                `smt.rows`                     [Cooper72]
    equalities as two inequalities               `cubes.split`                  [Laurent, "A naive patch"]
    the bounding box, and bounds moved           `generalize`, "box", "widen"   [Laurent, "A more general … idea"]

Departure: a cube keeps what made the properties true in the state it came from as `context`, for the bounding box.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, constant, term, variables
from streamcheck.core.types import BOOL, Value
from streamcheck.engines.ic3.cubes import ARITHMETIC, Cube, split, strongest
from streamcheck.engines.ic3.frames import Frames
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.options import Ic3Options
from streamcheck.engines.ic3.pdr import Predecessors
from streamcheck.engines.ic3.space import Transition
from streamcheck.engines.ic3.system import STATES, SystemEngine, require_true
from streamcheck.problem.claim import Claim
from streamcheck.smt.cooper import TooLarge
from streamcheck.smt.implicant import cube as implicant
from streamcheck.smt.rows import NotLinear, eliminate_quantifiers
from streamcheck.smt.ternary import needed_variables


class Ic3(SystemEngine[Ic3Options]):
    name: ClassVar[str] = "ic3"

    def __init__(self, options: Ic3Options | None = None) -> None:
        super().__init__(options or Ic3Options())

    def search_options(self) -> Ic3Options:
        return self.options

    def predecessors(self) -> Predecessors:
        if self.options.predecessors in ("values", "ternary"):
            return SingleStates(tuple(s.var for s in self.system.state), self.options.predecessors == "ternary")
        return CooperPredecessors(dict.fromkeys(self.system.inputs), self.open, self.options)


@dataclass(frozen=True, slots=True)
class CooperPredecessors:
    """∃ inputs. A ∧ c', as far as the model shows [Laurent, "With approximate QE"]."""

    inputs: Mapping[Term, None]
    open: Mapping[str, Claim]  # the properties that are not decided
    options: Ic3Options

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        return None

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        roots, evaluation = along.roots(one.cube), Evaluation(model)
        require_true(roots, evaluation)
        cube: Cube = tuple(self._literals(roots, evaluation))
        if self.options.split:
            cube = strongest(split(cube))
        boxes = self.options.box and along.target == STATES
        return one.predecessor(along, cube, context=self._context(evaluation) if boxes else ())

    def _literals(self, roots: list[Term], evaluation: Evaluation) -> list[Term]:
        if self.options.predecessors == "exact":
            whole = conjunction(*roots)
            chosen = [v for v in variables([whole]) if v in self.inputs]
            try:
                whole = eliminate_quantifiers(chosen, whole)
            except (NotLinear, TooLarge):
                return implicant(roots, evaluation, self.inputs)
            return implicant([whole], evaluation, {})
        return implicant(roots, evaluation, self.inputs)

    def _context(self, evaluation: Evaluation) -> Cube:
        claims = [c.term for c in self.open.values() if evaluation.of(c.term) is True]
        return tuple(implicant(claims, evaluation, self.inputs))


@dataclass(frozen=True, slots=True)
class SingleStates:
    """The state of the model and no other [Tegzes, Alg. 2, without "Generalize predecessors"]; or the values that
    matter when the others become unknown one by one [Werner, section 3.4; Tegzes, section 4.3]."""

    state: tuple[Term, ...]
    ternary: bool

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        return None

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        roots = along.roots(one.cube)
        require_true(roots, Evaluation(model))
        needed = needed_variables(roots, model, self.state) if self.ternary else self.state
        return one.predecessor(along, tuple(_literal(v, model[v]) for v in needed))


def _literal(var: Term, value: Value) -> Term:
    if var.type is BOOL:
        return var if value else negation(var)
    return term("eq" if var.type.kind in ARITHMETIC else "same", var, constant(var.type, value))
