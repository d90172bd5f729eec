"""The types of C as gcc and clang have them on 64-bit Linux (LP64): sizes, conversions and the types of literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias


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
    element: Kind
    length: int

    def __str__(self) -> str:
        return f"{self.element}[{self.length}]"


@dataclass(frozen=True, slots=True)
class Struct:
    name: str
    fields: tuple[tuple[str, Kind], ...]

    def field(self, name: str) -> Kind | None:
        return dict(self.fields).get(name)

    def __str__(self) -> str:
        return f"struct {self.name}"


@dataclass(frozen=True, slots=True)
class Pointer:
    target: Kind

    def __str__(self) -> str:
        return f"{self.target} *"


Kind: TypeAlias = Integer | Floating | Void | Array | Struct | Pointer

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

# What the headers of the standard library define.
TYPEDEFS: dict[str, Kind] = {
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
}


def _limits() -> Iterator[tuple[str, int, Kind]]:
    yield from (("true", 1, INT), ("false", 0, INT), ("CHAR_BIT", 8, INT), ("EXIT_SUCCESS", 0, INT))
    yield from (("EXIT_FAILURE", 1, INT), ("NULL", 0, Pointer(VOID)))
    names = {"SCHAR": CHAR, "CHAR": CHAR, "SHRT": SHORT, "INT": INT, "LONG": LONG, "LLONG": LLONG}
    for name, kind in names.items():
        at = promoted(kind)
        yield from ((f"{name}_MIN", kind.low, at), (f"{name}_MAX", kind.high, at))
        if name != "SCHAR":
            unsigned = UNSIGNED[kind]
            yield f"U{name}_MAX", unsigned.high, promoted(unsigned)
    for w, kind in SIGNED.items():
        unsigned = UNSIGNED[kind]
        yield from ((f"INT{w}_MIN", kind.low, promoted(kind)), (f"INT{w}_MAX", kind.high, promoted(kind)))
        yield f"UINT{w}_MAX", unsigned.high, promoted(unsigned)
    yield from (("SIZE_MAX", ULONG.high, ULONG), ("PTRDIFF_MAX", LONG.high, LONG), ("PTRDIFF_MIN", LONG.low, LONG))
    yield from (("INTMAX_MAX", LONG.high, LONG), ("INTMAX_MIN", LONG.low, LONG), ("UINTMAX_MAX", ULONG.high, ULONG))


def promoted(kind: Integer) -> Integer:
    return INT if kind.rank < INT.rank else kind


CONSTANTS: dict[str, tuple[int, Kind]] = {name: (value, kind) for name, value, kind in _limits()}


def common(a: Integer | Floating, b: Integer | Floating) -> Integer | Floating:
    """The type in which an operator computes on these two: the usual arithmetic conversions."""
    for kind in (DOUBLE, FLOAT):
        if kind in (a, b):
            return kind
    assert isinstance(a, Integer) and isinstance(b, Integer)
    a, b = promoted(a), promoted(b)
    if a.signed == b.signed:
        return a if a.rank >= b.rank else b
    signed, unsigned = (a, b) if a.signed else (b, a)
    if unsigned.rank >= signed.rank:
        return unsigned
    return signed if signed.width > unsigned.width else UNSIGNED[signed]


_SPELLINGS: dict[str, Kind] = {
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
BASES: dict[str, Kind] = {  # the words of a declaration, sorted, to the type they name
    " ".join(sorted(words.split())): kind for spellings, kind in _SPELLINGS.items() for words in spellings.split("|")
}

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)([uUlL]*)$")
_ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


def whole_literal(text: str) -> tuple[int, Integer] | None:
    """The value of an integer literal and the first type that holds it, of those its base and suffix allow."""
    found = _NUMBER.match(text)
    if found is None:
        return None
    digits, suffix = found[1], found[2].lower()
    decimal = not digits.startswith("0") or digits == "0"
    value = int(digits, 8 if digits.isdigit() and not decimal else 0)
    for kind in (INT, LONG, LLONG):
        if kind.rank < {"": 3, "l": 4, "ll": 5}[suffix.replace("u", "")]:
            continue
        if "u" not in suffix and value <= kind.high:
            return value, kind
        if ("u" in suffix or not decimal) and value <= UNSIGNED[kind].high:
            return value, UNSIGNED[kind]
    return None


def character(text: str) -> int | None:
    """The value of a character literal such as 'a' or '\\0': an int."""
    body = text[1:-1]
    if len(body) == 1 and body != "\\" and ord(body) < 128:
        return ord(body)
    if re.fullmatch(r"\\[0-7]{1,3}", body):
        code = int(body[1:], 8)
    elif re.fullmatch(r"\\x[0-9a-fA-F]{1,2}", body):
        code = int(body[2:], 16)
    elif len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        code = _ESCAPES[body[1]]
    else:
        return None
    return code - 256 if 128 <= code < 256 else code if code < 128 else None


def size_of(kind: Kind) -> int:
    match kind:
        case Array():
            return kind.length * size_of(kind.element)
        case Struct():
            at = 0
            for _, field in kind.fields:
                at = _padded(at, alignment(field)) + size_of(field)
            return _padded(at, alignment(kind))
        case Pointer():
            return 8
        case Void():
            return 1
    return kind.bytes


def alignment(kind: Kind) -> int:
    match kind:
        case Array():
            return alignment(kind.element)
        case Struct():
            return max((alignment(t) for _, t in kind.fields), default=1)
    return size_of(kind)


def _padded(at: int, to: int) -> int:
    return -(-at // to) * to
