"""The macros that gcc predefines on 64-bit Linux for x86-64, but for those of types that are not supported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from streamcheck.c.macros import Macro, parse_macro

GCC = (12, 2, 0)
WIDTHS = (8, 16, 32, 64)
TYPES = {8: "signed char", 16: "short int", 32: "int", 64: "long int"}
ONES = """
__STDC__ __STDC_HOSTED__ __STDC_UTF_16__ __STDC_UTF_32__ __STDC_IEC_559__ _LP64 __LP64__ __ELF__ __linux
__linux__ __gnu_linux__ __unix __unix__ __x86_64 __x86_64__ __amd64 __amd64__ __k8 __k8__ __SSE__ __SSE2__
__SSE_MATH__ __SSE2_MATH__ __MMX__ __NO_INLINE__ __GNUC_STDC_INLINE__ __DBL_HAS_DENORM__ __DBL_HAS_INFINITY__
__DBL_HAS_QUIET_NAN__ __FLT_HAS_DENORM__ __FLT_HAS_INFINITY__ __FLT_HAS_QUIET_NAN__ __code_model_small__
"""
OTHERS = """
__STDC_VERSION__ 201710L
__STDC_ISO_10646__ 201706L
__VERSION__ "12.2.0"
__CHAR_BIT__ 8
__BIGGEST_ALIGNMENT__ 16
__ORDER_LITTLE_ENDIAN__ 1234
__ORDER_BIG_ENDIAN__ 4321
__ORDER_PDP_ENDIAN__ 3412
__BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__
__FLOAT_WORD_ORDER__ __ORDER_LITTLE_ENDIAN__
__SCHAR_MAX__ 0x7f
__SHRT_MAX__ 0x7fff
__INT_MAX__ 0x7fffffff
__LONG_MAX__ 0x7fffffffffffffffL
__LONG_LONG_MAX__ 0x7fffffffffffffffLL
__WCHAR_MAX__ 0x7fffffff
__WCHAR_MIN__ (-__WCHAR_MAX__ - 1)
__WINT_MAX__ 0xffffffffU
__WINT_MIN__ 0U
__SIG_ATOMIC_MAX__ 0x7fffffff
__SIG_ATOMIC_MIN__ (-__SIG_ATOMIC_MAX__ - 1)
__WCHAR_TYPE__ int
__WINT_TYPE__ unsigned int
__SIG_ATOMIC_TYPE__ int
__CHAR16_TYPE__ short unsigned int
__CHAR32_TYPE__ unsigned int
__FLT_RADIX__ 2
__FLT_EVAL_METHOD__ 0
__FINITE_MATH_ONLY__ 0
__DECIMAL_DIG__ 21
__FLT_DIG__ 6
__FLT_DECIMAL_DIG__ 9
__FLT_MANT_DIG__ 24
__FLT_MIN_EXP__ (-125)
__FLT_MAX_EXP__ 128
__FLT_MIN_10_EXP__ (-37)
__FLT_MAX_10_EXP__ 38
__FLT_MAX__ 0x1.fffffep127F
__FLT_MIN__ 0x1p-126F
__FLT_EPSILON__ 0x1p-23F
__FLT_DENORM_MIN__ 0x1p-149F
__DBL_DIG__ 15
__DBL_DECIMAL_DIG__ 17
__DBL_MANT_DIG__ 53
__DBL_MIN_EXP__ (-1021)
__DBL_MAX_EXP__ 1024
__DBL_MIN_10_EXP__ (-307)
__DBL_MAX_10_EXP__ 308
__DBL_MAX__ 0x1.fffffffffffffp1023
__DBL_MIN__ 0x1p-1022
__DBL_EPSILON__ 0x1p-52
__DBL_DENORM_MIN__ 0x0.0000000000001p-1022
__PIC__ 2
__pic__ 2
__PIE__ 2
__pie__ 2
"""
SIZES = {"INT": 4, "LONG": 8, "LONG_LONG": 8, "SHORT": 2, "POINTER": 8, "FLOAT": 4, "DOUBLE": 8, "LONG_DOUBLE": 16}
SIZES |= {"SIZE_T": 8, "PTRDIFF_T": 8, "WCHAR_T": 4, "WINT_T": 4, "INT128": 16, "FLOAT80": 16, "FLOAT128": 16}
NAMED_WIDTHS = {"SCHAR": 8, "SHRT": 16, "INT": 32, "LONG": 64, "LONG_LONG": 64, "WCHAR": 32, "WINT": 32}
NAMED_WIDTHS |= {"SIG_ATOMIC": 32, "SIZE": 64, "PTRDIFF": 64, "INTMAX": 64, "INTPTR": 64}


def _definitions() -> Iterator[str]:
    yield from (f"{name} 1" for name in ONES.split())
    yield from filter(None, OTHERS.splitlines())
    yield from (f"__GNUC{part}__ {n}" for part, n in zip(("", "_MINOR", "_PATCHLEVEL"), GCC, strict=True))
    yield from (f"__SIZEOF_{name}__ {size}" for name, size in SIZES.items())
    yield from (f"__{name}_WIDTH__ {width}" for name, width in NAMED_WIDTHS.items())
    for w in WIDTHS:
        suffix = {32: "U", 64: "UL"}.get(w, "")
        yield f"__INT{w}_C(c) c{' ## L' if w == 64 else ''}"
        yield f"__UINT{w}_C(c) c{f' ## {suffix}' if suffix else ''}"
        yield from _integer(f"INT{w}", w)
        yield from _integer(f"INT_LEAST{w}", w)
        yield from _integer(f"INT_FAST{w}", 8 if w == 8 else 64)
        yield f"__INT_LEAST{w}_WIDTH__ {w}"
        yield f"__INT_FAST{w}_WIDTH__ {8 if w == 8 else 64}"
    for name in ("INTMAX", "INTPTR"):
        yield from _integer(name, 64)
    yield from ("__INTMAX_C(c) c ## L", "__UINTMAX_C(c) c ## UL")
    yield from ("__SIZE_TYPE__ long unsigned int", "__SIZE_MAX__ 0xffffffffffffffffUL")
    yield from ("__PTRDIFF_TYPE__ long int", "__PTRDIFF_MAX__ 0x7fffffffffffffffL")


def _integer(name: str, width: int) -> Iterator[str]:
    """The type and the largest value of an integer type and of its unsigned one."""
    unsigned = "unsigned char" if width == 8 else TYPES[width].replace("int", "unsigned int")
    long = "L" * (width == 64)
    mark = "U" * (width >= 32)
    yield from (f"__{name}_TYPE__ {TYPES[width]}", f"__U{name}_TYPE__ {unsigned}")
    yield from (f"__{name}_MAX__ {(1 << width - 1) - 1:#x}{long}", f"__U{name}_MAX__ {(1 << width) - 1:#x}{mark}{long}")


@cache
def predefined_macros() -> Mapping[str, Macro]:
    return dict(parse_macro(text) for text in _definitions())
