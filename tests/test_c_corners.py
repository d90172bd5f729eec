"""Corners of C's semantics that larger programs seldom meet: what is refused there, and what is computed."""

from __future__ import annotations

import pytest
from minic_runs import walk

from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c


def result(text, folder):
    """The value of `r` at the end."""
    path = folder / "a.c"
    path.write_text("#include <string.h>\nint r;\n" + text)
    cfa, _ = read_c(str(path), "c")
    at, values = walk(cfa, [0])
    return at if at in cfa.bad else next(value for v, value in values.items() if v.payload == "r")


COUNTED = "static int n; int nondet_int(void) { n = n * 2 + 1; return n; } "
SYNTAX = "a syntax error, or C that is not supported: an expression cannot begin with"
REFUSED = {
    "struct b; struct a { struct b x; }; int main(void) { }": "the field x has a type that is not complete here",
    "struct a { struct b x[2]; }; int main(void) { }": "the field x has a type that is not complete here",
    "int main(void) {\nr = 3 + ; }": f"a.c:4: {SYNTAX} ;",
    "int main(void) {\nr = f(\n,); }": f"a.c:5: {SYNTAX} ,",
}
COMPUTED = {
    COUNTED + "int main(void) {\nr = nondet_int() - nondet_int(); }": "no dependence on the order of calls, line 4",
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
