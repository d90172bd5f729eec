"""Unions: members share their bytes, as compiled ones do."""

from __future__ import annotations

import random
import subprocess

import pytest
from c_harness import have
from minic_runs import outcome
from test_renderings import any_of, script_of

from streamcheck.api.files import load
from streamcheck.certify.bitwise import Bitwise, Unrenderable
from streamcheck.certify.evaluate import apply
from streamcheck.certify.remainders import Remainders
from streamcheck.certify.solvers import bitwuzla
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.floats import identical
from streamcheck.core.term import constant, term
from streamcheck.core.types import machine
from streamcheck.frontends.minic.read import read_c

PROGRAMS = [
    "union u { unsigned i; unsigned char c[4]; unsigned short s[2]; } x;"
    " unsigned r; int main(void) { x.i = 0x01020304u; r = x.c[1] * 256u + x.s[1]; return 0; }",
    "union u { int i; signed char c[4]; } x; int r; int main(void) { x.i = 0; x.c[3] = -1; r = x.i; return 0; }",
    "union u { struct { short a, b; } s; int i; } x, y; int r;"
    " int main(void) { x.s.a = -2; x.s.b = 7; y = x; y.s.a++; r = y.i ^ x.i; return 0; }",
    "struct t { int tag; union { int i; unsigned char c[4]; }; } x; int r;"
    " int main(void) { x.tag = 3; x.i = 0x7f000001; x.c[0] += 5; r = x.i + x.tag; return 0; }",
    "union u { unsigned char c[3]; unsigned short s; } a[2]; int r;"
    " int main(void) { int k = 1; a[k].s = 0xabcd; a[0].c[k + 1] = 9; r = a[1].c[k] * 1000 + a[0].c[2]; return 0; }",
    "union u { int i; unsigned char c[4]; } x = { 258 }, y = { .c = { 1, 2, 3, 4 } }; int r;"
    " int main(void) { r = x.c[1] + y.i; return 0; }",
    "union u { long long l; struct { int low; int high; } p; } x; int r;"
    " int main(void) { x.l = -5; struct { int low; int high; } *q; x.p.high = 3; r = (int)(x.l >> 30); return 0; }",
    "#include <string.h>\nunion u { double d; unsigned w[2]; float f[2]; } x, y; int r; int main(void) {"
    " memset(&x, 0x40, sizeof x); y = x; x.f[1] *= 2; r = x.w[1] + (x.d > 0) + y.w[0]; return 0; }",
    "union u { _Bool b; unsigned char c; } x; int r; int main(void) { x.b = 7; r = x.c; return 0; }",
]


@pytest.mark.skipif(not have("gcc", "clang"), reason="gcc and clang are not here")
@pytest.mark.parametrize("text", PROGRAMS)
def test_unions_are_as_compiled(tmp_path, text):
    file = tmp_path / "a.c"
    file.write_text(text)
    found = outcome(read_c(str(file), "c")[0], [0], ["r"])
    for compiler in ("gcc", "clang"):
        shown = text.replace("return 0;", 'printf("%lld", (long long)r); return 0;')
        (tmp_path / "b.c").write_text("#include <stdio.h>\n" + shown)
        subprocess.run([compiler, "-w", "-O2", str(tmp_path / "b.c"), "-o", str(tmp_path / "b")], check=True)
        assert subprocess.run([str(tmp_path / "b")], capture_output=True, text=True).stdout == found


FLOATS = "union f { float f; unsigned u; unsigned char c[4]; unsigned short s[2]; } x[2] = { { 1.5f }, { .u = 7 } };"
FLOATS += " struct t { int tag; union { double d; unsigned long l; struct { float a, b; } p; float v[2]; }; } y, z;"
FLOATS += " float f0 = -0.0f, f1 = 0.1f; double d0 = 1e300; unsigned long r; int k = 1;"
NUMBERS = "f0 f1 d0 x[0].f x[1].f x[k].f y.d y.p.a y.p.b y.v[k] y.v[0] z.d".split()
WORDS = "x[0].u x[k].u x[1].c[3] x[0].c[k] x[k].s[1] y.l z.l".split()
CONSTANTS = "0.0f -0.0f 1e-45f 3e38f 1e39 5e-324 0.5 -2.25f 1.0/3 16777217.0 1e-310".split()


