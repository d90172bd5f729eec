"""The contract of the engines' solvers: z3 (`smt.solver`) and bitwuzla (`smt.bit_solver`) keep it.

`check` answers True (satisfiable), False (not), or None (the solver gave up: only then is `reason` set). `patience`
limits each query by the work it does, roughly ten million units a second. Assumed terms may be any Bool terms; `core`
has those that the last answer False needed. A model is read before anything else is asserted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias

from streamcheck.core.term import Term
from streamcheck.core.types import Value


class AnySolver(Protocol):
    """A solver over our own terms."""

    patience: int | None
    reason: str

    @property
    def size(self) -> int:
        """The number of terms that have been assumed."""
        ...

    def more_patience(self) -> None:
        """Twice the patience from now on."""

    def add(self, *terms: Term) -> None: ...

    def add_under(self, label: Term, t: Term) -> None:
        """`label → t`: the term counts in checks that assume the label."""

    def check(self, *assumed: Term, share: float = 1.0) -> bool | None: ...

    def core(self, candidates: Iterable[Term]) -> list[Term]: ...

    def model(self) -> dict[Term, Value]:
        """The last model, each value read when it is first asked for."""
        ...

    def values(self, variables: Iterable[Term]) -> dict[Term, Value]:
        """The last model's values; a default for variables that it leaves open."""
        ...


NewSolver: TypeAlias = Callable[[int | None], AnySolver]  # from the patience
