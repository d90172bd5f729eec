"""Bounded model checking and k-induction on bitwuzla, for floats and machine integers.

Another family of solvers decides other problems: z3 hardly comes back from some queries about floats that bitwuzla
answers in milliseconds. A proof from here is checked by cvc5 alone, so that no solver judges itself.

Limits: systems with Int or Real are not expressible, so only the view with machine integers as bit-vectors is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from streamcheck.engines.bmc import Bmc
from streamcheck.engines.kinduction import KInduction
from streamcheck.engines.protocol import Event, Inbox, Task
from streamcheck.problem.verdict import SolverFamily, Unknown
from streamcheck.smt.bit_solver import BitSolver, is_expressible

NO_NUMBERS = "bitwuzla has no Int and Real"


class BitBmc(Bmc):
    name: ClassVar[str] = "bit-bmc"
    prover: ClassVar[SolverFamily] = "bitwuzla"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        return super().run(problem, inbox) if is_expressible(problem.system.roots()) else _give_up(problem)

    def new_solver(self, patience: int | None) -> BitSolver:
        return BitSolver(patience)


class BitInduction(KInduction):
    name: ClassVar[str] = "bit-induction"
    prover: ClassVar[SolverFamily] = "bitwuzla"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        return super().run(problem, inbox) if is_expressible(problem.system.roots()) else _give_up(problem)

    def new_solver(self, patience: int | None) -> BitSolver:
        return BitSolver(patience)


def _give_up(problem: Task) -> Iterator[Event]:
    yield from (Unknown(claim.name, NO_NUMBERS) for claim in problem.system.properties)
