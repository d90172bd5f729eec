"""The work that the solvers of this process have done, in the units of `patience`: z3 counts its own, other solvers
report theirs here. Turns are shared out by it."""

from __future__ import annotations

from functools import cache

import z3  # type: ignore[import-untyped]


class _Others:
    work = 0


def work_done() -> int:
    """The work of all solvers of this process so far."""
    return int(_meter().statistics().get_key_value("rlimit count")) + _Others.work


def add_work(units: int) -> None:
    """Count the work of a solver other than z3."""
    _Others.work += units


@cache
def _meter() -> z3.Solver:
    """A solver that is asked nothing: z3 counts the work of all its solvers together."""
    return z3.Solver()
