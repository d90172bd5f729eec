"""Unions: members share their bytes, as compiled ones do."""

from __future__ import annotations

import subprocess

import pytest
from c_harness import have
from minic_runs import outcome

from streamcheck.core.errors import SpecError
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


def test_floats_and_pointers_in_unions_are_refused_where_they_are_used(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("union u { float f; int i; } x; int main(void) { x.i = 3; assert(x.i == 3); }")
    read_c(str(file), "c")
    file.write_text("union u { float f; int i; } x; int main(void) {\n x.f = 3; }")
    with pytest.raises(SpecError, match=r"a\.c:2: float in a union: only its integers are supported"):
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
