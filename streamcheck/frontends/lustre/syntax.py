"""The syntax of Lustre: declarations, and expressions as trees. They are deep, so walk them without recursion."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias


class ExpressionText:
    """An expression: `op` is its operation, `value` its part that is not an expression (a name, a number, a called
    node), `at` its token."""

    __slots__ = ("args", "at", "op", "value")
    op: Final[str]
    args: Final[tuple[ExpressionText, ...]]
    value: Final[Any]
    at: Final[int]

    def __init__(self, op: str, args: tuple[ExpressionText, ...], value: Any, at: int) -> None:
        self.op = op
        self.args = args
        self.value = value
        self.at = at


def name_expression(name: str, at: int) -> ExpressionText:
    return ExpressionText("name", (), name, at)


@dataclass(frozen=True, slots=True)
class Activation:
    """A called node with its clock, restart and defaults, any of which may be missing:
    `(activate (restart N every r) every c initial default d)(…)`; `types` are its type arguments, `N@<T>(…)`."""

    node: str
    clock: ExpressionText | None = None
    restart: ExpressionText | None = None
    defaults: tuple[ExpressionText, ...] | None = None
    types: tuple[TypeText, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeText:
    """A type as written. `kind`: bool, int, real, machine (width, signed), subrange (low, high), array (element,
    size), enum (members), record ((name, type) …), refinement (name, type, condition), tuple (types), union
    (constructors, of an algebraic data type), set and map (types), abstract (None), name, applied (name, type
    arguments)."""

    kind: str
    value: Any
    at: int


@dataclass(frozen=True, slots=True)
class Constructor:
    """One of an algebraic data type, with its fields."""

    name: str
    fields: tuple[tuple[str, TypeText], ...]
    at: int


@dataclass(frozen=True, slots=True)
class CasePattern:
    """`name`, a constructor or a variable, or `name(parts)`; `_` matches any value."""

    name: str
    parts: tuple[CasePattern, ...] | None
    at: int


@dataclass(frozen=True, slots=True)
class AnyValue:
    """The type of `any` or `choose`. Of `any { x: T | p }`, x is the name and p the argument of the expression. It is
    functional if the same values of the names in p give the same value, which is what `choose` says."""

    type: TypeText
    name: str = ""
    is_functional: bool = False


@dataclass(frozen=True, slots=True)
class ClockText:
    """`c`, `not c` or `member(c)`: the steps at which c has this value."""

    name: str
    value: bool | str
    at: int = field(compare=False)

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return f"{self.value}({self.name})"
        return self.name if self.value else f"not {self.name}"


Clock: TypeAlias = tuple[ClockText, ...]  # from the base clock of a node, which is (), to slower and slower ones


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    type: TypeText
    at: int
    constant: bool = False
    is_claimed: bool = True  # that its values are of its type: not again for a copy
    clock: ClockText | None = None  # None is the base clock of its node


@dataclass(frozen=True, slots=True)
class ConstantText:
    """`const name: type = value`; without value it is free, without type it has its value's."""

    name: str
    type: TypeText | None
    value: ExpressionText | None
    at: int


@dataclass(frozen=True, slots=True)
class Equation:
    """`a, b = value`, or `a[i][j] = value` with its index names."""

    names: tuple[str, ...]
    indices: tuple[str, ...]
    value: ExpressionText
    at: int


@dataclass(frozen=True, slots=True)
class PropertyText:
    """A property. `last` is the token after the expression. `provided` is the guard of a conditional property;
    `first` and `within` bound the steps of a reachability query."""

    name: str | None
    value: ExpressionText
    at: int
    last: int
    reachable: bool = False
    provided: ExpressionText | None = None
    first: int | None = None
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Clause:
    """One `assume`, `guarantee`, `require` or `ensure`; `last` is the token after it."""

    name: str | None
    value: ExpressionText
    at: int
    last: int


@dataclass(frozen=True, slots=True)
class Mode:
    name: str
    requires: tuple[Clause, ...]
    ensures: tuple[Clause, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Import:
    contract: str
    inputs: tuple[ExpressionText, ...]
    outputs: tuple[str, ...]
    at: int
    types: tuple[TypeText, ...] = ()


@dataclass(slots=True)
class Contract:
    """The items of a contract; `at` is its first token."""

    at: int
    constants: list[ConstantText] = field(default_factory=list)
    ghosts: list[Variable] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    assumes: list[Clause] = field(default_factory=list)
    guarantees: list[Clause] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    decreases: tuple[ExpressionText, ...] = ()  # the measure of a recursive function


@dataclass(slots=True)
class NodeText:
    """A node, a function, or a contract node (`kind`)."""

    name: str
    kind: str
    at: int
    inputs: list[Variable]
    outputs: list[Variable]
    imported: bool = False
    parameters: tuple[str, ...] = ()  # of types
    recursive: bool = False  # written with `rec`, or a lemma
    is_lemma: bool = False
    contract: Contract | None = None
    constants: list[ConstantText] = field(default_factory=list)
    locals: list[Variable] = field(default_factory=list)
    equations: list[Equation] = field(default_factory=list)
    asserts: list[Clause] = field(default_factory=list)
    properties: list[PropertyText] = field(default_factory=list)
    main: bool = False
    chosen: set[str] | None = None  # `--%REALIZABLE`: inputs of the environment; the component chooses the others
    calls: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)  # the names of those that it uses


@dataclass(slots=True)
class LustreFile:
    types: dict[str, TypeText] = field(default_factory=dict)
    parameters: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of those types that have some
    constructors: dict[str, str] = field(default_factory=dict)  # their data types
    constants: dict[str, ConstantText] = field(default_factory=dict)
    nodes: dict[str, NodeText] = field(default_factory=dict)
    contracts: dict[str, NodeText] = field(default_factory=dict)
    conditions: list[ExpressionText] = field(default_factory=list)  # of all types
    is_jkind: bool = False  # something in it is written as JKind has it alone
    is_v6: bool = False  # something in it is written as Lustre V6 has it alone
    clocks: dict[int, Clock] = field(default_factory=dict)  # of expressions, by identity, if not that around them
    held: dict[int, ClockText] = field(default_factory=dict)  # of each `current`: when it has its operand's value
    unguarded: set[int] = field(default_factory=set)  # identities of the `pre` that no `->` guards
