"""The types of C, called kinds. Their sizes are those of a data model (`models`); the constants here are those of
64-bit Linux."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, assert_never

if TYPE_CHECKING:
    from streamcheck.core.term import Term


@dataclass(frozen=True, slots=True)
class Integer:
    """`rank` orders the integer types as the usual arithmetic conversions do."""

    name: str
    width: int
    signed: bool
    rank: int

    @property
    def low(self) -> int:
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        return (1 << (self.width - self.signed)) - 1

    @property
    def bytes(self) -> int:
        return max(1, self.width // 8)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Floating:
    name: str
    width: int

    @property
    def bytes(self) -> int:
        return self.width // 8

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Void:
    def __str__(self) -> str:
        return "void"


@dataclass(frozen=True, slots=True)
class Array:
    """`count`: how many of its elements there are, if that is known only as the program runs: at most `length`."""

    element: AnyKind
    length: int
    count: Term | None = None

    def __str__(self) -> str:
        return f"{self.element}[{self.length if self.count is None else '…'}]"


@dataclass(frozen=True, slots=True)
class Struct:
    """`packed`: its fields follow each other. `aligned`: its alignment is at least this, None if it is not known.
    `constant`: the fields that are const. `union`: they share their bytes."""

    name: str
    fields: tuple[tuple[str, AnyKind], ...]
    packed: bool = False
    aligned: int | None = 1
    constant: frozenset[str] = frozenset()
    union: bool = False
    _by_name: dict[str, AnyKind] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", dict(self.fields))

    def field(self, name: str) -> AnyKind | None:
        return self._by_name.get(name)

    def kind_of(self, name: str) -> AnyKind:
        """The kind of a field that there is."""
        return self._by_name[name]

    def __str__(self) -> str:
        return f"{'union' if self.union else 'struct'} {self.name}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """`constant`: what it points to is const."""

    target: AnyKind
    constant: bool = False

    def __str__(self) -> str:
        return f"{self.target} *"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that may be declared but not used, and why. A pointer to a function has its result and parameters.
    `bytes`: its size, if that is known."""

    name: str
    reason: str
    signature: tuple[AnyKind, tuple[tuple[str, AnyKind], ...]] | None = None
    bytes: int | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The type of a function. `parameters`: None if the declaration leaves them open."""

    result: AnyKind
    parameters: tuple[AnyKind, ...] | None

    def __str__(self) -> str:
        given = "…" if self.parameters is None else ", ".join(map(str, self.parameters)) or "void"
        return f"{self.result} ({given})"


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A struct or union that is declared, and defined further on or nowhere. `number`: one for each such type."""

    name: str
    number: int

    def __str__(self) -> str:
        return self.name


AnyKind: TypeAlias = Integer | Floating | Void | Array | Struct | Pointer | Opaque | FunctionType | Incomplete

BOOLEAN = Integer("_Bool", 1, False, 0)
CHAR, UCHAR = Integer("char", 8, True, 1), Integer("unsigned char", 8, False, 1)
SHORT, USHORT = Integer("short", 16, True, 2), Integer("unsigned short", 16, False, 2)
INT, UINT = Integer("int", 32, True, 3), Integer("unsigned int", 32, False, 3)
LONG, ULONG = Integer("long", 64, True, 4), Integer("unsigned long", 64, False, 4)
LLONG, ULLONG = Integer("long long", 64, True, 5), Integer("unsigned long long", 64, False, 5)
FLOAT, DOUBLE = Floating("float", 32), Floating("double", 64)
VOID = Void()

# Macros of math.h and float.h that stand for floating constants.
FLOATING_CONSTANTS: dict[str, tuple[float, Floating]] = {
    "HUGE_VAL": (float("inf"), DOUBLE),
    "HUGE_VALF": (float("inf"), FLOAT),
    "FLT_MAX": (float.fromhex("0x1.fffffep127"), FLOAT),
    "FLT_MIN": (2.0**-126, FLOAT),
    "FLT_TRUE_MIN": (2.0**-149, FLOAT),
    "FLT_EPSILON": (2.0**-23, FLOAT),
    "DBL_MAX": (float.fromhex("0x1.fffffffffffffp1023"), DOUBLE),
    "DBL_MIN": (2.0**-1022, DOUBLE),
    "DBL_TRUE_MIN": (2.0**-1074, DOUBLE),
    "DBL_EPSILON": (2.0**-52, DOUBLE),
    "M_PI": (3.14159265358979323846, DOUBLE),
    "M_PI_2": (1.57079632679489661923, DOUBLE),
    "M_PI_4": (0.78539816339744830962, DOUBLE),
    "M_E": (2.7182818284590452354, DOUBLE),
    "M_SQRT2": (1.41421356237309504880, DOUBLE),
}


# Kinds with the same values on any platform whose int has 32 bits.
WIDTHS = (8, 16, 32, 64)
PORTABLE = frozenset("void _Bool int float double".split())
PORTABLE_CONSTANTS = frozenset([f"{u}INT{w}_{end}" for u in ("", "U") for w in WIDTHS for end in ("MIN", "MAX")])
PORTABLE_CONSTANTS |= {"true", "false", "UINT_MAX", "INT_MIN", "INT_MAX"}
PORTABLE_TYPEDEFS = frozenset([f"{u}int{w}_t" for u in ("", "u") for w in WIDTHS] + ["bool", "size_t"])


def are_different(a: AnyKind, b: AnyKind) -> bool:
    """One object cannot have both kinds. An array without a length is a pointer here, and a pointer to a struct that
    is not defined yet is one to void."""
    if isinstance(a, Array) and isinstance(b, Array):
        return a.length != b.length or are_different(a.element, b.element)
    if isinstance(a, Array | Pointer) and isinstance(b, Array | Pointer):
        inner = [kind.element if isinstance(kind, Array) else kind.target for kind in (a, b)]
        return VOID not in inner and are_different(*inner)
    if isinstance(a, Incomplete) or isinstance(b, Incomplete):
        return False
    return not (isinstance(a, Opaque) or isinstance(b, Opaque)) and a != b


def dimensions(kind: AnyKind) -> int:
    """The number of arrays within each other."""
    number = 0
    while isinstance(kind, Array):
        number, kind = number + 1, kind.element
    return number


def element_of(kind: AnyKind) -> AnyKind:
    """The kind of the elements of an array, of arrays too. Else the kind."""
    while isinstance(kind, Array):
        kind = kind.element
    return kind


def has_run_time_length(kind: AnyKind) -> bool:
    while isinstance(kind, Array) and kind.count is None:
        kind = kind.element
    return isinstance(kind, Array)


def parts_without_values(kind: AnyKind) -> Iterator[Opaque]:
    """The parts of a kind, in structs and arrays, that may be declared only."""
    kind = element_of(kind)
    if isinstance(kind, Opaque):
        yield kind
    elif isinstance(kind, Struct):
        for _, inner in kind.fields:
            yield from parts_without_values(inner)


def has_unions(kind: AnyKind) -> bool:
    kind = element_of(kind)
    return isinstance(kind, Struct) and (kind.union or any(has_unions(inner) for _, inner in kind.fields))


def number_of_scalars(kind: AnyKind) -> int:
    match kind:
        case Array():
            return kind.length * number_of_scalars(kind.element)
        case Struct():
            return sum(number_of_scalars(inner) for _, inner in kind.fields)
        case Integer() | Floating() | Pointer() | Void() | Opaque() | FunctionType() | Incomplete():
            return 1
    assert_never(kind)
