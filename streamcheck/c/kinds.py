"""The types of C, called kinds: sizes and conversions as gcc and clang have them on 64-bit Linux (LP64)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from streamcheck.core.operators import TypeRule


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
    element: AnyKind
    length: int

    def __str__(self) -> str:
        return f"{self.element}[{self.length}]"


@dataclass(frozen=True, slots=True)
class Struct:
    """`packed`: its fields follow each other. `aligned`: its alignment is at least this, None if it is not known.
    `constant`: the fields that are const."""

    name: str
    fields: tuple[tuple[str, AnyKind], ...]
    packed: bool = False
    aligned: int | None = 1
    constant: frozenset[str] = frozenset()
    _by_name: dict[str, AnyKind] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_name", dict(self.fields))

    def field(self, name: str) -> AnyKind | None:
        return self._by_name.get(name)

    def kind_of(self, name: str) -> AnyKind:
        """The kind of a field that there is."""
        return self._by_name[name]

    def __str__(self) -> str:
        return f"struct {self.name}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """`constant`: what it points to is const."""

    target: AnyKind
    constant: bool = False

    def __str__(self) -> str:
        return f"{self.target} *"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A type that may be declared but not used, and why. A pointer to a function has its result and parameters."""

    name: str
    reason: str
    signature: tuple[AnyKind, tuple[tuple[str, AnyKind], ...]] | None = None

    def __str__(self) -> str:
        return self.name


AnyKind: TypeAlias = Integer | Floating | Void | Array | Struct | Pointer | Opaque

BOOLEAN = Integer("_Bool", 1, False, 0)
CHAR, UCHAR = Integer("char", 8, True, 1), Integer("unsigned char", 8, False, 1)
SHORT, USHORT = Integer("short", 16, True, 2), Integer("unsigned short", 16, False, 2)
INT, UINT = Integer("int", 32, True, 3), Integer("unsigned int", 32, False, 3)
LONG, ULONG = Integer("long", 64, True, 4), Integer("unsigned long", 64, False, 4)
LLONG, ULLONG = Integer("long long", 64, True, 5), Integer("unsigned long long", 64, False, 5)
FLOAT, DOUBLE = Floating("float", 32), Floating("double", 64)
VOID = Void()

SIGNED = {8: CHAR, 16: SHORT, 32: INT, 64: LONG}
UNSIGNED = {CHAR: UCHAR, SHORT: USHORT, INT: UINT, LONG: ULONG, LLONG: ULLONG}

SIGNED_ENUMS, UNSIGNED_ENUMS = (INT, LONG), (UINT, ULONG)  # as gcc and clang choose, by the values

# Types that the headers of the standard library define.
TYPEDEFS: dict[str, AnyKind] = {
    **{f"int{w}_t": SIGNED[w] for w in SIGNED},
    **{f"uint{w}_t": UNSIGNED[SIGNED[w]] for w in SIGNED},
    **{f"int_least{w}_t": SIGNED[w] for w in SIGNED},
    **{f"uint_least{w}_t": UNSIGNED[SIGNED[w]] for w in SIGNED},
    **{f"int_fast{w}_t": CHAR if w == 8 else LONG for w in SIGNED},
    **{f"uint_fast{w}_t": UCHAR if w == 8 else ULONG for w in SIGNED},
    "bool": BOOLEAN,
    "size_t": ULONG,
    "ssize_t": LONG,
    "ptrdiff_t": LONG,
    "intptr_t": LONG,
    "uintptr_t": ULONG,
    "intmax_t": LONG,
    "uintmax_t": ULONG,
    "wchar_t": INT,
    "wint_t": UINT,
    "sig_atomic_t": INT,
    "time_t": LONG,
    "clock_t": LONG,
}


def _limits() -> Iterator[tuple[str, int, AnyKind]]:
    yield from (("true", 1, INT), ("false", 0, INT), ("CHAR_BIT", 8, INT), ("EXIT_SUCCESS", 0, INT))
    yield from (("EXIT_FAILURE", 1, INT), ("NULL", 0, Pointer(VOID)), ("EOF", -1, INT), ("RAND_MAX", INT.high, INT))
    classes = ("FP_NAN", "FP_INFINITE", "FP_ZERO", "FP_SUBNORMAL", "FP_NORMAL")  # the codes of glibc
    yield from ((name, code, INT) for code, name in enumerate(classes))
    yield from (("FLT_RADIX", 2, INT), ("FLT_EVAL_METHOD", 0, INT))
    for name, numbers in (("FLT", (24, 6, -125, 128, -37, 38)), ("DBL", (53, 15, -1021, 1024, -307, 308))):
        ends = ("MANT_DIG", "DIG", "MIN_EXP", "MAX_EXP", "MIN_10_EXP", "MAX_10_EXP")
        yield from ((f"{name}_{end}", value, INT) for end, value in zip(ends, numbers, strict=True))
    names = {"SCHAR": CHAR, "CHAR": CHAR, "SHRT": SHORT, "INT": INT, "LONG": LONG, "LLONG": LLONG}
    for name, kind in names.items():
        at = promote(kind)
        yield from ((f"{name}_MIN", kind.low, at), (f"{name}_MAX", kind.high, at))
        if name != "SCHAR":
            unsigned = UNSIGNED[kind]
            yield f"U{name}_MAX", unsigned.high, promote(unsigned)
    for w, kind in SIGNED.items():
        unsigned = UNSIGNED[kind]
        yield from ((f"INT{w}_MIN", kind.low, promote(kind)), (f"INT{w}_MAX", kind.high, promote(kind)))
        yield f"UINT{w}_MAX", unsigned.high, promote(unsigned)
    yield from (("SIZE_MAX", ULONG.high, ULONG), ("PTRDIFF_MAX", LONG.high, LONG), ("PTRDIFF_MIN", LONG.low, LONG))
    yield from (("INTMAX_MAX", LONG.high, LONG), ("INTMAX_MIN", LONG.low, LONG), ("UINTMAX_MAX", ULONG.high, ULONG))


