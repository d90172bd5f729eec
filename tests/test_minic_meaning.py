"""What changes the meaning of a C program: refused if it is not modelled."""

from __future__ import annotations

import pytest
from test_minic import claims, ends, main, read

from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c

__all__ = ["read"]


@pytest.mark.parametrize(
    ("directive", "message"),
    [
        ("#define NDEBUG", "2: NDEBUG leaves out every assert"),
        ("#pragma pack(1)", "2: #pragma pack changes the layout"),
    ],
)
def test_directives_that_change_the_meaning_are_refused(tmp_path, directive, message):
    path = tmp_path / "a.c"
    path.write_text(f"#include <assert.h>\n{directive}\nint main(void) {{ assert(1); }}\n")
    with pytest.raises(SpecError, match=message):
        read_c(str(path), "c")


def test_the_version_of_the_language_is_known(read):
    program = read("int r; int main(void) {\n#if __STDC_VERSION__ >= 199901L\n r = 1;\n#else\n r = 2;\n#endif\n}")
    assert ends(program) == 1


@pytest.mark.parametrize(
    ("parameter", "argument", "is_refused"),
    [("int", "0.5", True), ("int", "1L << 32", True), ("unsigned char", "256", True), ("int", "1 < 2", False)],
)
@pytest.mark.parametrize("name", ["__VERIFIER_assert", "__VERIFIER_assume"])
def test_conditions_that_lose_their_value_as_parameters_are_refused(tmp_path, name, parameter, argument, is_refused):
    path = tmp_path / "a.c"
    path.write_text(f"extern void {name}({parameter} c);\nint main(void) {{ {name}({argument}); }}\n")
    if not is_refused:
        read_c(str(path), "c")
        return
    with pytest.raises(SpecError, match=r"a.c:2: .* loses its value as"):
        read_c(str(path), "c")


# Order of evaluation

ORDER = "int g, r, a[3];\nint f(void) { return ++g; }\nint id(int x) { int y = x; return y; }\n"
ORDER += "int sub(int x, int y) { return x - y; }\nint inner(int x) { return x + (x = 3); }\n"
ORDER += "struct { int x, y; } s, t; char u[4], v[4] = \"ab\"; int copy(void) { strcpy(u, v); return 1; }\n"


def undefined(statement):
    return statement, "no unordered effects, line 8"


def unknown(statement):
    return statement, "no dependence on the order of calls, line 8"


@pytest.mark.parametrize(
    ("statement", "end"),
    [
        undefined("r = g++ + g;"),
        undefined("r = g + (g = 5);"),
        undefined("g = 1; a[g] = g++;"),
        undefined("r = sub(g, g++);"),
        undefined("r += (r = 2) + 1;"),
        undefined("r = r++;"),
        undefined("r = (r = 1) + 1;"),
        undefined("r = 3 && (r = 2);"),
        undefined("r = g ? 1 : r++;"),
        undefined("r = (1, r++);"),
        undefined("s.x = s.x++;"),
        undefined("a[g] = a[g]++;"),
        undefined("a[g] = a[0] + ++a[g];"),
        undefined("s = t, r = s.x + s.x--;"),
        ("r = inner(2) + id(2);", "no unordered effects, line 5"),
        undefined("int *p = a; p += 1; r = *p++ + *p;"),
        unknown("r = g + f() * 10;"),
        unknown("r = f() - f() * 10;"),
        unknown("a[f()] = f();"),
        unknown("g += f();"),
        unknown("a[g] = f();"),
        unknown("r = sub(f(), f());"),
        unknown("r = copy() + strlen(u);"),
        unknown("r = (g = 1, a[g]++, g = 2, 1) + a[r];"),
        ("r = id(1) + id(2) * id(3);", 7),
        ("r = f() + 1, r += g;", 3),
        ("r = f() && g == 1 ? g : 7;", 1),
        ("g = f(); r = g;", 1),
        ("r = (r++, r + 1);", 2),
        ("r = (g++, g) + 1;", 2),
        ("r = id(r++);", 0),
        ("r = r++ && r;", 0),
        ("r = s.x++ + s.y + ++t.x;", 1),
        ("r = a[0]++ + ++a[1] + a[2]--;", 1),
        ("r = sub(g++, 3) + sub(2, r++);", -1),
    ],
)
def test_what_C_does_not_order_is_undefined_or_unknown(read, statement, end):
    assert ends(read(f"{ORDER}int main(void) {{\n  {statement}\n}}\n")) == end


def test_elements_that_may_be_the_same_are_a_claim(read):
    cfa = read(main("int i = nondet_int(), j = nondet_int(), a[3] = {0}; r = a[i] + ++a[j];"))
    assert ends(cfa, 1, 1) == "no unordered effects, line 1" and ends(cfa, 1, 2) == 1


def test_nothing_inside_of_calls_in_any_order_is_decided(tmp_path):
    text = "int g;\nint one(void) { g = 1; return 0; }\nint two(void) {\n  assert(g == 1);\n  return 0; }\n"
    path = tmp_path / "a.c"
    path.write_text(text + "int main(void) {\n  assert(g == 0);\n  one() + two();\n  assert(g == 1);\n}\n")
    cfa, _ = read_c(str(path), "c")
    (end,) = [e for e in cfa.errors if e.limit is not None]
    assert end.name == "no dependence on the order of calls, line 8"
    assert end.limit.hidden == ("assert, line 4", "no overflow, line 8", "assert, line 9")
    assert "whether g is changed before or after it is used; write two statements" in end.limit.reason
    assert claims(cfa)[0] == "assert, line 7"


def test_the_variable_whose_order_is_open_is_named(tmp_path):
    path = tmp_path / "a.c"
    path.write_text("int main(void) { int x = 1;\n  x = x++ + 1;\n}\n")
    _, warnings = read_c(str(path), "c")
    assert warnings == ("a.c:2: x is changed and used in no order that C defines; write two statements",)