def union_program(seed):
    """Floats and bits, in turn. No NaN is stored: which one it would be is open."""
    rng = random.Random(seed)

    def number(depth=2):
        if depth == 0:
            return rng.choice([*NUMBERS, *CONSTANTS])
        return f"({number(depth - 1)} {rng.choice('+-*/')} {number(depth - 1)})"

    def word():
        return rng.choice([rng.choice(WORDS), hex(rng.getrandbits(32)), f"({rng.choice(WORDS)} {rng.choice('+^&')} 9)"])

    lines = []
    for i in range(12):
        if rng.random() < 0.5:
            to = rng.choice(NUMBERS)
            lines.append(f"{{ double n{i} = {number()}; {to} = n{i} == n{i} ? n{i} : 1; }}")
        else:
            lines.append(f"{rng.choice(WORDS)} {rng.choice(['=', '^=', '+='])} {word()};")
        lines.append(
            rng.choice(["z = y;", "x[0] = x[k];", "k = !k;", "y.tag = f0 < x[k].f;", "float *q = &x[k].f; *q = 2;"])
        )
        lines[-1] = f"{{ {lines[-1]} }}"
        lines.append("r = r * 31 + (x[k].f < f1) + 2 * (y.d == d0) + 4 * (y.p.b > 0) + 8 * (x[0].f != x[0].f);")
        lines.append("r = r * 31 + x[0].u + x[1].u + y.l + z.l + y.tag;")
    return FLOATS + " int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }"


@pytest.mark.skipif(not have("gcc", "clang"), reason="gcc and clang are not here")
@pytest.mark.parametrize("seed", range(4))
def test_floats_in_unions_are_as_compiled(tmp_path, seed):
    file = tmp_path / "a.c"
    file.write_text(union_program(seed))
    found = outcome(read_c(str(file), "c")[0], [0], ["r"])
    for compiler in ("gcc", "clang"):
        shown = file.read_text().replace("return 0;", 'printf("%lld", (long long)r); return 0;')
        (tmp_path / "b.c").write_text("#include <stdio.h>\n" + shown)
        options = ["-w", "-O1", "-ffp-contract=off"]
        subprocess.run([compiler, *options, str(tmp_path / "b.c"), "-o", str(tmp_path / "b")], check=True)
        assert subprocess.run([str(tmp_path / "b")], capture_output=True, text=True).stdout == found


