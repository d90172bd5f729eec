"""Facts of other engines that an engine uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from streamcheck.engines.protocol import Fact, Invariants, Settled, TrueUpTo
from streamcheck.problem.verdict import Falsified, Proved


def decided_properties(facts: Iterable[Fact]) -> Iterator[str]:
    """The properties that the facts decide. The engine that asks has no use for the rest of the facts."""
    for fact in facts:
        match fact:
            case Proved(prop) | Falsified(prop) | Settled(prop):
                yield prop
            case TrueUpTo() | Invariants():
                pass
            case _:
                assert_never(fact)
