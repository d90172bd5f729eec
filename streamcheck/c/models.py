"""Data models: the sizes, signs and alignments that C leaves to the implementation (6.2.5), as gcc has them.

LP64       64-bit Linux
ILP32      32-bit Linux on x86
LLP64      64-bit Windows (MinGW)
cortex-m   bare ARM, as arm-none-eabi-gcc: char is unsigned, an enum is as short as its values allow
avr        avr-gcc: int has 16 bits, double 32, and nothing is aligned
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from streamcheck.c.kinds import (
    BOOLEAN,
    CHAR,
    DOUBLE,
    FLOAT,
    UCHAR,
    VOID,
    AnyKind,
    Array,
    Floating,
    FunctionType,
    Incomplete,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)
from streamcheck.core.operators import TypeRule

WIDTHS = (8, 16, 32, 64)


@dataclass(frozen=True)
class DataModel:
    """`aligned`: the largest alignment of a scalar, in bytes. `exact`: the kinds of `int8_t` and so on are the first
    of these that have the width."""

    name: str
    int_bits: int = 32
    long_bits: int = 64
    pointer_bits: int = 64
    double_bits: int = 64
    aligned: int = 16
    char_signed: bool = True
    short_enums: bool = False

    def __str__(self) -> str:
        return self.name

    @cached_property
    def _integers(self) -> Mapping[str, Integer]:
        sizes = {"short": 16, "int": self.int_bits, "long": self.long_bits, "long long": 64}
        sizes |= {"__int128": 128} if self.pointer_bits == 64 else {}
        signed = {name: Integer(name, bits, True, rank) for rank, (name, bits) in enumerate(sizes.items(), 2)}
        return signed | {f"unsigned {n}": Integer(f"unsigned {n}", k.width, False, k.rank) for n, k in signed.items()}

    @property
    def CHAR(self) -> Integer:
        return CHAR if self.char_signed else UCHAR

    @property
    def INT(self) -> Integer:
        return self._integers["int"]

    @property
    def UINT(self) -> Integer:
        return self._integers["unsigned int"]

    @property
    def LONG(self) -> Integer:
        return self._integers["long"]

    @property
    def ULONG(self) -> Integer:
        return self._integers["unsigned long"]

    @property
    def LLONG(self) -> Integer:
        return self._integers["long long"]

    @cached_property
    def DOUBLE(self) -> Floating:
        return DOUBLE if self.double_bits == 64 else Floating("double", self.double_bits)

    @cached_property
    def unsigned_of(self) -> Mapping[Integer, Integer]:
        """By signed kind, the unsigned one of the same rank."""
        pairs = {k: self._integers[f"unsigned {n}"] for n, k in self._integers.items() if k.signed}
        return {CHAR: UCHAR, **pairs}

    @property
    def long_double_bytes(self) -> int:
        """The size of `long double`: that of x87, or of a double with 64 bits."""
        return {"LP64": 16, "LLP64": 16, "ILP32": 12}.get(self.name, 8)

    @cached_property
    def exact(self) -> Mapping[int, Integer]:
        """By width, the kind of `int8_t` and so on."""
        found: dict[int, Integer] = {8: CHAR}
        for kind in (self._integers[name] for name in ("short", "int", "long", "long long")):
            if kind.width not in found or (kind.width == 16 and kind is self.INT):
                found[kind.width] = kind
        if self.name == "cortex-m":  # newlib
            found[32] = self.LONG
        return found

    @cached_property
    def size(self) -> Integer:
        """The kind of `size_t`."""
        return self.unsigned_of[self.difference]

    @cached_property
    def difference(self) -> Integer:
        """The kind of `ptrdiff_t`."""
        kinds = [self.INT, self.LONG, self.LLONG]
        if self.long_bits == self.pointer_bits == 64:
            return self.LONG
        return next(kind for kind in kinds if kind.width == self.pointer_bits)

    # Enumerations, spellings, and what headers define

    def enum_kinds(self, *, signed: bool) -> tuple[Integer, ...]:
        """The kinds of an enum, as gcc and clang choose by the values: the first that holds them."""
        names = ("short", "int", "long", "long long") if self.short_enums else ("int", "long", "long long")
        kinds = [self._integers[name if signed else f"unsigned {name}"] for name in names]
        return (CHAR if signed else UCHAR, *kinds) if self.short_enums else tuple(kinds)

    @cached_property
    def bases(self) -> Mapping[str, AnyKind]:
        """Kinds by the words of a declaration, sorted."""
        names: dict[str, AnyKind] = {"void": VOID, "_Bool": BOOLEAN, "float": FLOAT, "double": self.DOUBLE}
        names |= {"char": self.CHAR, "signed char": CHAR, "unsigned char": UCHAR, "signed": self.INT}
        names |= {"unsigned": self.UINT}
        for name, kind in self._integers.items():
            names[name] = kind
            if kind.signed:
                names[f"signed {name}"] = kind
            if kind.rank != self.INT.rank and kind.width <= 64:
                names[f"{name} int"] = kind
                if kind.signed:
                    names[f"signed {name} int"] = kind
        return {" ".join(sorted(words.split())): kind for words, kind in names.items()}

    @cached_property
    def typedefs(self) -> Mapping[str, AnyKind]:
        """Types that the headers of the standard library define."""
        exact = self.exact
        fast = {8: CHAR, 16: exact[16], 32: exact[32], 64: exact[64]}
        if self.name == "LP64":
            fast |= dict.fromkeys((16, 32, 64), self.LONG)
        elif self.pointer_bits == 32:
            fast |= dict.fromkeys((16, 32), self.INT)
        made: dict[str, AnyKind] = {}
        for width in WIDTHS:
            for name, kind in (("", exact[width]), ("_least", exact[width]), ("_fast", fast[width])):
                made[f"int{name}{width}_t"] = kind
                made[f"uint{name}{width}_t"] = self.unsigned_of[kind]
        widest = self.LONG if self.long_bits == 64 else self.LLONG
        wide = {"LLP64": self._integers["unsigned short"], "cortex-m": self.UINT, "ILP32": self.LONG}
        made |= {"bool": BOOLEAN, "size_t": self.size, "ssize_t": self.difference, "ptrdiff_t": self.difference}
        made |= {"intptr_t": self.difference, "uintptr_t": self.size}
        made |= {"intmax_t": widest, "uintmax_t": self.unsigned_of[widest], "wchar_t": wide.get(self.name, self.INT)}
        if "__int128" in self._integers:
            made |= {"__int128_t": self._integers["__int128"], "__uint128_t": self._integers["unsigned __int128"]}
        made |= {
            "wint_t": {"LLP64": self._integers["unsigned short"], "avr": self.INT}.get(self.name, self.UINT),
            "sig_atomic_t": CHAR if self.name == "avr" else self.INT,
        }
        return made | {"time_t": self.LONG if self.name != "LLP64" else self.LLONG, "clock_t": self.LONG}

    @cached_property
    def constants(self) -> Mapping[str, tuple[int, AnyKind]]:
        """Macros of the standard library that stand for integers."""
        return {name: (value, kind) for name, value, kind in self._limits()}

    def _limits(self) -> Iterator[tuple[str, int, AnyKind]]:
        most = 32767 if self.name in ("avr", "LLP64") else (1 << 31) - 1
        plain = {
            "true": 1,
            "false": 0,
            "CHAR_BIT": 8,
            "EXIT_SUCCESS": 0,
            "EXIT_FAILURE": 1,
            "EOF": -1,
            "RAND_MAX": most,
        }
        yield from ((name, value, self.INT) for name, value in plain.items())
        yield "NULL", 0, Pointer(VOID)
        classes = ("FP_NAN", "FP_INFINITE", "FP_ZERO", "FP_SUBNORMAL", "FP_NORMAL")  # the codes of glibc
        yield from ((name, code, self.INT) for code, name in enumerate(classes))
        yield from (("FLT_RADIX", 2, self.INT), ("FLT_EVAL_METHOD", 0, self.INT))
        single, double = (24, 6, -125, 128, -37, 38), (53, 15, -1021, 1024, -307, 308)
        for name, numbers in (("FLT", single), ("DBL", double if self.double_bits == 64 else single)):
            ends = ("MANT_DIG", "DIG", "MIN_EXP", "MAX_EXP", "MIN_10_EXP", "MAX_10_EXP")
            yield from ((f"{name}_{end}", value, self.INT) for end, value in zip(ends, numbers, strict=True))
        names = {"SHRT": "short", "INT": "int", "LONG": "long", "LLONG": "long long"}
        signed = {"SCHAR": CHAR, **{short: self._integers[name] for short, name in names.items()}}
        yield from (("UCHAR_MAX", UCHAR.high, self.INT), ("CHAR_MIN", self.CHAR.low, self.INT))
        yield "CHAR_MAX", self.CHAR.high, self.INT
        for name, kind in signed.items():
            yield from self._ends(name, kind)
            if name != "SCHAR":
                yield f"U{name}_MAX", self.unsigned_of[kind].high, self.promote(self.unsigned_of[kind])
        for width, kind in self.exact.items():
            yield from self._ends(f"INT{width}", kind)
            yield f"UINT{width}_MAX", self.unsigned_of[kind].high, self.promote(self.unsigned_of[kind])
        yield from self._ends("PTRDIFF", self.difference)
        yield "SIZE_MAX", self.size.high, self.size
        widest = self.typedefs["intmax_t"]
        assert isinstance(widest, Integer)
        yield from self._ends("INTMAX", widest)
        yield "UINTMAX_MAX", self.unsigned_of[widest].high, self.unsigned_of[widest]

    def _ends(self, name: str, kind: Integer) -> Iterator[tuple[str, int, AnyKind]]:
        yield from ((f"{name}_MIN", kind.low, self.promote(kind)), (f"{name}_MAX", kind.high, self.promote(kind)))

    # Conversions

    def promote(self, kind: Integer) -> Integer:
        """The integer promotions (6.3.1.1)."""
        if kind.rank >= self.INT.rank:
            return kind
        return self.INT if kind.high <= self.INT.high else self.UINT

    def common(self, a: Integer | Floating, b: Integer | Floating) -> Integer | Floating:
        """The kind in which an operator computes on these two: the usual arithmetic conversions (6.3.1.8)."""
        for kind in (self.DOUBLE, FLOAT):
            if kind in (a, b):
                return kind
        assert isinstance(a, Integer) and isinstance(b, Integer)
        a, b = self.promote(a), self.promote(b)
        if a.signed == b.signed:
            return a if a.rank >= b.rank else b
        signed, unsigned = (a, b) if a.signed else (b, a)
        if unsigned.rank >= signed.rank:
            return unsigned
        return signed if signed.width > unsigned.width else self.unsigned_of[signed]

    # Layout

    def size_of(self, kind: AnyKind) -> int:
        match kind:
            case Array():
                return kind.length * self.size_of(kind.element)
            case Struct():
                end = max((at + self.size_of(part) for _, part, at in self.offsets(kind)), default=0)
                return _round_up(end, self.alignment(kind))
            case Pointer():
                return self.pointer_bits // 8
            case Void():
                return 1
            case Opaque(bytes=int(known)):
                return known
            case Opaque():
                raise TypeRule(kind.reason)
            case Incomplete():
                raise TypeRule(f"{kind} is not defined: its size is not known")
            case FunctionType():
                return 1  # as gcc has it
            case Integer() | Floating():
                return kind.bytes
        assert_never(kind)

    def alignment(self, kind: AnyKind) -> int:
        match kind:
            case Array():
                return self.alignment(kind.element)
            case Struct():
                if kind.aligned is None:
                    raise TypeRule(
                        f"an attribute changes the layout of {kind}: its size is not known; write it without"
                    )
                return max(kind.aligned, *(1 if kind.packed else self.alignment(t) for _, t in kind.fields), 1)
            case Integer() | Floating() | Pointer() | Void() | Opaque() | FunctionType() | Incomplete():
                return min(self.size_of(kind), self.aligned)
        assert_never(kind)

    def offsets(self, struct: Struct) -> Iterator[tuple[str, AnyKind, int]]:
        """The fields, each with its distance from the beginning. Those of a union all begin there."""
        at = 0
        for name, kind in struct.fields:
            at = at if struct.packed else _round_up(at, self.alignment(kind))
            yield name, kind, 0 if struct.union else at
            at += self.size_of(kind)


def _round_up(at: int, to: int) -> int:
    return -(-at // to) * to


LP64 = DataModel("LP64")
ILP32 = DataModel("ILP32", long_bits=32, pointer_bits=32, aligned=4)
LLP64 = DataModel("LLP64", long_bits=32)
CORTEX_M = DataModel("cortex-m", long_bits=32, pointer_bits=32, aligned=8, char_signed=False, short_enums=True)
AVR = DataModel("avr", int_bits=16, long_bits=32, pointer_bits=16, double_bits=32, aligned=1)
MODELS = {model.name: model for model in (LP64, ILP32, LLP64, CORTEX_M, AVR)}