def promote(kind: Integer) -> Integer:
    """The integer promotions (6.3.1.1)."""
    return INT if kind.rank < INT.rank else kind


# Macros of the standard library that stand for integers.
CONSTANTS: dict[str, tuple[int, AnyKind]] = {name: (value, kind) for name, value, kind in _limits()}


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


def common(a: Integer | Floating, b: Integer | Floating) -> Integer | Floating:
    """The kind in which an operator computes on these two: the usual arithmetic conversions (6.3.1.8)."""
    for kind in (DOUBLE, FLOAT):
        if kind in (a, b):
            return kind
    assert isinstance(a, Integer) and isinstance(b, Integer)
    a, b = promote(a), promote(b)
    if a.signed == b.signed:
        return a if a.rank >= b.rank else b
    signed, unsigned = (a, b) if a.signed else (b, a)
    if unsigned.rank >= signed.rank:
        return unsigned
    return signed if signed.width > unsigned.width else UNSIGNED[signed]


_SPELLINGS: dict[str, AnyKind] = {
    "void": VOID,
    "_Bool": BOOLEAN,
    "char|signed char": CHAR,
    "unsigned char": UCHAR,
    "short|short int|signed short|signed short int": SHORT,
    "unsigned short|unsigned short int": USHORT,
    "int|signed|signed int": INT,
    "unsigned|unsigned int": UINT,
    "long|long int|signed long|signed long int": LONG,
    "unsigned long|unsigned long int": ULONG,
    "long long|long long int|signed long long|signed long long int": LLONG,
    "unsigned long long|unsigned long long int": ULLONG,
    "float": FLOAT,
    "double": DOUBLE,
}
# Kinds with the same values on any platform whose int has 32 bits.
PORTABLE = frozenset("void _Bool int float double".split())
PORTABLE_CONSTANTS = frozenset([f"{u}INT{w}_{end}" for u in ("", "U") for w in SIGNED for end in ("MIN", "MAX")])
PORTABLE_CONSTANTS |= {"true", "false", "UINT_MAX", "INT_MIN", "INT_MAX"}
PORTABLE_TYPEDEFS = frozenset([f"{u}int{w}_t" for u in ("", "u") for w in SIGNED] + ["bool", "size_t"])

BASES: dict[str, AnyKind] = {  # by the words of a declaration, sorted
    " ".join(sorted(words.split())): kind for spellings, kind in _SPELLINGS.items() for words in spellings.split("|")
}


def size_of(kind: AnyKind) -> int:
    match kind:
        case Array():
            return kind.length * size_of(kind.element)
        case Struct():
            return _round_up(max((at + size_of(part) for _, part, at in offsets(kind)), default=0), alignment(kind))
        case Pointer():
            return 8
        case Void():
            return 1
        case Opaque():
            raise TypeRule(kind.reason)
        case Integer() | Floating():
            return kind.bytes
    assert_never(kind)


def are_different(a: AnyKind, b: AnyKind) -> bool:
    """One object cannot have both kinds. An array without a length is a pointer here, and a pointer to a struct that
    is not defined yet is one to void."""
    if isinstance(a, Array) and isinstance(b, Array):
        return a.length != b.length or are_different(a.element, b.element)
    if isinstance(a, Array | Pointer) and isinstance(b, Array | Pointer):
        inner = [kind.element if isinstance(kind, Array) else kind.target for kind in (a, b)]
        return VOID not in inner and are_different(*inner)
    return not (isinstance(a, Opaque) or isinstance(b, Opaque)) and a != b


def dimensions(kind: AnyKind) -> int:
    """The number of arrays within each other."""
    number = 0
    while isinstance(kind, Array):
        number, kind = number + 1, kind.element
    return number


def number_of_scalars(kind: AnyKind) -> int:
    match kind:
        case Array():
            return kind.length * number_of_scalars(kind.element)
        case Struct():
            return sum(number_of_scalars(inner) for _, inner in kind.fields)
        case Integer() | Floating() | Pointer() | Void() | Opaque():
            return 1
    assert_never(kind)


def alignment(kind: AnyKind) -> int:
    match kind:
        case Array():
            return alignment(kind.element)
        case Struct():
            if kind.aligned is None:
                raise TypeRule(f"an attribute changes the layout of {kind}: its size is not known; write it without")
            return max(kind.aligned, *(1 if kind.packed else alignment(t) for _, t in kind.fields), 1)
        case Integer() | Floating() | Pointer() | Void() | Opaque():
            return size_of(kind)
    assert_never(kind)


def offsets(struct: Struct) -> Iterator[tuple[str, AnyKind, int]]:
    """The fields, each with its distance from the beginning."""
    at = 0
    for name, kind in struct.fields:
        at = at if struct.packed else _round_up(at, alignment(kind))
        yield name, kind, at
        at += size_of(kind)


def _round_up(at: int, to: int) -> int:
    return -(-at // to) * to
