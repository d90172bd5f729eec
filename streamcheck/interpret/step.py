"""What a run yields at each step."""

from __future__ import annotations

from typing import Any, NamedTuple


class Step(NamedTuple):
    """`triggers` holds the ones that fire, with their arguments; `broken` names properties and assumptions that
    are false here (those that speak of a forall's constant or an `unknown` are left to proofs)."""

    step: int
    triggers: dict[str, tuple[Any, ...]]
    observers: dict[str, Any]
    broken: tuple[str, ...] = ()
