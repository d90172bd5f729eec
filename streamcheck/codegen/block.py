"""Statements while they are put together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from streamcheck.codegen.expression import CExpression
from streamcheck.core.location import Location


@dataclass(slots=True)
class Block:
    """Statements of one pair of braces."""

    lines: list[str] = field(default_factory=list)
    noted: Location | None = None  # the line of the spec that the last comment shows


@dataclass(frozen=True, slots=True)
class Commit:
    """Statements that replace one piece of state, the pieces they read, and the value that they put there."""

    state: str
    lines: tuple[str, ...]
    reads: frozenset[str]
    value: CExpression | None = None


def words_in(lines: Iterable[str]) -> set[str]:
    """The identifiers of statements, comments left out."""
    return set(re.findall(r"\w+", "\n".join(line for line in lines if not line.lstrip().startswith("/*"))))
