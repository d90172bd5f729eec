"""The places of the cells in the generated C. The printer writes them and the proof of the C uses them. A wrong place
only makes that proof fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from streamcheck.problem.specification import Specification


@dataclass(frozen=True, slots=True)
class Place:
    """A cell is a variable (or member of the state), an element of one, or an element of a ring: `position` elements
    after the one that the variable `ring` counts, of `length`."""

    variable: str
    ring: str = ""
    position: int = 0
    length: int = 0
    element: int | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """The files that belong together, and how they relate to the equations."""

    specification: Specification
    files: Mapping[str, str]
    places: Mapping[str, Place]
    copilot: bool
    observers: bool
    base: str  # the spec's name in C: of the files, and what the names of its types and functions begin with
    renamed: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def c_name(self, role: Literal["extern", "trigger", "observer"], name: str) -> str:
        """The name in C of what the user calls so."""
        return self.renamed.get((role, name), name)
