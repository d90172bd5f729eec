"""Cubes over bits of machine integers and bounds of floats, and predecessors of them.

A state of words is a cube of literals that the solver can drop one by one: the bits of a machine integer, the two
bounds of a float (its value, if it is NaN), the value of an enum.

Predecessors are lifted by unsatisfiable cores [CIMMN11, "lifting"]: with s the model's state, i its inputs,

    s ∧ i ∧ ¬(A ∧ c')

is contradictory, for T is a function; the literals of s in the core are states that all have this step. Variables that
the evaluation of A ∧ c' under the model does not read are left out before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import BOOL, EnumType, FloatType, MachineType, Value
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import MOST_INDICATORS, Frames
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.space import Transition
from streamcheck.engines.ic3.system import require_true
from streamcheck.smt.contract import NewSolver


def value_literals(var: Term, value: Value) -> list[Term]:
    """Literals that only this value meets (of floats, the two zeros meet the same; of enums, all non-members)."""
    match var.type:
        case MachineType():
            assert isinstance(value, int)
            return [_bit(var, i, value >> i & 1) for i in range(var.type.width)]
        case EnumType(codes=codes) if value not in codes:  # in a state that no run reaches: all such states are one
            return [negation(equality(var, code)) for code in codes]
        case FloatType() if not math.isnan(value):  # type: ignore[arg-type]
            bound = constant(var.type, value)
            return [term("le", var, bound), term("ge", var, bound)]
    if var.type is BOOL:
        return [var if value else negation(var)]
    return [equality(var, value)]


def _bit(var: Term, i: int, is_one: int) -> Term:
    type = var.type
    assert isinstance(type, MachineType)
    is_zero = term("eq", term("bitand", var, constant(type, type.wrap(1 << i))), constant(type, 0))
    return negation(is_zero) if is_one else is_zero


def equality(var: Term, value: Value) -> Term:
    return term("same", var, constant(var.type, value))


class LiftedPredecessors:
    """The states of the model's step, as far as the core shows."""

    def __init__(self, state: Sequence[Term], new_solver: NewSolver, patience: int | None) -> None:
        self.state = dict.fromkeys(state)
        self.new_solver, self.patience = new_solver, patience
        self.solver = new_solver(patience)

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        return None

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        roots, evaluation = along.roots(one.cube), Evaluation(model)
        require_true(roots, evaluation)
        read = {node: value for node, value in evaluation.results.items() if node.op == "var"}
        literals = [literal for v in self.state if v in read for literal in value_literals(v, read[v])]
        chosen = [equality(v, value) for v, value in read.items() if v not in self.state]
        return one.predecessor(along, self._lift(literals, chosen, roots))

    def _lift(self, literals: Sequence[Term], chosen: Sequence[Term], roots: Sequence[Term]) -> Cube:
        """The literals that suffice for the roots, with these inputs."""
        if self.solver.size > MOST_INDICATORS:
            self.solver = self.new_solver(self.patience)
        # s ∧ i ∧ ¬(A ∧ c')
        wrong = negation(conjunction(*roots))
        if self.solver.check(*literals, *chosen, wrong) is not False:
            return tuple(literals)
        return tuple(self.solver.core(literals))
