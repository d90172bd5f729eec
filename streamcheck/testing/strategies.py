"""Hypothesis strategies: runs of a spec that meet its assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies

from streamcheck.core.types import ArrayType, EnumType, FloatType, MachineType, StructType, Type

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from streamcheck.api.commands import Commands


def assumed_runs(spec: Commands, max_steps: int) -> SearchStrategy[list[dict[str, Any]]]:
    """Runs of at most so many steps."""

    @strategies.composite
    def runs(draw: DrawFn) -> list[dict[str, Any]]:
        from streamcheck.api.assumed_steps import AssumedSteps

        run, rows = AssumedSteps(spec), []
        for _ in range(draw(strategies.integers(0, max_steps))):
            row = run.step({var: draw(values_of(type)) for var, type in run.inputs})
            if row is None:
                break
            rows.append(row)
        return rows

    return runs()


def values_of(type: Type) -> SearchStrategy[Any]:
    """Values of a type, as the package computes with them."""
    match type:
        case MachineType():
            return strategies.integers(type.low, type.high)
        case FloatType():
            return strategies.floats(width=32 if type.width == 32 else 64)
        case EnumType():
            return strategies.sampled_from(type.codes)
        case ArrayType():
            return strategies.tuples(*[values_of(type.element)] * type.length)
        case StructType():
            return strategies.tuples(*(values_of(part) for _, part in type.fields))
        case _ if type.kind == "bool":
            return strategies.booleans()
        case _ if type.kind == "integer":
            return strategies.integers()
        case _:
            return strategies.fractions()
