"""The places of the cells in the generated C. The printer writes them and the proof of the C uses them. A wrong place
only makes that proof fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from streamcheck.core.term import Term
from streamcheck.problem.specification import Specification


@dataclass(frozen=True, slots=True)
class Window:
    """An array of `length` that keeps the extremes of a delay's values, oldest first, instead of these. With the index
    k, element j >= k is the extreme of positions j - k … length - 1 - k, element j < k is position length - k + j, and
    `recent` is the extreme of the last k positions. The function `best` returns the extreme of all, `push` replaces the
    oldest value by a new one."""

    index: str
    recent: str
    operator: Literal["max", "min"]
    best: str
    push: str


@dataclass(frozen=True, slots=True)
class Place:
    """A cell is a variable (or member of the state, or of an instance's: `sensor.value`), an element of one, or an
    element of a ring: `position` elements after the one that the variable `ring` counts, of `length`; or a `position`
    in a window of `length`; or a `bit` of an unsigned variable or element, 0 the lowest."""

    variable: str
    ring: str = ""
    position: int = 0
    length: int = 0
    element: int | None = None
    window: Window | None = None
    bit: int | None = None


# How the C calls the user's handlers: as functions of the program, as such with the `user` that the state keeps, or
# through a table of pointers to them, with the `user` too.
Handlers: TypeAlias = Literal["functions", "context", "table"]


@dataclass(frozen=True, slots=True)
class Code:
    """The files that belong together, and how they relate to the equations."""

    specification: Specification
    files: Mapping[str, str]
    places: Mapping[str, tuple[Place, ...]]  # of a cell; each instance of a component has its own
    copilot: bool
    observers: bool
    base: str  # the spec's name in C: of the files, and what the names of its types and functions begin with
    renamed: Mapping[tuple[str, str], str] = field(default_factory=dict)
    handlers: Handlers = "functions"
    prefix: str = ""  # of every name that other files see
    rings: tuple[Place, ...] = ()  # that hold no cell: of an instance, for outputs that only others use
    held: str = ""  # the cell that NAME_assumptions_hold returns, if there is that function

    @property
    def step(self) -> str:
        """The name of the function that makes one step."""
        return f"{self.prefix}step" if self.copilot else f"{self.base}_step"

    def roots(self) -> list[Term]:
        """The terms that the C computes: those that it shows, and whether the assumptions have held."""
        shown = list(self.specification.outputs(observers=self.observers))
        return shown + [c.var for c in self.specification.cells if c.name == self.held]

    def c_name(self, role: Literal["extern", "trigger", "observer"], name: str) -> str:
        """The name in C of what the user calls so."""
        return self.renamed.get((role, name), name)
