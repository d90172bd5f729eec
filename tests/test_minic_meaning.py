"""What changes the meaning of a C program: refused if it is not modelled."""

from __future__ import annotations

import pytest
from minic_runs import walk
from test_minic import claims, ends, main, read

from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
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
ORDER += 'struct { int x, y; } s, t; char u[4], v[4] = "ab"; int copy(void) { strcpy(u, v); return 1; }'
ORDER += " int least(int x, int y) { if (y < x) x = y; return x; } int own(void) { static int x; return ++x; }"
ORDER += " union { int i; unsigned n; unsigned char c[4]; struct { short a, b; } h; } w, ws[2];"
ORDER += " int write(int k) { ws[k].i = 5; return 0; }\n"


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
        undefined("r = w.i++ + w.n;"),
        undefined("w.i = (w.n = 3) + 1;"),
        undefined("r = w.h.b + w.c[3]++;"),
        undefined("int k = 1; r = ws[1].i++ + ws[k].n;"),
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
        ("r = least(7, 2) + least(4, 5);", 6),
        ("r = sub(least(7, 2), least(4, 5));", -2),
        unknown("r = own() + own();"),
        unknown("r = ws[1].n + write(1);"),
        ("r = w.h.a++ + w.h.b + w.c[3];", 0),
        ("int k = 1; w.n = w.i + 2; r = ws[0].i++ + ws[k].n + w.c[0];", 2),
    ],
)
def test_what_C_does_not_order_is_undefined_or_unknown(read, statement, end):
    assert ends(read(f"{ORDER}int main(void) {{\n  {statement}\n}}\n")) == end


def test_a_parameter_whose_address_both_operands_have_is_one_object(read):
    up = "int up(int *p) { return ++*p; }\nint f(int x) {\n  return up(&x) + up(&x);\n}\n"
    cfa = read(up + "int main(void) { f(1); }\n")
    assert [e.name for e in cfa.errors if e.limit] == ["no dependence on the order of calls, line 3"]


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


# Lifetimes

DANGLING = """int *g, r;
int *local(void) { int x = 3; return &x; }
int *parameter(int a) { return &a; }
int *same(int *p) { return p; }
void keep(int v) { int x = v; g = &x; }
void once(int v) { int x = v; if (v == 1) g = &x; if (v == 2) r = *g; }
int main(void) {
"""


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("int *p = local(); r = *p;", "no dangling pointer, line 8"),
        ("r = parameter(1)[0];", "no dangling pointer, line 8"),
        ("if (local()) r = 1;", "no dangling pointer, line 8"),
        ("int *p; { int x = 3; p = &x; } r = *p;", "no dangling pointer, line 8"),
        ("int *p; { int a[2] = {1}; p = a; } p++;", "no dangling pointer, line 8"),
        ('char *p; { char t[] = "ab"; p = t; } r = strlen(p);', "no dangling pointer, line 8"),
        ("int *p; for (int i = 0; i < 1; i++) p = &i; *p = 1;", "no dangling pointer, line 8"),
        ("keep(4); r = *g;", "no dangling pointer, line 8"),
        ("local(); int x = 3, *p = same(&x); r = *p;", 3),
        ("int *p; { int x = 3; p = &x; r = *p; }", 3),
        ("int x = 5; g = &x; { int y = *g; r = y; }", 5),
    ],
)
def test_pointers_to_dead_variables_are_claims(read, body, end):
    assert ends(read(f"{DANGLING}  {body}\n}}\n")) == end


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("once(1); once(2);", 6),
        ("int *p; for (int i = 0; i < 2; i++) { int x = i; if (i == 0) p = &x; if (i == 1) r = *p; }", 8),
        ("int *p; for (int i = 0; i < 2; i++) switch (i) { int x; case 0: p = &x; break; case 1: r = *p; }", 8),
        ("int *p, i = 0; again: { int x; if (!i) p = &x; if (i++) goto in; goto again; in: *p = 1; }", 8),
    ],
)
def test_a_block_that_is_entered_again_has_new_variables(read, body, line):
    """A pointer to the old ones points anywhere."""
    cfa = read(f"{DANGLING}  {body}\n}}\n")
    p = next(c for e in cfa.edges for c in e.choices if c.payload.startswith(("p (", "g (")))
    assert f"valid pointer, line {line}" in claims(cfa)
    assert any(new is p for e in cfa.edges for _, new in e.updates)


