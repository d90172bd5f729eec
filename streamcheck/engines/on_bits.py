"""Bounded model checking and k-induction on bitwuzla, for floats and machine integers.

Another family of solvers decides other problems: z3 hardly comes back from some queries about floats that bitwuzla
answers in milliseconds. A proof from here is checked by cvc5 alone, so that no solver judges itself.

cvc5 takes long for each condition on floats, so certificates have no lemmas that were not needed.

Limits: systems with Int or Real are not expressible, so only the view with machine integers as bit-vectors is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from streamcheck.core.term import walk
from streamcheck.engines.bmc import Bmc
from streamcheck.engines.kinduction import FIRST_SHARE, KInduction
from streamcheck.engines.protocol import NO_NUMBERS, Event, Inbox, Task
from streamcheck.problem.verdict import Certificate, SolverFamily, Unknown
from streamcheck.smt.bit_solver import BitSolver, is_expressible
from streamcheck.smt.contract import AnySolver


class BitBmc(Bmc):
    name: ClassVar[str] = "bit-bmc"
    prover: ClassVar[SolverFamily] = "bitwuzla"
    shares: ClassVar[Sequence[float]] = (1 / FIRST_SHARE, 1 / 2, 1, 2, 4, 8)

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        return super().run(problem, inbox) if is_expressible(problem.system.roots()) else _give_up(problem)

    def new_solver(self, patience: int | None) -> AnySolver:
        return BitSolver(patience)


class BitInduction(KInduction):
    name: ClassVar[str] = "bit-induction"
    prover: ClassVar[SolverFamily] = "bitwuzla"
    names_lemmas: ClassVar[bool] = True

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        return super().run(problem, inbox) if is_expressible(problem.system.roots()) else _give_up(problem)

    def new_solver(self, patience: int | None) -> AnySolver:
        return BitSolver(patience)


def is_cheap_to_check(certificate: Certificate) -> bool:
    """True if the invariants may join a certificate of bitwuzla's: they have no floats."""
    return not any(node.type.kind == "float" for node in walk(certificate.invariants))


def _give_up(problem: Task) -> Iterator[Event]:
    yield from (Unknown(claim.name, NO_NUMBERS) for claim in problem.system.properties)
