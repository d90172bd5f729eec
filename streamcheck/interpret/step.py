"""The result of one step of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Step(NamedTuple):
    """`triggers` has those that fire, with their arguments; `broken` names the properties and `unmet` the
    assumptions that are false at this step (those over a forall's constant or an `unknown` are left to proofs). `kept`
    are texts of the data, by their columns."""

    step: int
    triggers: dict[str, tuple[Any, ...]]
    observers: dict[str, Any]
    broken: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    kept: Mapping[str, str] = {}
