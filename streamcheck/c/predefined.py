"""The macros that gcc predefines, but for those of types that are not supported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from streamcheck.c.kinds import AnyKind, Integer
from streamcheck.c.macros import Macro, parse_macro
from streamcheck.c.models import LP64, WIDTHS, DataModel

GCC = (12, 2, 0)
ONES = """
__STDC__ __STDC_HOSTED__ __STDC_UTF_16__ __STDC_UTF_32__ __STDC_IEC_559__ __NO_INLINE__ __GNUC_STDC_INLINE__
__DBL_HAS_DENORM__ __DBL_HAS_INFINITY__ __DBL_HAS_QUIET_NAN__ __FLT_HAS_DENORM__ __FLT_HAS_INFINITY__
__FLT_HAS_QUIET_NAN__
"""
LINUX = "__ELF__ __linux __linux__ __gnu_linux__ __unix __unix__ __code_model_small__ "
MACHINES = {
    "LP64": LINUX + "_LP64 __LP64__ __x86_64 __x86_64__ __amd64 __amd64__ __k8 __k8__ __SSE__ __SSE2__ __SSE_MATH__"
    " __SSE2_MATH__ __MMX__",
    "ILP32": LINUX + "_ILP32 __ILP32__ i386 __i386 __i386__ __i686__",
    "LLP64": "_WIN32 __WIN32 __WIN32__ _WIN64 __WIN64 __WIN64__ __MINGW32__ __MINGW64__ __x86_64 __x86_64__ __amd64"
    " __amd64__ __SSE__ __SSE2__",
    "cortex-m": "__ELF__ __arm__ __thumb__ __thumb2__ __ARM_EABI__ __ARMEL__ __CHAR_UNSIGNED__",
    "avr": "__ELF__ __AVR __AVR__ AVR",
}
OTHERS = """
__STDC_VERSION__ 201710L
__STDC_ISO_10646__ 201706L
__VERSION__ "12.2.0"
__CHAR_BIT__ 8
__ORDER_LITTLE_ENDIAN__ 1234
__ORDER_BIG_ENDIAN__ 4321
__ORDER_PDP_ENDIAN__ 3412
__BYTE_ORDER__ __ORDER_LITTLE_ENDIAN__
__FLOAT_WORD_ORDER__ __ORDER_LITTLE_ENDIAN__
__SCHAR_MAX__ 0x7f
__SHRT_MAX__ 0x7fff
__LONG_LONG_MAX__ 0x7fffffffffffffffLL
__FLT_RADIX__ 2
__FLT_EVAL_METHOD__ 0
__FINITE_MATH_ONLY__ 0
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
__PIC__ 2
__pic__ 2
__PIE__ 2
__pie__ 2
"""
DOUBLE = """
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
"""


def _definitions(model: DataModel) -> Iterator[str]:
    yield from (f"{name} 1" for name in [*ONES.split(), *MACHINES[model.name].split()])
    yield from filter(None, OTHERS.splitlines())
    single = [line for line in OTHERS.splitlines() if line.startswith("__FLT_") and "RADIX" not in line]
    same = [line.replace("__FLT_", "__DBL_") for line in single if "EVAL" not in line and "FINITE" not in line]
    yield from filter(None, DOUBLE.splitlines() if model.DOUBLE.width == 64 else same)
    yield from (f"__GNUC{part}__ {n}" for part, n in zip(("", "_MINOR", "_PATCHLEVEL"), GCC, strict=True))
    yield f"__BIGGEST_ALIGNMENT__ {model.aligned if model.name != 'ILP32' else 16}"
    yield f"__DECIMAL_DIG__ {21 if model.name in ('LP64', 'ILP32', 'LLP64') else 17 if model.double_bits == 64 else 9}"
    kinds = model.typedefs
    sizes = {"INT": model.INT, "LONG": model.LONG, "LONG_LONG": model.LLONG, "SHORT": kinds["int16_t"]}
    sizes |= {"SIZE_T": model.size, "PTRDIFF_T": model.difference, "WCHAR_T": kinds["wchar_t"]}
    sizes |= {"WINT_T": kinds["wint_t"], "DOUBLE": model.DOUBLE}
    yield from (f"__SIZEOF_{name}__ {model.size_of(kind)}" for name, kind in sizes.items())
    yield from ("__SIZEOF_FLOAT__ 4", f"__SIZEOF_POINTER__ {model.pointer_bits // 8}")
    if model is LP64:
        yield from ("__SIZEOF_FLOAT80__ 16", "__SIZEOF_FLOAT128__ 16")
    if model.pointer_bits == 64:
        yield "__SIZEOF_INT128__ 16"
    yield f"__SIZEOF_LONG_DOUBLE__ {model.long_double_bytes}"
    yield from _type_macros(model)


def _type_macros(model: DataModel) -> Iterator[str]:
    """The macros of the integer types that headers name."""
    kinds = model.typedefs
    widths = {"SCHAR": 8, "SHRT": 16, "INT": model.INT.width, "LONG": model.LONG.width, "LONG_LONG": 64}
    yield from (f"__{name}_WIDTH__ {width}" for name, width in widths.items())
    yield from (f"__{name}_MAX__ {_literal(k, k.high)}" for name, k in (("INT", model.INT), ("LONG", model.LONG)))
    for name, kind in (("WCHAR", "wchar_t"), ("WINT", "wint_t"), ("SIG_ATOMIC", "sig_atomic_t")):
        yield from _integer(name, kinds[kind], model, least=True)
    yield from (
        "__CHAR16_TYPE__ short unsigned int",
        f"__CHAR32_TYPE__ {_gcc_name(model.unsigned_of[model.exact[32]])}",
    )
    for width in WIDTHS:
        exact = model.exact[width]
        suffix = {"long": "L", "long long": "LL"}.get(exact.name, "")
        unsigned = ("U" if model.promote(model.unsigned_of[exact]) != model.INT else "") + suffix
        yield f"__INT{width}_C(c) c{f' ## {suffix}' if suffix else ''}"
        yield f"__UINT{width}_C(c) c{f' ## {unsigned}' if unsigned else ''}"
        for name in ("", "_LEAST", "_FAST"):
            least = kinds[f"int{name.lower()}{width}_t"]
            yield from _pair(f"INT{name}{width}", least, model)
            if name:
                assert isinstance(least, Integer)
                yield f"__INT{name}{width}_WIDTH__ {least.width}"
    for name, given in (("INTMAX", "intmax_t"), ("INTPTR", "intptr_t")):
        yield from _pair(name, kinds[given], model)
        widest = kinds[given]
        assert isinstance(widest, Integer)
        yield f"__{name}_WIDTH__ {widest.width}"
    long = "L" if model.LONG.width == 64 else "LL"
    yield from (f"__INTMAX_C(c) c ## {long}", f"__UINTMAX_C(c) c ## U{long}")
    for name, size in (("SIZE", model.size), ("PTRDIFF", model.difference)):
        yield f"__{name}_TYPE__ {_gcc_name(size)}"
        yield f"__{name}_MAX__ {_literal(size, size.high)}"
        yield f"__{name}_WIDTH__ {size.width}"


def _integer(name: str, kind: AnyKind, model: DataModel, *, least: bool = False) -> Iterator[str]:
    assert isinstance(kind, Integer)
    yield f"__{name}_TYPE__ {_gcc_name(kind)}"
    yield f"__{name}_MAX__ {_literal(model.promote(kind), kind.high)}"
    if least:
        yield f"__{name}_WIDTH__ {kind.width}"
        yield f"__{name}_MIN__ {f'(-__{name}_MAX__ - 1)' if kind.signed else _literal(model.promote(kind), 0)}"


def _pair(name: str, kind: AnyKind, model: DataModel) -> Iterator[str]:
    """The type and the largest value of an integer type and of its unsigned one."""
    assert isinstance(kind, Integer)
    yield from _integer(name, kind, model)
    yield from _integer(f"U{name}", model.unsigned_of[kind], model)


def _gcc_name(kind: Integer) -> str:
    """As gcc spells the type."""
    name = kind.name.removeprefix("unsigned ")
    if name == "char":
        return "signed char" if kind.signed else "unsigned char"
    unsigned = "" if kind.signed else "unsigned "
    return f"{unsigned}int" if name == "int" else f"{name} {unsigned}int"


def _literal(kind: Integer, value: int) -> str:
    long = {"long": "L", "long long": "LL"}.get(kind.name.removeprefix("unsigned "), "")
    return f"{value:#x}{'' if kind.signed else 'U'}{long}"


@cache
def predefined_macros(model: DataModel = LP64) -> Mapping[str, Macro]:
    return dict(parse_macro(text) for text in _definitions(model))