def test_pointers_within_a_block_stay(read):
    cfa = read(f"{DANGLING} for (int i = 0; i < 2; i++) {{ int x = i, *p = &x; *p += 5; r = r * 10 + x; }} }}\n")
    assert ends(cfa) == 56 and not any(e.choices for e in cfa.edges)


# Arithmetic on pointers


@pytest.mark.parametrize(
    ("statement", "end"),
    [
        ("p += 70;", "pointer in bounds"),
        ("p = p - 1; p = p + 1; r = *p;", "pointer in bounds"),
        ("p--;", "pointer in bounds"),
        ("p = a + 4;", "pointer in bounds"),
        ("unsigned long n = -1; p++; r = p[n];", "pointer in bounds"),
        ("r = p < q;", "pointers into one object"),
        ("r = p - q;", "pointers into one object"),
        ("p = a + 3; r = p - a;", 3),
        ("p = &a[3]; p = &*p; r = p - &a[0];", 3),
        ("p = &a[4];", "pointer in bounds"),
        ("p = &a[2]; r = p[-2] + (p > a);", 8),
        ("for (p = a; p < a + 3; p++) r += *p;", 24),
    ],
)
def test_pointers_stay_in_their_object(read, statement, end):
    cfa = read(main(f"int a[3] = {{7, 8, 9}}, b[3], *p = a, *q = b;\n{statement}"))
    assert ends(cfa) == (f"{end}, line 2" if isinstance(end, str) else end)


def test_what_depends_on_the_sign_of_a_NaN_is_not_known(read):
    cfa = read("#include <math.h>\n" + main("double x = NAN;\nr = signbit(copysign(x, -1.0));"))
    (end,) = [e for e in cfa.errors if e.limit is not None]
    assert end.name == "no sign of a NaN, line 3" and end.limit.reason == "the sign of a NaN is not modelled"
    assert ends(cfa) == end.name
    assert ends(read("#include <math.h>\n" + main("double x = NAN; r = x == x && signbit(x);"))) == 0
    assert ends(read("#include <math.h>\n" + main("double x = -2; r = !!signbit(x) * 10 + !signbit(fabs(x));"))) == 11


# Layouts, extensions of compilers, and what is refused


@pytest.mark.parametrize(
    ("declaration", "expression", "value"),
    [
        ("struct __attribute__((packed)) s { char a; int b; short c; };", "sizeof(struct s) * 10", 70),
        ("struct s { char a; int b; short c; } __attribute__((packed));", "offsetof(struct s, c)", 5),
        ("struct s { char a; int b; } __attribute__((aligned(16)));", "sizeof(struct s)", 16),
        ("typedef struct { char a; double d; } __attribute__((packed, aligned(4))) t;", "sizeof(t)", 12),
        ("struct s { char a; struct { char x; long y[2]; } in; };", "offsetof(struct s, in.y[1])", 24),
        ("typedef int t __attribute__((aligned(4))); struct s { char a; t b; };", "sizeof(struct s)", 8),
        ("int x __attribute__((aligned(64)));", "sizeof x", 4),
        ("struct s { char a; } _Alignas(8) x;", "sizeof(struct s)", 1),
        ("_Alignas(8) struct s { char a; } x;", "sizeof(struct s)", 1),
        ("enum e { A = 1, B = 0x80000000u, C = 5000000000L, D };", "sizeof(enum e) * 10 + sizeof(A) + (D - C)", 85),
        ("enum e { A = -1, B = 2147483647 };", "sizeof(enum e)", 4),
        ("int f(void) { static int n = 2; return n++; }", "f() ?: 9", 2),
        ("", "(s ?: 2u) > -1", 0),
        ("int f(void) { return ++s; }", "s ?: f() ?: 7", 1),
        ("char t[] = \"b\\x41\" \"1\\2\" \"3\";", "sizeof t * 100 + t[1]", 665),
        ("", "sizeof(wchar_t) + __SIZEOF_LONG__ + __CHAR_BIT__", 20),
    ],
)  # fmt: skip
def test_layouts_and_extensions(read, declaration, expression, value):
    before = f"#include <stddef.h>\nint s; {declaration}\n"
    assert ends(read(f"{before}int r; int main(void) {{ r = {expression}; }}\n")) == value


