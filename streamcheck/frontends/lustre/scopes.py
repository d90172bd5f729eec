"""Scopes: the names of each instance of a node, and their values and definitions while nodes are unfolded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from streamcheck.core.location import Location
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.core.types import Type
from streamcheck.frontends.lustre.syntax import ExpressionText, Mode, NodeText

TermOrTuple: TypeAlias = "Term | tuple[Term, ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """The conditions under which an instance takes steps, as terms over the present step of the main node.

    `first`  it has taken no step yet
    `tick`   it takes one
    `reset`  it starts again before it does
    `hard`   it starts again, whether it takes a step or not: what is around it starts again
    """

    first: Term
    tick: Term = TRUE
    reset: Term = FALSE
    hard: Term = FALSE


@dataclass(frozen=True, slots=True, eq=False)
class TypeCondition:
    """That of a refinement type: `value`, read in `scope`, in which `name` is what has the type."""

    name: str
    value: ExpressionText
    scope: LustreScope


@dataclass(frozen=True, slots=True)
class Shape:
    """A declared type, and the subranges and conditions in it."""

    type: Type
    low: Term | None = None
    high: Term | None = None
    parts: tuple[Shape, ...] = ()  # of an array (its element once) or a record
    conditions: tuple[TypeCondition, ...] = ()  # those of the base type first

    @property
    def is_bounded(self) -> bool:
        return self.low is not None or self.high is not None or self.is_refined or any(p.is_bounded for p in self.parts)

    @property
    def is_refined(self) -> bool:
        """True if there are conditions that are no subranges."""
        return bool(self.conditions) or any(p.is_refined for p in self.parts)

    @property
    def restriction(self) -> str:
        """The words of a claim that a value has the type."""
        return "is of its type" if self.is_refined else "is in its range"


@dataclass(frozen=True, slots=True, eq=False)
class LazyDefinition:
    """`names = value`, read in `scope`; with `part`, the one name is that part of the value."""

    names: tuple[str, ...]
    value: ExpressionText
    scope: LustreScope
    at: int
    part: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LazyElements:
    """`name[i][j] = value`, element by element."""

    name: str
    indices: tuple[str, ...]
    value: ExpressionText
    at: int


class BeingRead:
    """Stands for the value of a name whose definition is being read: finding it means a causality cycle."""


BEING_READ: Any = BeingRead()


@dataclass(slots=True, eq=False)
class LustreScope:
    """The names of an instance: `values` are computed, `definitions` not read yet. Names missing here are
    looked up in the parent."""

    path: str
    context: Context
    parent: LustreScope | None
    node: NodeText | None = None
    values: dict[str, Term] = field(default_factory=dict)
    definitions: dict[str, LazyDefinition | LazyElements] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    types: dict[str, Shape] = field(default_factory=dict)  # the arguments of its type parameters
    modes: dict[str, Mode] = field(default_factory=dict)
    imports: dict[str, LustreScope] = field(default_factory=dict)
    held: dict[int, Term] = field(default_factory=dict)  # the outputs of an activated call, with what they keep
    clock: Term = TRUE

    def owner(self, name: str) -> LustreScope | None:
        scope: LustreScope | None = self
        while scope is not None and name not in scope.values and name not in scope.definitions:
            scope = scope.parent
        return scope

    def type_argument(self, name: str) -> Shape | None:
        scope: LustreScope | None = self
        while scope is not None and name not in scope.types:
            scope = scope.parent
        return None if scope is None else scope.types[name]

    def shape(self, name: str) -> Shape | None:
        scope: LustreScope | None = self
        while scope is not None and name not in scope.shapes:
            scope = scope.parent
        return None if scope is None else scope.shapes[name]


class Run:
    """One evaluation: `work` is still to do, the last first; `results` are the values of what was read."""

    __slots__ = ("results", "work")

    def __init__(self) -> None:
        self.work: list[tuple[Action, ExpressionText, LustreScope]] = []
        self.results: list[TermOrTuple] = []

    def later(self, action: Action, e: ExpressionText, scope: LustreScope) -> None:
        self.work.append((action, e, scope))

    def take(self, n: int) -> list[TermOrTuple]:
        """The last n results, which are removed."""
        taken = self.results[len(self.results) - n :]
        del self.results[len(self.results) - n :]
        return taken


Action: TypeAlias = Callable[[ExpressionText, LustreScope, Run], None]


@dataclass(slots=True, eq=False)
class Delay:
    """A register: what it holds from one step of its context to the next."""

    var: Term
    initial: Term | None  # None if the file gives none
    context: Context
    where: Location
    at: int
    shown: str
    value: Term | None = None  # its value at its context's next step
    next: Term | None = None