def test_pointers_in_unions_are_refused_where_they_are_used(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("union u { int *p; int i; } x; int main(void) { x.i = 3; assert(x.i == 3); }")
    read_c(str(file), "c")
    file.write_text("union u { int *p; int i; } x; int main(void) {\n x.p = 0; }")
    with pytest.raises(SpecError, match=r"a\.c:2: int \* in a union: only its integers and floats are supported"):
        read_c(str(file), "c")


def test_a_union_needs_machine_integers(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("union u { int i; char c; } x; int main(void) { x.i = 3; }")
    with pytest.raises(SpecError, match="needs machine integers; use --int c"):
        read_c(str(file), "math")


def test_arrays_of_structs_beside_unions_and_in_them(tmp_path):
    file = tmp_path / "a.c"
    parts = "struct b { char z; short y; }; union u { struct { struct b w[2]; } s; unsigned long l; } u, v; int r;\n"
    file.write_text(
        parts + "int main(void) { struct { struct b w[2]; } s; s.w[1].y = 3; u.s.w[1].y = 4;\n"
        "  r = s.w[1].y * 10 + u.s.w[1].y; }\n"
    )
    assert outcome(read_c(str(file), "c")[0], [0], ["r"]) == "34"
    file.write_text(parts + "int main(void) { v.s = u.s; }\n")
    with pytest.raises(SpecError, match="an array of structs in a union, as a whole"):
        read_c(str(file), "c")


@pytest.mark.parametrize("width", [32, 64])
def test_the_checker_reads_bits_as_floats_as_the_table_does(width):
    """Corners of both formats, and random bits."""
    rng, fraction = random.Random(width), {32: 23, 64: 52}[width]
    corners = [sign << width - 1 | e << fraction | f for sign in (0, 1) for e in (0, 1, 127) for f in (0, 1, 5)]
    corners += [rng.getrandbits(width) for _ in range(20)]
    corners += [(1 << width) - 1, (1 << width - 1) - (1 << fraction), (1 << width) - (1 << fraction)]
    words = [
        constant(machine(width, signed=False), b) for b in (*corners, *(rng.getrandbits(width) for _ in range(20)))
    ]
    reads = [term("float_of_bits", word) for word in words]
    found = [apply(read, [word.payload]) for read, word in zip(reads, words, strict=True)]
    assert all(identical(value, value_of(read, {})) for read, value in zip(reads, found, strict=True))
    wrong = [term("not", term("same", r, constant(r.type, v))) for r, v in zip(reads, found, strict=True)]
    script = script_of(any_of(wrong), Bitwise)
    assert bitwuzla(script.text(), 60.0) is True
    with pytest.raises(Unrenderable):
        script_of(any_of(wrong), Remainders)


def test_claims_about_bits_of_floats_are_proved_and_checked(tmp_path):
    file = tmp_path / "a.c"
    text = "union u { float f; unsigned i; } x; float nondet_float(void);\nint main(void) { x.f = nondet_float();\n"
    text += "  assert(x.f == x.f || (x.i & 0x7fffffff) > 0x7f800000);\n  assert(x.i != 0xff812345);\n"
    text += "  float old = x.f; x.i ^= 1u << 31;\n  assert(x.f == -old || old != old);\n  return 0; }"
    file.write_text(text)
    verdicts = [r.verdict for r in load(str(file)).prove(timeout=300)]
    assert verdicts == ["proved", "falsified", "proved"]  # a NaN is any NaN


DECLARED = (
    "struct s { char c; long double d; int x; } a; long double unused; union u { long double d; int i; };"
    " int main(void) { a.x = 3; struct s t = a; assert(t.x == 3 && sizeof t == 48 && sizeof(long double) == 16);"
)


def test_long_double_is_refused_only_where_its_value_matters(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(DECLARED + "}")
    assert [r.verdict for r in load(str(file)).prove(timeout=300)] == ["proved"]
    for use in (
        "union u b; b.i = 3;",
        "a.d = 1;",
        "unused = t.x;",
        "t.x = (long double)t.x;",
        "t.x = unused > 0;",
        "t.x = 1.5L;",
    ):
        file.write_text(f"{DECLARED}\n{use} }}")
        with pytest.raises(SpecError, match=r"a\.c:2: .*long double.* is not supported"):
            read_c(str(file), "c")


@pytest.mark.parametrize("name", ["memcpy", "memmove"])
def test_arrays_that_share_bytes_of_a_union_are_copied_as_compiled(tmp_path, name):
    file = tmp_path / "a.c"
    file.write_text(
        "union { unsigned char c[8]; struct { unsigned char p[2], q[6]; } s; } x; int r;\nint main(void) {"
        f" for (int i = 0; i < 8; i++) x.c[i] = i;\n {name}(x.s.p, x.s.q, 2);\n {name}(x.c, x.s.q, 6);\n"
        " r = x.c[1] * 10 + x.c[5]; }\n"
    )
    wanted = {"memcpy": "no copy within a union, line 4", "memmove": "37"}
    assert outcome(read_c(str(file), "c")[0], [0], ["r"]) == wanted[name]


@pytest.mark.parametrize(
    ("copy", "wanted"),
    [
        ("memcpy(&y, &x, sizeof x);", "1"),
        ("memcpy(&y.f, &x.f, sizeof x.f);", "no copy of a NaN, line 3"),
        ("memcpy(&y.v, &x.v, sizeof x.v);", "no copy of a NaN, line 3"),
        ("memcpy(y.a, x.a, sizeof x.a);", "no copy of a NaN, line 3"),
        ("memcpy(&y.i, &x.i, sizeof x.i);", "1"),
        ("x.f = 2; memcpy(&y.f, &x.f, sizeof x.f); y.i += 0x3fc12345;", "1"),
    ],
)
def test_bytes_of_a_nan_are_copied_as_a_union_only(tmp_path, copy, wanted):
    file = tmp_path / "a.c"
    file.write_text(
        "#include <string.h>\nunion { float f; unsigned i; float a[1]; struct { float g; } v; } x = { .i = 0x7fc12345 }"
        f", y; int r; int main(void) {{\n {copy}\n r = y.i == 0x7fc12345; }}\n"
    )
    assert outcome(read_c(str(file), "c")[0], [0], ["r"]) == wanted


@pytest.mark.parametrize(("second", "wanted"), [("&x.u", "no call of f, line 3"), ("&y", "3")])
def test_restrict_counts_members_of_one_union_as_one_object(tmp_path, second, wanted):
    file = tmp_path / "a.c"
    file.write_text(
        "union { int i; unsigned u; } x; unsigned y; int r;\n"
        "int f(int *restrict p, unsigned *q) { *p = 3; *q = 5; return *p; }\n"
        f"int main(void) {{ r = f(&x.i, {second}); }}"
    )
    assert outcome(read_c(str(file), "c")[0], [0], ["r"]) == wanted