@pytest.mark.parametrize(("value", "result"), [(0, 0), (1, 1), (4, 1), (5, 0), (-2, 3), (-5, 3), (-6, 0)])
def test_ranges_of_cases(read, value, result):
    body = "switch (nondet_int()) { case 1 ... 4: r = 1; break; case 6: r = 2; break; case -5 ... -2: r = 3; }"
    assert ends(read(main(body)), value) == result


def test_characters_in_conditions_of_the_preprocessor(read):
    text = "int r; int main(void) {\n#if 'a' == 97 && '\\n' == 10 && __INT_MAX__ == 0x7fffffff\n r = 1;\n#endif\n}\n"
    assert ends(read(text)) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) {\n int x;\n x = ;\n}", "a.c:3: a syntax error, or C that is not supported: an expr"),
        ("#include <setjmp.h>\njmp_buf e;\nint main(void) {\n setjmp(e); }", "a.c:4: e: the type jmp_buf is not"),
        ("int old(a) int a; { return a; }\nint main(void) {\n old(3); }", "a.c:3: old: parameters declared after"),
        ("struct s { int b __attribute__((aligned(8))); } x;\nint main(void) {\n sizeof x; }", "a.c:3: an attribute"),
        ("typedef int t __attribute__((aligned(8))); struct { t b; } x; int main(void) {\n sizeof x; }", "a.c:2: an"),
        ("struct s { struct { int a; } _Alignas(8) b; } x;\nint main(void) {\n sizeof x; }", "a.c:3: an attri"),
        ("struct s { _Alignas(8) int b; } x;\nint main(void) {\n sizeof x; }", "a.c:3: an attribute"),
        ("int main(void) {\n __typeof__(1) x; }", "a.c:2: __typeof__ is not supported"),
        ("int main(void) {\n _Pragma(\"pack(1)\") }", "a.c:2: #pragma pack changes the layout"),
    ],
)  # fmt: skip
def test_what_is_refused_has_its_line(read, text, message):
    with pytest.raises(SpecError) as error:
        read(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("__builtin_types_compatible_p(int, long);", "__builtin_types_compatible_p is not declared"),
        ('printf("ab%n", &r);', "printf may write to an object, by %n"),
        ('printf("%-*.3lln", &r);', "printf may write to an object, by %n"),
        ("printf(format, &r);", "printf may write to an object, by %n"),
    ],
)
def test_calls_that_are_not_modelled(read, call, reason):
    cfa = read(f"char format[3];\n{main(call)}")
    assert [e.limit.reason for e in cfa.errors if e.limit is not None] == [reason]
    assert claims(read(main('printf("%d%%n", s);'))) == []


STRUCT = "struct s { int a[3], b; } g; struct s mk(void) { return g; }\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x;\nint main(void) {\nint *restrict p = &x; }", "p: restrict is supported on parameters only"),
        ("int x;\n\nint *restrict p = &x; int main(void) { }", "p: restrict is supported on parameters only"),
        ("int f();\nint main(void) {\nf(1.5); }\nint f(int x) { return x; }", "f(1.5): x is int, not double"),
        ("int main(void) {\n\nf(1L); }\nint f(int x) { return x; }", "f(1L): x is int, not long"),
        ("int f();\nint main(void) { char c = 1;\nf(c); }\nint f(char x) { return x; }", "f(c): x is char, not char"),
        ("int f();\nint main(void) {\nf(1); }\nint f(int x, int y) { return x; }", "f takes 2 arguments, found 1"),
        (f"{STRUCT}int main(void) {{\nmk().a[0] = 5; }}", "mk().a[0] is a part of a value, not of a variable"),
        (f"{STRUCT}int main(void) {{\nmk().b++; }}", "mk().b is a part of a value"),
        (f"{STRUCT}int main(void) {{\nint *p = mk().a; }}", "p points into a value that ends here"),
        ("struct s { const int k; int j; } s;\nint main(void) {\n*(int *)&s.k = 5; }", "it is const"),
        ("struct s { const int k[2]; } s[2];\nint main(void) {\ns[1].k[0] = 5; }", "s[1].k[0] = 5: it is const"),
    ],
)  # fmt: skip
def test_what_c_leaves_undefined_is_refused(read, text, message):
    with pytest.raises(SpecError) as error:
        read(text)
    assert error.value.where.line == 3 and message in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "int r; int f(); int main(void) { r = f(3); } int f(int x) { return x; }",
        "int r; int f(int); int main(void) { r = f(3.5); } int f(int x) { return x; }",
        "int r; int main(void) { int f(int); r = f(3.5); } int f(int x) { return x; }",
        "int r; double f(); int main(void) { r = f(3.5f); } double f(double x) { return x; }",
        "int r; struct s { int a[3]; } g = {{1, 3}}; struct s mk(void) { return g; } int main(void) { r = mk().a[1]; }",
        "int r; struct s { const int k; int j; } s; int main(void) { s.j = 3; r = s.j + s.k; }",
    ],
)
def test_what_c_defines_is_not_refused(read, text):
    assert ends(read(text)) == 3


