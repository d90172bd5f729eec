"""Runs that meet the assumptions of a spec, made step by step from wishes for the inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from streamcheck.api.results import require_specification
from streamcheck.core.evaluate import value_of
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, constant, substitute, term, variables
from streamcheck.core.types import ArrayType, StructType, Type, Value, default
from streamcheck.interpret.present import presenter

if TYPE_CHECKING:
    from streamcheck.api.commands import Commands

PATIENCE = 2_000_000  # of z3, for a step: about a fifth of a second


class AssumedSteps:
    """A run that grows: of each wish for the inputs as much is kept as the assumptions allow. Those over a forall's
    constant do not count."""

    def __init__(self, spec: Commands) -> None:
        self.specification = require_specification(spec._problem())
        constants = {c.var for c in self.specification.constants}
        assumed = [a.term for a in self.specification.assumptions if constants.isdisjoint(variables([a.term]))]
        self.assumption = conjunction(*assumed)
        self.state: dict[Term, Value] = {c.var: value_of(c.initial, {}) for c in self.specification.cells}
        self.state |= {c.var: default(c.type) for c in self.specification.constants}

    @property
    def inputs(self) -> Iterator[tuple[Term, Type]]:
        """Those that a wish has values for."""
        return ((i.var, i.type) for i in self.specification.inputs)

    def step(self, wish: Mapping[Term, Value]) -> dict[str, Any] | None:
        """The inputs of the next step by name, as `run` takes them. None if no inputs are known that meet the
        assumptions: the run ends."""
        values = dict(wish)
        if not value_of(self.assumption, self.state | values):
            found = self._nearest(wish)
            if found is None:
                return None
            values = found
        now = self.state | values
        self.state |= {cell.var: value_of(cell.next, now) for cell in self.specification.cells}
        return {i.name: _for_users(i.type, values[i.var]) for i in self.specification.inputs if i.extern}

    def _nearest(self, wish: Mapping[Term, Value]) -> dict[Term, Value] | None:
        """Inputs that meet the assumptions now: one after the other keeps its value if it can."""
        from streamcheck.smt.solver import Solver

        known = {var: constant(var.type, value) for var, value in self.state.items()}
        here = substitute([self.assumption], known)[self.assumption]
        if any(isinstance(var.type, ArrayType | StructType) for var in variables([here])):
            return None  # the solver has numbers only
        solver = Solver(PATIENCE)
        solver.add(here)
        free = set(variables([here]))
        for var in (v for v in wish if v in free):
            kept = term("eq", var, constant(var.type, wish[var]))
            if solver.check(kept):
                solver.add(kept)
        if not solver.check():
            return None
        values = dict(wish) | solver.values(free)
        return values if value_of(self.assumption, self.state | values) else None  # a float may be read otherwise


def _for_users(type: Type, value: Value) -> Any:
    show = presenter(type)
    return value if show is None else show(value)
