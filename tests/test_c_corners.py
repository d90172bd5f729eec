"""Corners of C's semantics that larger programs seldom meet: what is refused there, and what is computed."""

from __future__ import annotations

import subprocess

import pytest
from c_harness import have
from minic_runs import walk

from streamcheck.c.kinds import FLOATING_CONSTANTS, Integer
from streamcheck.c.models import LP64
from streamcheck.c.preprocess import preprocess, read_file
from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c


def result(text, folder):
    """The value of `r` at the end."""
    path = folder / "a.c"
    path.write_text("#include <stdio.h>\n#include <stdlib.h>\nint r;\n" + text)
    cfa, _ = read_c(str(path), "c")
    at, values = walk(cfa, [0])
    return at if at in cfa.bad else next(value for v, value in values.items() if v.payload == "r")


COUNTED = "static int n; int nondet_int(void) { n = n * 2 + 1; return n; } "
SYNTAX = "a syntax error, or C that is not supported: an expression cannot begin with"
REFUSED = {
    "struct b; struct a { struct b x; }; int main(void) { }": "the field x has a type that is not complete here",
    "struct a { struct b x[2]; }; int main(void) { }": "the field x has a type that is not complete here",
    "int main(void) {\nr = 3 + ; }": f"a.c:5: {SYNTAX} ;",
    "int main(void) {\nr = f(\n,); }": f"a.c:6: {SYNTAX} ,",
}
COMPUTED = {
    "int main(void) { r = EXIT_FAILURE * 100 + EXIT_SUCCESS * 10 - EOF; }": 101,
    COUNTED + "int main(void) {\nr = nondet_int() - nondet_int(); }": "no dependence on the order of calls, line 5",
    COUNTED + "int main(void) { r = nondet_int(); r = r * 10 + nondet_int(); }": 13,
    "struct a { struct { int y; } x; struct b { int z; } w[2]; };"
    " int main(void) { struct a s; s.x.y = 3; s.w[1].z = 4; r = s.x.y + s.w[1].z; }": 7,
    "struct b { int z; }; struct a { struct b x; struct a *next; };"
    " int main(void) { struct a s; s.x.z = 5; r = s.x.z; }": 5,
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text, tmp_path):
    with pytest.raises(SpecError) as why:
        result(text, tmp_path)
    assert REFUSED[text] in str(why.value)


@pytest.mark.parametrize("text", COMPUTED)
def test_what_is_computed(text, tmp_path):
    assert result(text, tmp_path) == COMPUTED[text]


@pytest.mark.parametrize("name", ["elif 1", "else", "endif"])
def test_branches_without_a_condition(name):
    with pytest.raises(SpecError, match=f"an #{name.split()[0]} without an #if"):
        preprocess("a.c", {"a.c": f"int x;\n#{name}\n"}.get, portable=True)


def test_files_that_are_none(tmp_path):
    (tmp_path / "a.h").write_text("\ufeffint x;", encoding="utf-8")
    assert read_file(str(tmp_path / "a.h")) == "int x;" and read_file(str(tmp_path / "b.h")) is None
    assert read_file("a\0b") is None
    with pytest.raises(SpecError, match="is a directory, not a file"):
        read_file(str(tmp_path))
    with pytest.raises(SpecError, match="/dev/null is a device, not a file"):
        read_file("/dev/null")


HEADERS = "float limits math stdbool stdint stdio stdlib"


@pytest.mark.skipif(not have("gcc"), reason="gcc is not installed")
def test_macros_of_the_headers_are_gcc_s(tmp_path):
    """The value, the width and the sign of each macro that stands for a constant."""
    wholes = {name: row for name, row in LP64.constants.items() if isinstance(row[1], Integer)}
    lines = [
        *(f'W({name}, "{name}", "%lld")' for name in wholes if name.isidentifier()),
        *(f'F({name}, "{name}", "%a")' for name in FLOATING_CONSTANTS),
    ]
    shown = '#define W(x, name, form) printf(name " " form " %zu %d\\n", (long long)(x), sizeof(x) * 8, SIGNED(x));\n'
    shown += "#define SIGNED(x) ((__typeof__(x))-1 < 0)\n"
    shown += '#define F(x, name, form) printf(name " " form " %zu 1\\n", (double)(x), sizeof(x) * 8);\n'
    includes = "".join(f"#include <{name}.h>\n" for name in HEADERS.split())
    (tmp_path / "a.c").write_text(
        f"#define _GNU_SOURCE\n{includes}{shown}int main(void) {{\n{chr(10).join(lines)}\n}}\n"
    )
    subprocess.run(["gcc", "-w", "-std=gnu11", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    out = subprocess.run(["./a"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    rows = {name: rest for name, *rest in map(str.split, out.splitlines())}
    assert len(rows) == len(lines) > 70
    for name, (value, width, sign) in rows.items():
        if name in FLOATING_CONSTANTS:
            expected, kind = FLOATING_CONSTANTS[name]
            assert str(float.fromhex(value)) == str(expected) and int(width) == kind.width, name
        else:
            expected, kind = wholes[name]
            assert int(value) % (1 << 64) == expected % (1 << 64), name
            assert (int(width), bool(int(sign))) == (kind.width, kind.signed) or name in ("true", "false"), name
