"""Data models: sizes, conversions and constants are those of a compiler for the target."""

from __future__ import annotations

import platform
import random
import re
import subprocess

import pytest
from c_harness import have
from minic_runs import outcome

from streamcheck.c.kinds import Integer
from streamcheck.c.models import AVR, MODELS
from streamcheck.c.predefined import predefined_macros
from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c

TARGETS = {
    "LP64": ["--target=x86_64-linux-gnu"],
    "ILP32": ["--target=i686-linux-gnu"],
    "LLP64": ["--target=x86_64-w64-mingw32"],
    "cortex-m": ["--target=thumbv7m-none-eabi", "-fshort-enums"],
    "avr": ["--target=avr", "-mmcu=atmega328p"],
}
TYPES = (
    "char;signed char;unsigned char;short;unsigned short;int;unsigned;long;unsigned long;long long;unsigned long long"
)
LAYOUTS = [
    "struct a { char c; long long x; char d; }",
    "struct b { char c; double x; int s; }",
    "struct d { char c; long x; } ",
    "struct e { char c; void *p; char t[3]; }",
    "union u { char c[5]; int i; long l; }",
    "enum small { A1, B1 }",
    "enum large { A2 = -1, B2 = 300 }",
    "enum huge { A3 = 70000 }",
]


def accepts(model, text, folder):
    """The compiler takes the assertions of the text, and so does the reader."""
    file = folder / "a.c"
    file.write_text(text + "int main(void) { return 0; }\n")
    command = ["clang", *TARGETS[model], "-w", "-std=gnu11", "-ffreestanding", "-fwrapv", "-fsyntax-only", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    read_c(str(file), "c", None, model)


def values(model, expressions, folder):
    """What the compiler computes for constant expressions of type `unsigned long long`."""
    file = folder / "v.c"
    file.write_text("".join(f"unsigned long long v{i} = {text};\n" for i, text in enumerate(expressions)))
    command = ["clang", *TARGETS[model], "-w", "-std=gnu11", "-ffreestanding", "-fwrapv", "-S", "-emit-llvm", "-O0"]
    done = subprocess.run([*command, "-o", "-", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    lines = [line for line in done.stdout.splitlines() if line.startswith("@v")]
    found = {line.split()[0]: int(line.split("i64 ")[1].split(",")[0]) % 2**64 for line in lines}
    return [found[f"@v{i}"] for i in range(len(expressions))]


@pytest.mark.skipif(not have("clang"), reason="clang is not here")
@pytest.mark.parametrize("model", list(MODELS))
def test_sizes_and_layouts_are_those_of_the_compiler(model, tmp_path):
    wanted = [*TYPES.split(";"), "float", "double", "void *", "size_t", "ptrdiff_t"]
    declared = "".join(f"{text};\n" for text in LAYOUTS) + "#include <stddef.h>\n"
    named = [text.split(" {")[0] for text in LAYOUTS]
    texts = [f"sizeof({t})" for t in [*wanted, *named]] + [f"_Alignof({t})" for t in [*TYPES.split(";"), *named]]
    if model == "avr":  # clang aligns them to 2 bytes there, avr-gcc does not
        texts = [text for text in texts if text not in ("_Alignof(short)", "_Alignof(unsigned short)")]
    if model != "avr":  # as avr-gcc 12 has it: clang has 32 bits there
        declared += "struct ld { char c; long double d; int x; };\nunion lu { long double d; int x[5]; };\n"
        texts += [f"{size}({t})" for size in ("sizeof", "_Alignof") for t in ("long double", "struct ld", "union lu")]
        texts += ["offsetof(struct ld, x)"]
    texts += ["offsetof(struct a, d)", "offsetof(struct b, s)", "offsetof(struct d, x)", "offsetof(struct e, t)"]
    texts += ["(char)200 < 0", "'\\xff' < 0", "sizeof('a')", "sizeof(1L + 1u)", "sizeof(40000)", "sizeof(70000)"]
    file = tmp_path / "v.c"
    file.write_text(declared + "".join(f"unsigned long long v{i} = {text};\n" for i, text in enumerate(texts)))
    command = ["clang", *TARGETS[model], "-w", "-ffreestanding", "-S", "-emit-llvm", "-o", "-", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    found = [line.split("i64 ")[1].split(",")[0] for line in done.stdout.splitlines() if line.startswith("@v")]
    assert len(found) == len(texts)
    pairs = zip(texts, found, strict=True)
    accepts(
        model, declared + "".join(f'_Static_assert(({t}) == {v}, "{i}");\n' for i, (t, v) in enumerate(pairs)), tmp_path
    )


def expression(r, depth):
    if depth == 0 or r.random() < 0.1:
        literal = r.choice([0, 1, 2, 3, 7, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1])
        return f"({r.choice(TYPES.split(';'))}){literal}{r.choice(['', '', 'u', 'l', 'll', 'ul'])}"
    a, b = expression(r, depth - 1), expression(r, depth - 1)
    shape = r.choice("bbbbcuts")
    if shape == "b":
        return f"({a} {r.choice(['+', '-', '*', '&', '|', '^', '<', '==', '>='])} {b})"
    if shape == "c":
        return f"({r.choice(TYPES.split(';'))}){a}"
    if shape == "u":
        return f"({r.choice('~!-')}{a})"
    return f"({a} ? {a} : {b})" if shape == "t" else f"({a} >> ({b} & 7))"


@pytest.mark.skipif(not have("clang"), reason="clang is not here")
@pytest.mark.parametrize("model", list(MODELS))
def test_random_constants_are_those_of_the_compiler(model, tmp_path):
    """Promotions, the usual conversions, the types of literals, and the width of every result."""
    r = random.Random(f"models {model}")
    texts = [expression(r, 4) for _ in range(300)]
    texts = [f"(unsigned long long)({t})" for t in texts] + [f"sizeof({t})" for t in texts]
    pairs = zip(texts, values(model, texts, tmp_path), strict=True)
    body = "".join(f'_Static_assert(({t}) == {v}ull, "{i}");\n' for i, (t, v) in enumerate(pairs))
    accepts(model, body, tmp_path)


OF_COMPILER = ("limits.h", "stdint.h", "float.h", "stddef.h", "stdbool.h")
OF_LIBRARY = ("stdlib.h", "stdio.h", "math.h", "wchar.h", "signal.h", "time.h", "sys/types.h")


@pytest.mark.skipif(not have("clang"), reason="clang is not here")
@pytest.mark.skipif(platform.machine() != "x86_64" or platform.libc_ver()[0] != "glibc", reason="other headers")
@pytest.mark.parametrize("model", list(MODELS))
def test_constants_and_types_are_those_of_the_headers(model, tmp_path):
    """Of LP64 those of this machine; of others the values and widths that the compiler's own headers have."""
    whole = model == "LP64"
    text = "".join(f"#include <{name}>\n" for name in [*OF_COMPILER, *OF_LIBRARY * whole])
    for name, (value, kind) in MODELS[model].constants.items():
        if isinstance(kind, Integer):
            shown = f"({value + 1} - 1)" if kind.signed else f"{value}u"
            same = f"{name} == {shown}" + f" && sizeof({name}) == {kind.width // 8}" * whole
            text += f'#ifdef {name}\n_Static_assert({same}, "");\n#endif\n'
    for name, kind in MODELS[model].typedefs.items():
        if whole or ("int" in name and "fast" not in name and name != "wint_t"):
            text += f'_Static_assert(sizeof({name}) == {max(kind.width // 8, 1)}, "");\n'
            text += f'_Static_assert((({name})-1 < 0) == {int(kind.signed)}, "");\n'
    (tmp_path / "a.c").write_text(text)
    flags = [*TARGETS[model], *["-msse2"] * (model == "ILP32"), *["-ffreestanding"] * (not whole)]
    command = ["clang", *flags, "-w", "-std=gnu11", "-fsyntax-only", "a.c"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[:2000]


@pytest.mark.skipif(not have("gcc"), reason="gcc is not here")
@pytest.mark.parametrize(("model", "flags"), [("LP64", []), ("ILP32", ["-m32"])])
def test_predefined_macros_are_those_of_gcc(model, flags):
    out = subprocess.run(
        ["gcc", "-std=gnu17", *flags, "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True
    )
    names = dict(re.findall(r"#define (\w+)(?:\([^)]*\))? ?(.*)", out.stdout))
    for name, macro in predefined_macros(MODELS[model]).items():
        if name.startswith(("__FLT", "__DBL", "__GNUC", "__VERSION", "__WINT_MIN")) or name == "__code_model_small__":
            continue
        assert name in names, name
        if macro.parameters is None:
            assert "".join(t.text for t in macro.body) == names[name].replace(" ", ""), name


def test_a_program_means_what_its_model_says(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("int main(void) { unsigned char a = 200, b = 200; int s = a * b; assert(s > 0); long l = s; }\n")
    claims = {model: [e.name for e in read_c(str(file), "c", None, model)[0].errors] for model in MODELS}
    assert claims["avr"] == ["no overflow, line 1", "assert, line 1"]  # 40000 does not fit 16 bits
    assert claims["LP64"] == claims["ILP32"] == ["assert, line 1"]
    assert AVR.DOUBLE.width == 32


def test_a_headers_types_follow_the_model(tmp_path):
    file = tmp_path / "a.c"
    text = "#include <stdint.h>\n#include <limits.h>\n"
    text += '_Static_assert(sizeof(int64_t) == 8 && sizeof(int_least16_t) == 2, "");'
    file.write_text(text + '_Static_assert(INT16_MAX == 32767 && UINT32_MAX == 0xffffffffu, "");int main(void) {}\n')
    for model in MODELS:
        read_c(str(file), "c", None, model)
    file.write_text("#if __SIZEOF_LONG__ != 4\n#error long\n#endif\nint main(void) {}\n")
    read_c(str(file), "c", None, "ILP32")
    with pytest.raises(SpecError, match="#error long"):
        read_c(str(file), "c")


WIDE = """
typedef unsigned __int128 u128;
unsigned long r;
int main(void) {
  long n = __VERIFIER_nondet_long();
  u128 x = (u128)n * (u128)n, k = ((__uint128_t)0xFFEEDDCCBBAA9988ULL << 64) | 7;
  __int128 y = n; y = y * n - 1; signed __int128 z = -y >> 3;
  union { __uint128_t x; unsigned char c[sizeof(__int128_t)]; struct { unsigned long a, b; } p; } t;
  t.x = k + x;
  r = (unsigned long)(x >> 64) * 31 + (unsigned long)y + (unsigned long)(z >> 60) * 7 + t.c[15] + t.p.b;
  r += (y < 0) + (x > (u128)-1 / 3) + (unsigned long)(k % 1000003) + sizeof(y) + _Alignof(u128);
  r += (unsigned long)((k ^ x) / 12345678912345) + (y > (__int128)-1UL) + sizeof(y + x);
  r += (-1 < (u128)1) + (long)((float)x > 1e18f);
  return 0;
}
"""


@pytest.mark.skipif(not have("gcc"), reason="gcc is not here")
def test_integers_of_128_bits_are_as_compiled(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(WIDE)
    head = "#include <stdio.h>\n#include <stdlib.h>\nchar **v;\n#define __VERIFIER_nondet_long() atol(v[1])\n"
    text = WIDE.replace("main(void) {", "main(int count, char **words) { v = words;")
    (tmp_path / "b.c").write_text(head + text.replace("return 0;", 'printf("%ld", (long)r); return 0;'))
    subprocess.run(["gcc", "-w", "-O1", str(tmp_path / "b.c"), "-o", str(tmp_path / "b")], check=True)
    cfa, _ = read_c(str(file), "c")
    for n in (0, 1, 5, -3, 1 << 62, -(1 << 63), 123456789123456):
        shown = subprocess.run([str(tmp_path / "b"), str(n)], capture_output=True, text=True).stdout
        assert outcome(cfa, [n], ["r"]) == shown
    with pytest.raises(SpecError, match="__int128"):
        read_c(str(file), "c", data_model="ILP32")
