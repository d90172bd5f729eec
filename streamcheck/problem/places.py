"""The places of the cells in the generated C. The printer writes them and the proof of the C uses them. A wrong place
only makes that proof fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamcheck.problem.specification import Specification


@dataclass(frozen=True, slots=True)
class Place:
    """A cell is a variable (or member of the state), or an element of a ring: `position` elements after the one
    that the variable `ring` counts, of `length`."""

    variable: str
    ring: str = ""
    position: int = 0
    length: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """The files that belong together, and how they relate to the equations."""

    specification: Specification
    files: Mapping[str, str]
    places: Mapping[str, Place]
    copilot: bool
    observers: bool
