"""The two sides of a comparison: specs of any file, or a step function in C on one side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias, TypeGuard

from streamcheck.core.errors import SpecError
from streamcheck.problem.specification import Specification
from streamcheck.run.limits import time_limit
from streamcheck.run.source import Target, check_file, one, read
from streamcheck.transform.product import require_specification

Side: TypeAlias = Target | Specification


def read_sides(
    first: Side, second: Side, renames: Sequence[tuple[str, str]], seconds: float | None
) -> tuple[Specification, Specification]:
    """Both specifications. Of a function in C, state with the name of an output of the other side is an output."""
    if _is_c(first) and _is_c(second):
        raise SpecError("both sides are C; one has to be a spec")
    if _is_c(first):
        b = _specification(second, seconds)
        theirs = {its: mine for mine, its in renames}
        return _function(first, [theirs.get(name, name) for name in _outputs(b)], seconds), b
    a = _specification(first, seconds)
    if _is_c(second):
        names = dict(renames)
        return a, _function(second, [names.get(name, name) for name in _outputs(a)], seconds)
    return a, _specification(second, seconds)


def _is_c(side: Side) -> TypeGuard[Target]:
    return isinstance(side, Target) and side.path.endswith((".c", ".i"))


def _outputs(specification: Specification) -> list[str]:
    return [o.name for o in specification.observers]


def _specification(side: Side, seconds: float | None) -> Specification:
    return side if isinstance(side, Specification) else require_specification(one(read(side, seconds), side))


def _function(target: Target, wanted: Collection[str], seconds: float | None) -> Specification:
    from streamcheck.validate.step_function import read_step_function

    check_file(target.path)
    with time_limit(seconds, f"reading {target.path}"):
        return read_step_function(target.path, target.spec, wanted)