@pytest.mark.parametrize(
    ("call", "claim"),
    [
        ("return f(0);", ["a value is returned, line 3"]),
        ("int x = f(0) + 1; return 0;", ["a value is returned, line 3", "no overflow, line 3"]),
        ("f(0); return 0;", []),
        ("(void)f(0); return 0;", []),
        ("return g(0);", []),
    ],
)
def test_the_value_of_a_function_that_returns_none(read, call, claim):
    text = "int f(int x) { if (x) return 1; }\nint g(int x) { if (x) return 1; else return 2; }\n"
    assert claims(read(f"{text}int main(void) {{ {call} }}")) == claim


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { /* abc\n return 0; }", "2: this comment has no end"),
        ('int main(void) { char *t = "/*"; /* a */ /** b\n return 0; }', "2: this comment has no end"),
        ("struct S { int a; } s, t; int main(void) { return s == t; }", "2: s == t: == takes no structs"),
        ("int main(void) { void *t[] = { &&l }; l: return 0; }", r"2: labels as values \(&&label"),
        ("int main(void) { void *t; goto *t; l: return 0; }", "2: labels as values"),
        ("#if __has_include(<linux/can.h>)\n#endif", r"2: whether __has_include finds <linux/can.h> depends"),
    ],
)
def test_the_message_names_what_is_not_supported(tmp_path, text, message):
    (tmp_path / "a.c").write_text("\n" + text)
    with pytest.raises(SpecError, match=f"a.c:{message}"):
        read_c(str(tmp_path / "a.c"), "c")


def test_a_byte_order_mark_is_skipped(tmp_path):
    (tmp_path / "a.c").write_bytes("\ufeffint main(void) { int x = 1; return x; }".encode())
    read_c(str(tmp_path / "a.c"), "c")


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ('__has_include("b.h")', 1),
        ('__has_include("c.h")', 0),
        ("__has_include(<stdint.h>)", 1),
        ('defined(__has_include) && !__has_include ( "c.h" )', 1),
    ],
)
def test_headers_are_found_beside_the_file(read, condition, value):
    text = f"#if {condition}\n#define R 1\n#else\n#define R 0\n#endif\nint r; int main(void) {{ r = R; }}"
    assert ends(read(text, b="")) == value


@pytest.mark.parametrize(
    ("type", "value"), [("char", 1), ("double", 8), ("int[7]", 4), ("struct { char a; short b; }", 2), ("int *", 8)]
)
def test_alignments(read, type, value):
    assert ends(read(main(f"r = _Alignof({type}) + __alignof__({type});"))) == 2 * value


def test_operators_beside_each_other_are_no_labels(read):
    assert ends(read("int r, x[2]; int main(void) { int *p = x; r = 1 &&&x[0] == p; }")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x;\nlong x;", "2: x is declared as int and as long"),
        ("extern int x[3];\nint x[4];", r"2: x is declared as int\[3\] and as int\[4\]"),
        ("int x = 1;\nint x = 2;", "2: x is given a value twice"),
        ("int f(int n) { int x = 1;\n int x = 2; return x; }", "2: x is declared twice in one block"),
        ("int f(int n) { switch (n) { case 2: n++;\n case 1 + 1: n--; } return n; }", "2: .* have the value 2"),
        ("int f(int n) { switch (n) { case 5: n++;\n case 1 ... 9: n--; } return n; }", "2: .* have the value 5"),
        ("int f(int n) { switch (n) { default: n++;\n default: n--; } return n; }", "2: a second default"),
        ("struct A {\n struct A a; };", "2: the field a has a type that is not complete here"),
        ("struct A {\n struct B b[2]; };", "2: the field b has a type that is not complete here"),
        ("\n#include FOO", "2: #include FOO: not the name of a header"),
        ("#define FOO 1\n#include FOO", "2: #include FOO: not the name of a header"),
    ],
)
def test_what_C_forbids_has_its_line(tmp_path, text, message):
    (tmp_path / "a.c").write_text(f"{text}\nint main(void) {{ return 0{' + f(0)' * ('f(' in text)}; }}\n")
    with pytest.raises(SpecError, match=f"a.c:{message}"):
        read_c(str(tmp_path / "a.c"), "c")


@pytest.mark.parametrize(
    "text",
    [
        "extern int x[]; int x[3]; int x[3];",
        "int x; extern int x; int x = 1;",
        "struct S; extern struct S *x; struct S { int a; struct S *b; } y; struct S *x = &y;",
        "typedef unsigned u; extern unsigned x; u x;",
        "void f(int x) { { int x = 1; for (int x = 0; x < 2; x++) { int x = 3; } } int y; { int y; } }",
        "int x(int n) { switch (n) { case 1: switch (n) { case 1: break; default: n++; } default: n--; } return n; }",
    ],
)
def test_declarations_that_agree_are_read(read, text):
    assert claims(read(f"{text}\nint main(void) {{ return 0; }}")) == []


def test_macros_give_names_of_headers(read):
    text = '#define A "b.h"\n#define B <stdint.h>\n#include A\n#include B\nint r; int main(void) { r = R; }'
    assert ends(read(text, b="#define R INT8_MAX")) == 127


@pytest.mark.parametrize(
    ("body", "ended"),
    [
        ("srand(1); int a = rand(), b = rand(); assert(a == b);", []),
        ("int a = rand(); assert(a == 1);", []),
        ("srand(1); int a = rand(); srand(1); int b = rand(); assert(a == b);", ["no call of srand, line 4"]),
        ("int a = rand(); srand(1); int b = rand(); assert(a == b);", ["no call of rand, line 4"]),
        ("int a = random(); srand(1); int b = rand(); assert(a == b);", []),
        ('int a = printf("ab"); assert(a < 3);', ["no call of printf, line 4"]),
        ('printf("ab"); assert(r);', []),
        ("assert(two(1) == two(1));", []),
        ("assert(two(1) == two(2));", ["no call of two, line 4"]),
        ("assert(look() == look());", ["no call of look, line 4"]),
        ("assert(look() == 1);", []),
    ],
)
def test_what_is_not_any_value(read, body, ended):
    """A violation by it would not be one. The end of the model is reached then."""
    before = "static int r;\nint two(int) __attribute__((const));\nint look(void) __attribute__((pure));\n"
    cfa = read(f"{before}int main(void) {{ {body} }}")
    assert [e.name for e in cfa.errors if e.limit is not None and reaches(cfa, e)] == ended


def reaches(cfa, error):
    """A run with some inputs gets to the end of the model."""
    return any(walk(cfa, inputs)[0] == error.location for inputs in ([0], [1], [5, 7]))


def test_a_const_function_gives_the_same_again(read):
    text = "int r; int two(int) __attribute__((const)); int main(void) { r = two(4); r = 10 * two(4) + r; }"
    assert ends(read(text), 3, 5) == 33


@pytest.mark.parametrize(("call", "value"), [('puts("a")', 99), ("putchar(321)", 65), ("fflush(0)", 0)])
def test_results_of_functions_that_print(read, call, value):
    cfa = read(f"int r; int main(void) {{ r = {call}; }}")
    (edge,) = [e for e in cfa.edges if e.choices]
    ((_, new),) = [u for u in edge.updates if u[0].payload == "r"]
    assert [value_of(new, {edge.choices[0]: n}) for n in (-7, 99)] == [-1, value]


def test_the_number_of_arguments_of_main_is_not_negative(read):
    cfa = read("int main(int argc, char **argv) { assert(argc >= 0); }")
    (start,) = [e for e in cfa.edges if e.source == cfa.entry]
    (count,) = start.choices
    assert {n: value_of(start.guard, {count: n}) for n in (-1, 0, 1)} == {-1: False, 0: True, 1: True}


@pytest.mark.parametrize("value", ["g ? (r = 1) : 2", "(g && (r = 1)) + 2", "g ?: (r = 1)"])
def test_a_run_that_does_not_take_the_branch_without_order_goes_on(read, value):
    cfa = read(f"{ORDER}int main(void) {{ g = nondet_int();\n  r = {value};\n  assert(r == 5);\n}}\n")
    (end,) = [e.location for e in cfa.errors if e.name == "assert, line 9"]
    assert end in cfa.reached_from([cfa.entry])
