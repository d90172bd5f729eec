"""Functions of the standard library of C as expressions in C, for those whose values ISO C or IEEE 754 give exactly.

A model is a definition whose body returns one expression. A call is replaced by the expression, with the parameters
bound to the arguments, so it has no statements of its own, and what is undefined in it (the overflow of `-x` in `abs`)
is a claim at the line of the call. In the texts, `T` is float or double: `fmaxT` is `fmaxf` or `fmax`. `any` is an
unknown int, for what C leaves open: which of two zeros `fmax` returns, and which nonzero value means true.

The functions that are no sums and roundings of their arguments (sin, exp, pow, fmod …) have no model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from streamcheck.c.kinds import AnyKind, Floating, Integer
from streamcheck.c.models import LP64, DataModel
from streamcheck.c.syntax import has_name, parse

# What math.h computes exactly (7.12). The first four are operators of terms.
_FLOATING = """
T fabsT(T x) { return fabsT(x); }
T sqrtT(T x) { return sqrtT(x); }
T floorT(T x) { return floorT(x); }
T ceilT(T x) { return ceilT(x); }
T truncT(T x) { return x < 0 ? ceilT(x) : floorT(x); }
T roundT(T x) { return fabsT(x - truncT(x)) < (T)0.5 || x != x ? truncT(x) : truncT(x) + (x < 0 ? -1 : 1); }
T rintT(T x) {
    return fabsT(x - truncT(x)) < (T)0.5
        || (fabsT(x - truncT(x)) == (T)0.5 && truncT(x) / 2 == floorT(truncT(x) / 2))
        ? truncT(x) : truncT(x) + (x < 0 ? -1 : 1);
}
T nearbyintT(T x) { return rintT(x); }
long lroundT(T x) { return (long)roundT(x); }
long lrintT(T x) { return (long)rintT(x); }
long long llroundT(T x) { return (long long)roundT(x); }
long long llrintT(T x) { return (long long)rintT(x); }
T fdimT(T x, T y) { return x != x || y != y ? (T)NAN : x > y ? x - y : 0; }
T fmaxT(T x, T y) { return x != x ? y : y != y ? x : x > y ? x : y > x ? y : any ? x : y; }
T fminT(T x, T y) { return x != x ? y : y != y ? x : x < y ? x : y < x ? y : any ? x : y; }
int isnanT(T x) { return x != x ? any ? any : 1 : 0; }
int isinfT(T x) { return fabsT(x) == (T)INFINITY ? any ? any : 1 : 0; }
int isfiniteT(T x) { return fabsT(x) < (T)INFINITY ? any ? any : 1 : 0; }
int isnormalT(T x) { return fabsT(x) >= T_MIN && fabsT(x) < (T)INFINITY ? any ? any : 1 : 0; }
int signbitT(T x) { return x < 0 || (x == 0 && 1 / x < 0) ? any ? any : 1 : 0; }
T copysignT(T x, T y) { return signbitT(y) ? -fabsT(x) : fabsT(x); }
int fpclassifyT(T x) {
    return x != x ? FP_NAN : fabsT(x) == (T)INFINITY ? FP_INFINITE : x == 0 ? FP_ZERO
        : fabsT(x) < T_MIN ? FP_SUBNORMAL : FP_NORMAL;
}
int isgreaterT(T x, T y) { return x > y; }
int isgreaterequalT(T x, T y) { return x >= y; }
int islessT(T x, T y) { return x < y; }
int islessequalT(T x, T y) { return x <= y; }
int islessgreaterT(T x, T y) { return x < y || x > y; }
int isunorderedT(T x, T y) { return x != x || y != y; }
T nanT(void) { return (T)NAN; }
T infT(void) { return (T)INFINITY; }
T huge_valT(void) { return (T)INFINITY; }
"""
# stdlib.h, stdio.h, and hints to compilers.
_INTEGERS = """
int abs(int x) { return x < 0 ? -x : x; }
long labs(long x) { return x < 0 ? -x : x; }
long long llabs(long long x) { return x < 0 ? -x : x; }
long imaxabs(long x) { return x < 0 ? -x : x; }
int rand(void) { return any < 0 ? -(any + 1) : any; }
long random(void) { return any < 0 ? -(any + 1) : any; }
int getchar(void) { return any < -1 ? -1 : any > 255 ? 255 : any; }
long expect(long x, long expected) { return x; }
"""
# Bits that are 1: their number in each field of 2, 4 and 8 bits, and then the sum of the fields.
_BITS = """
unsigned long long ones_of_2(unsigned long long x) { return x - (x >> 1 & 0x5555555555555555); }
unsigned long long ones_of_4(unsigned long long x) {
    return (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
}
unsigned long long ones_of_8(unsigned long long x) { return x + (x >> 4) & 0x0f0f0f0f0f0f0f0f; }
unsigned long long ones_of_16(unsigned long long x) { return x + (x >> 8); }
unsigned long long ones_of_32(unsigned long long x) { return x + (x >> 16); }
unsigned long long ones_of_64(unsigned long long x) { return x + (x >> 32) & 127; }
int popcountll(unsigned long long x) {
    return (int)__builtin_ones_of_64(__builtin_ones_of_32(__builtin_ones_of_16(
        __builtin_ones_of_8(__builtin_ones_of_4(__builtin_ones_of_2(x))))));
}
int popcountl(unsigned long x) { return __builtin_popcountll(x); }
int popcount(unsigned x) { return __builtin_popcountll(x); }
int parityll(unsigned long long x) { return __builtin_popcountll(x) & 1; }
int parityl(unsigned long x) { return __builtin_parityll(x); }
int parity(unsigned x) { return __builtin_parityll(x); }
"""
# ctype.h in the C locale (7.4). The argument is an unsigned char or EOF.
_CHARACTERS = """
int isdigit(int c) { return c >= '0' && c <= '9' ? any ? any : 1 : 0; }
int isxdigit(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') ? any ? any : 1 : 0;
}
int isupper(int c) { return c >= 'A' && c <= 'Z' ? any ? any : 1 : 0; }
int islower(int c) { return c >= 'a' && c <= 'z' ? any ? any : 1 : 0; }
int isalpha(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? any ? any : 1 : 0; }
int isalnum(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? any ? any : 1 : 0;
}
int isblank(int c) { return c == ' ' || c == 9 ? any ? any : 1 : 0; }
int isspace(int c) { return c == ' ' || (c >= 9 && c <= 13) ? any ? any : 1 : 0; }
int isprint(int c) { return c >= 32 && c <= 126 ? any ? any : 1 : 0; }
int isgraph(int c) { return c >= 33 && c <= 126 ? any ? any : 1 : 0; }
int iscntrl(int c) { return (c >= 0 && c <= 31) || c == 127 ? any ? any : 1 : 0; }
int ispunct(int c) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) || (c >= 123 && c <= 126)
        ? any ? any : 1 : 0;
}
int tolower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }
int toupper(int c) { return c >= 'a' && c <= 'z' ? c - 32 : c; }
"""
# Macros for any floating type: the kind of the arguments decides.
GENERIC = frozenset(
    "isnan isinf isfinite isnormal signbit fpclassify"
    " isgreater isgreaterequal isless islessequal islessgreater isunordered".split()
)
_OTHER_NAMES = {"finite": "isfinite", "finitef": "isfinitef", "isinf_sign": "isinf"}
# Names that are models only with `__builtin_` before them.
_COMPILERS = frozenset(
    "inf inff huge_val huge_valf expect popcount popcountl popcountll parity parityl parityll"
    " ones_of_2 ones_of_4 ones_of_8 ones_of_16 ones_of_32 ones_of_64".split()
)
ANY = "any"
# Functions of the library that are not modelled: the standard does not give their values exactly, or they need what
# an automaton does not have (the heap, files, the time).
INEXACT = frozenset(
    f"{name}{suffix}"
    for suffix in ("", "f", "l")
    for name in "acos acosh asin asinh atan atan2 atanh cbrt cos cosh erf erfc exp exp2 expm1 fma fmod frexp hypot"
    " ilogb ldexp lgamma log log10 log1p log2 logb modf nextafter nexttoward pow remainder remquo scalbln scalbn sin"
    " sinh tan tanh tgamma".split()
)
NOT_MODELLED = INEXACT | frozenset(
    "aligned_alloc alloca atof atoi atol atoll bsearch calloc clock difftime div fclose feclearexcept fegetround"
    " feraiseexcept fesetround fetestexcept fgetc fgets fopen fread free fscanf fseek fwrite getc getenv gets ldiv"
    " lldiv localtime longjmp malloc mktime qsort raise read realloc realpath scanf setjmp signal sleep snprintf"
    " sprintf sscanf strcoll strcspn strdup strerror strftime strndup strpbrk strspn strstr strtod strtof strtok strtol"
    " strtoll strtoul strtoull system time usleep vprintf vsnprintf vsprintf write".split()
)
HEAP = frozenset("aligned_alloc alloca calloc malloc realloc".split())


@dataclass(frozen=True, slots=True)
class LibraryModel:
    """`is_character`: the argument is an unsigned char or EOF. `needs_sign`: the argument must not be NaN, whose sign
    values do not have here."""

    name: str
    result: Integer | Floating
    parameters: tuple[tuple[str, Integer | Floating], ...]
    value: Any  # the expression, as it is parsed
    is_character: bool
    chooses: bool  # the value is not determined by the arguments
    needs_sign: bool


def model_name(name: str) -> str | None:
    """The name of the model for a function of this name, without the prefixes that compilers and headers give it. A
    generic macro has the models of its name and of its name with f. None if there is no model."""
    plain = re.sub(r"^(__builtin_|__)", "", name)
    plain = _OTHER_NAMES.get(plain, plain)
    if plain not in _models() or (plain in _COMPILERS and not name.startswith("__builtin_")):
        return None
    return plain


def plain_name(name: str) -> str:
    """The name of a function of the library, without the prefix for compilers."""
    return name.removeprefix("__builtin_")


def model(name: str, data_model: DataModel = LP64, *, single: bool = False) -> LibraryModel:
    """The model with this name. `single`: of a generic macro, the one for float."""
    return _models(data_model)[name + "f" if single and name in GENERIC else name]


@cache
def _models(model: DataModel = LP64) -> Mapping[str, LibraryModel]:
    texts = [(_FLOATING, "double", ""), (_FLOATING, "float", "f")]
    texts += [(text, "int", "") for text in (_INTEGERS, _CHARACTERS, _BITS)]
    models: dict[str, LibraryModel] = {}
    for text, kind, suffix in texts:
        typed = re.sub(r"\bT_MIN\b", "FLT_MIN" if suffix else "DBL_MIN", re.sub(r"\bT\b", kind, text))
        for definition in parse(re.sub(r"([a-z])T\b", rf"\1{suffix}", typed), "library", ()):
            choosers = [ANY, *(name for name, known in models.items() if known.chooses)]
            made = _model(definition, choosers, model, is_character=text is _CHARACTERS)
            models[made.name] = made
    return models


def _model(definition: Any, choosers: Sequence[str], model: DataModel, *, is_character: bool) -> LibraryModel:
    (returned,) = definition.body.block_items
    function = definition.decl.type
    parameters = tuple((p.name, _kind(p.type, model)) for p in function.args.params if p.name is not None)
    chooses = any(has_name(returned.expr, name) for name in choosers)
    name, result = definition.decl.name, _kind(function.type, model)
    needs_sign = name in ("signbit", "signbitf")
    return LibraryModel(name, result, parameters, returned.expr, is_character, chooses, needs_sign)


def _kind(node: Any, model: DataModel) -> Integer | Floating:
    kind: AnyKind = model.bases[" ".join(sorted(node.type.names))]
    assert isinstance(kind, Integer | Floating)
    return kind
