"""C as control-flow automata: each construct, obligations, names, messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from minic_runs import walk

from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.types import BOOL, INT, array_of, machine
from streamcheck.frontends.minic.read import read_c
from streamcheck.problem.automaton import Automaton, Edge, Error
from streamcheck.problem.skips import collapse_skips, is_skip, reachable

BENCH = Path("../shared/bench/c")
INT32, WORD32, INT8, INT64 = (
    machine(32, signed=True),
    machine(32, signed=False),
    machine(8, signed=True),
    machine(64, signed=True),
)


@pytest.fixture
def read(tmp_path):
    def reader(text, integers="c", function=None, **headers):
        for name, content in headers.items():
            (tmp_path / f"{name}.h").write_text(content)
        path = tmp_path / "a.c"
        path.write_text(text)
        return read_c(str(path), integers, function)[0]

    return reader


def main(body, before=""):
    return f"{before}int r, s; int main(void) {{ {body} }}\n"


def ends(cfa, *inputs, name="r"):
    """Where a run ends: the claim that fails, or the value of a variable."""
    at, values = walk(cfa, list(inputs) or [0])
    return at if at in cfa.bad else next(value for v, value in values.items() if v.payload == name)


def claims(cfa):
    return [e.name for e in cfa.errors]


# Statements and their automata


def test_the_loop_of_the_notes(read):
    """Figures 3.1 to 3.5: assignment, sequence, if, while, assert; skip edges are gone."""
    cfa = read(
        "int x, y;\n"
        "int main(void) {\n"
        "  while (x < y) {\n"
        "    if (x == 3)\n"
        "      x = 7;\n"
        "    else\n"
        "      x = y;\n"
        "  }\n"
        "  assert(x >= y);\n"
        "}\n",
        "math",
    )
    moves = [(e.source, e.text, e.target) for e in cfa.edges]
    assert moves == [
        ("start", "x = 0, y = 0", "3"),
        ("3", "x < y", "4"),
        ("3", "!(x < y)", "9"),
        ("4", "x == 3", "5"),
        ("4", "!(x == 3)", "7"),
        ("5", "x = 7", "3"),
        ("7", "x = y", "3"),
        ("9", "x >= y", "end"),
        ("9", "!(x >= y)", "assert, line 9"),
    ]
    assert cfa.loops == {"3"} and cfa.lines["7"].line == 7 and cfa.edges[5].where.line == 5
    assert claims(cfa) == ["assert, line 9"] and not cfa.errors[0].implied
    assert [(v.payload, v.type) for v in cfa.variables] == [("x", INT), ("y", INT)]


@pytest.mark.parametrize(
    ("body", "inputs", "result"),
    [
        ("for (int i = 0; i < 4; i++) { if (i == 1) continue; if (i == 3) break; r += 10 + i; }", [], 22),
        ("do { r++; if (r == 2) continue; s++; } while (r < 5); r = s;", [], 4),
        ("while (1) { if (r++ == 4) break; }", [], 5),
        ("switch (2) { case 1: r = 1; case 2: r += 5; case 3: r++; break; default: r = 9; }", [], 6),
        ("switch (7) { case 1: r = 1; break; default: r = 9; case 2: r++; }", [], 10),
        ("switch (7) { case 1: r = 1; }", [], 0),
        ("switch (nondet_int()) { case 1: while (r < 3) { r++; case 2: r++; } }", [2], 3),
        ("again: r++; if (r < 3) goto again; goto out; r = 9; out: ;", [], 3),
        ("int x = 1; { int x = 2; { int x = 3; r = x; } r = 10 * r + x; } r = 10 * r + x;", [], 321),
        ("r = (s = 3, s + 1);", [], 4),
        ("r = (r++, r + 1);", [], 2),
        ("r = r++ && s == 0;", [], 0),
        ("int a[3] = {1, 2}; r = a[0]++ + ++a[1] + a[2]--; r = 100 * r + a[0] * 10 + a[2];", [], 419),
        ("int i = 0, a[3] = {0}; a[i++] = 5; a[i] += 7; r = a[0] * 100 + a[1] * 10 + i;", [], 571),
        ("r = nondet_int() && nondet_int(); s = nondet_int(); r = 10 * s + r;", [0, 5, 1], 50),
        ("r = nondet_int() || nondet_int(); s = nondet_int(); r = 10 * s + r;", [0, 5, 1], 11),
        ("r = nondet_int() ? nondet_int() : 7; r = 10 * r + nondet_int();", [0, 5], 75),
        ("if (!(s++ || 1)) r = 1; else r = s;", [], 1),
        ("return 0; r = 1;", [], 0),
        ("r = 1; abort(); r = 2;", [], 1),
        ("r = 1; exit(0); r = 2;", [], 1),
        ("r = sizeof(long) * 10 + sizeof r; r += sizeof(struct { char c; int i; char d[3]; });", [], 96),
        ("enum { A, B = 5, C }; r = A + B + C;", [], 11),
        ("typedef unsigned char byte; byte b = 255; b++; r = b;", [], 0),
        ("r = 'a' + '\\n' + '\\0' + '\\x41' + '\\'';", [], 97 + 10 + 65 + 39),
        ('char t[] = "ab"; r = sizeof t * 100 + t[1];', [], 398),
        ("int m[2][3] = {{1, 2, 3}, {[1] = 5}}; r = m[1][0] * 100 + m[1][1] * 10 + m[0][2];", [], 53),
        (
            "struct { int x; short y[2]; } s = { .y = {3, 4} }, t; t = s; t.y[0]++; r = t.x + 10 * t.y[0] + s.y[0];",
            [],
            43,
        ),
        ("int a[2]; int *p = a; *p = 3; p++; *p = 4; *--p += 2; r = a[0] * 10 + p[1];", [], 54),
        ("int x = 3; int *p = &x; *p += 2; r = x * (p != 0);", [], 5),
        ("int a[3] = {4, 5, 6}, *p; p = a + 1; int *q = p + 1; r = *q * 10 + (q - p) + (p < q);", [], 62),
        ("r = __LINE__;", [], 1),
    ],
)
def test_statements_and_expressions(read, body, inputs, result):
    """The same whichever integers there are."""
    for integers in ("c", "math"):
        if integers == "c" or "byte" not in body:
            assert ends(read(main(body), integers), *inputs) == result


def test_functions_are_inlined(read):
    text = """
    int g;
    static int twice(int x) { int y = x; y += x; return y; }
    void bump(int by) { if (by > 5) return; g += by; }
    int sum(const int a[], int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }
    void swap(int *p, int *q) { int t = *p; *p = *q; *q = t; }
    int main(void) {
      int a[3] = {1, 2, 3}, x = 4;
      bump(twice(2)); bump(9);
      swap(&a[0], &x);
      g = g * 1000 + sum(a, 3) * 100 + twice(twice(1)) * 10 + x;
    }"""
    cfa = read(text)
    assert ends(cfa, name="g") == 4941
    assert {"twice.x", "twice.y", "bump.by", "sum.s", "a", "x", "g"} <= {v.payload for v in cfa.variables}
    assert any(name.startswith("twice:3") for name in cfa.locations)


def test_unknown_functions_are_said(tmp_path):
    path = tmp_path / "a.c"
    path.write_text(
        "extern int sensor(void);\nextern void beep(int);\n"
        "extern void stop(void) __attribute__((noreturn));\nstatic int r;\n"
        'int main(void) {\n  printf("%d", 1);\n  r = sensor();\n  beep(r);\n  if (r > 3) stop();\n  r = 1;\n}\n'
    )
    cfa, warnings = read_c(str(path), "c")
    assert warnings == (
        "a.c:7: sensor has no body: it is assumed to return any value and to change nothing",
        "a.c:8: beep has no body: it is assumed to change nothing",
    )
    assert ends(cfa, 9) == 9 and ends(cfa, 2) == 1


def test_local_variables_begin_with_any_value(read):
    """In a loop anew each time; the beginning of the run chooses those that are declared once."""
    cfa = read(main("int x; for (int i = 0; i < 2; i++) { int y; r = y; }"))
    havocs = [e for e in cfa.edges if e.choices]
    assert [e.text for e in havocs] == ["y = any value"] and havocs[0].updates[0][1] is havocs[0].choices[0]
    limited = read(main("unsigned char x; r = x;"), "math")
    edge = next(e for e in limited.edges if e.choices)
    assert [value_of(edge.guard, {edge.choices[0]: n}) for n in (-1, 0, 255, 256)] == [False, True, True, False]


def test_a_jump_past_a_declaration_leaves_any_value(read):
    for body in (
        "switch (nondet_int()) { int x; case 1: r = x; x = 2; case 2: s = x; }",
        "goto in; { int x = 3; in: r = x; }",
        "goto in; int x = 3; in: r = x;",
        "{ int x; back: r = x; } if (nondet_int()) goto back;",
    ):
        assert any(e.text == "x = any value" for e in read(main(body)).edges), body
    cfa = read(main("{ int x = 1; back: r += x; x++; if (r < 9) goto back; }"))
    assert not any(e.choices for e in cfa.edges) and ends(cfa) == 10


def test_choices_have_names_no_variable_can_have(read):
    cfa = read("int main(void) {\n  int x = __VERIFIER_nondet_int() == nondet_int();\n  int y = nondet_int();\n}\n")
    names = [c.payload for e in cfa.edges for c in e.choices]
    assert names == ["nondet() line 2", "nondet() line 2 (2)", "nondet() line 3"]


def test_volatile_reads_are_unknown(read):
    cfa = read("volatile int port;\n" + main("port = 3; if (port == port) r = 1; r = port;"))
    assert len([c for e in cfa.edges for c in e.choices if c.payload.startswith("port line")]) == 2 * 2 + 1


# Types


@pytest.mark.parametrize(
    ("type", "core"),
    [
        ("int", INT32),
        ("unsigned", WORD32),
        ("char", INT8),
        ("unsigned short int", machine(16, signed=False)),
        ("long", INT64),
        ("long long int", INT64),
        ("_Bool", BOOL),
        ("bool", BOOL),
        ("uint8_t", machine(8, signed=False)),
        ("size_t", machine(64, signed=False)),
        ("enum { A, B }", WORD32),
        ("enum { A = -1, B }", INT32),
    ],
)
def test_types(read, type, core):
    for integers, wanted in (("c", core), ("math", core if core is BOOL else INT)):
        cfa = read(f"{type} x; {type} a[2][3]; int main(void) {{}}", integers)
        assert [v.type for v in cfa.variables] == [wanted, array_of(array_of(wanted, 3), 2)]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("-1 < 1u", 0),
        ("-1L < 1u", 1),
        ("(unsigned char)300", 44),
        ("(signed char)200", -56),
        ("(_Bool)0.5 + (_Bool)256", 2),
        ("~0u == 4294967295", 1),
        ("2147483648 > 0", 1),
        ("0x80000000 > 0", 1),
        ("sizeof(2147483648) * 10 + sizeof(0x80000000)", 84),
        ("-7 / 2 * 100 + -7 % 2", -301),
        ("7u / -2", 0),
        ("(short)40000", -25536),
        ("(char)-1 == (unsigned char)-1", 0),
        ("-1 >> 1", -1),
        ("1u << 31 >> 31", 1),
        ("'\\xff'", -1),
        ("(0.1f * 10 == 1.0) * 10 + (0.1 + 0.2 == 0.3)", 10),
        ("(int)-2.7", -2),
        ("3 / 2.0 > 1.4f", 1),
        ("INT_MAX == 2147483647 && UINT_MAX == 4294967295u && CHAR_MIN == -128 && SIZE_MAX > 0", 1),
        ("010 + 0x10 + 0b11", 27),
    ],
)
def test_conversions_and_literals(read, expression, value):
    assert ends(read(main(f"r = {expression};"))) == value


# Obligations


@pytest.mark.parametrize(
    ("body", "claim", "bad", "good"),
    [
        ("r = x + s;", "no overflow", 2**31 - 1, None),
        ("s = 1; r = x + s;", "no overflow", 2**31 - 1, 2**31 - 2),
        ("r = x - 1;", "no overflow", -(2**31), 5),
        ("r = 3 - x;", "no overflow", -(2**31), -5),
        ("r = x * 3;", "no overflow", 715827883, 715827882),
        ("r = x * -3;", "no overflow", 715827883, 715827882),
        ("r = x * x;", "no overflow", 46341, 46340),
        ("r = -x;", "no overflow", -(2**31), -(2**31) + 1),
        ("x++;", "no overflow", 2**31 - 1, 0),
        ("--x;", "no overflow", -(2**31), 0),
        ("x *= 2; r = x;", "no overflow", 2**30, -(2**30)),
        ("r = x / -1;", "no overflow", -(2**31), 1),
        ("r = x % -1;", "no overflow", -(2**31), 1),
        ("r = 1 << x;", "shift in range", 32, 30),
        ("r = 1 >> x;", "shift in range", -1, 31),
        ("r = 1 << x;", "no overflow", 31, 30),
        ("r = x << 1;", "no overflow", -1, 2**30 - 1),
        ("r = 5 / x;", "no division by zero", 0, 3),
        ("r %= x;", "no division by zero", 0, -3),
        ("int a[3] = {0}; r = a[x];", "index in bounds", 3, 2),
        ("int a[3] = {0}; a[x] = 1;", "index in bounds", -1, 0),
        ("int a[3] = {0}, *p = a; r = p[x];", "index in bounds", -1, 2),
        ("int a[2][3] = {0}; a[0][x] = 1;", "index in bounds", 3, 2),
        ("double d = 1e9; r = (int)(d * x);", "conversion in range", 3, 2),
    ],
)
def test_obligations(read, body, claim, bad, good):
    cfa = read(main(f"s = 2;\nint x = nondet_int();\n{body}"))
    assert f"{claim}, line 3" in claims(cfa) and all(e.implied for e in cfa.errors)
    assert ends(cfa, bad) == f"{claim}, line 3"
    if good is not None:
        assert ends(cfa, good) not in cfa.bad


@pytest.mark.parametrize(
    "body",
    [
        "unsigned u = nondet_uint(); u = u * 3 + 1; u -= 7; u <<= 3; u++;",
        "unsigned char a = nondet_uchar(), b = nondet_uchar(); r = a * b + a - b; a += b; a++; r = a << 7;",
        "short a = nondet_short(); a++; a = -a; r = a * 3 / 7 % 5;",
        "r = nondet_int() % 8 + 100; r = (nondet_int() & 7) * 3; r = nondet_int() / 3;",
        "int a[4] = {0}; a[3] = 1; unsigned u = nondet_uint(); r = a[u % 4]; r = a[u & 3];",
        "long l = nondet_int() * 4L + 1;",
        "r = !nondet_int() + (nondet_int() < 3) * 9; _Bool b = nondet_int(); b++; r = b - 5;",
    ],
)
def test_what_plainly_cannot_fail_is_no_claim(read, body):
    assert claims(read(main(body))) == []


def test_a_pointer_that_may_point_nowhere_is_an_obligation(read):
    text = "int *p, r;\nint main(void) {\n  if (nondet_int()) p = &r;\n  *p = 3;\n}\n"
    cfa = read(text)
    assert claims(cfa) == ["valid pointer, line 4"] and ends(cfa, 1) == 3
    p = next(v for v in cfa.variables if v.payload == "p")
    assert walk(cfa, [0], initial={p: 7})[0] == "valid pointer, line 4"


def test_short_circuits_guard_obligations(read):
    for body in (
        "r = x != 0 && 6 / x == 2;",
        "r = x == 0 || 6 / x == 2;",
        "r = x ? 6 / x : 1;",
        "if (x && 6 / x) r = 1;",
    ):
        assert ends(read(main(f"int x = nondet_int(); {body}")), 0) not in ("no division by zero, line 1",)
    assert ends(read(main("int x = nondet_int(); r = x == 0 && 6 / x == 2;")), 0) == "no division by zero, line 1"


def test_mathematical_integers_do_not_overflow(read):
    cfa = read(
        main("unsigned char c = nondet_uchar(); int x = nondet_int(); c += 200; r = x * x + c - (c << 3);"), "math"
    )
    assert claims(cfa) == [] and ends(cfa, 100, 10**30) == 10**60 + 300 - 2400
    assert ends(read(main("r = -7 / 2 * 100 + -7 % 2 + (-7 & 3) * 1000 + (-7 >> 1) * 10000 + ~4;"), "math")) == -39306
    assert claims(read(main("int a[2]; r = a[nondet_int()] / nondet_int();"), "math")) == [
        "index in bounds, line 1",
        "no division by zero, line 1",
    ]


# Claims


def test_claims_and_where_runs_end(read):
    text = """extern void reach_error(void);
    void __VERIFIER_assert(int c) { if (!c) { ERROR: __VERIFIER_error(); } }
    void check(int x) {
      __VERIFIER_assert(x < 5);
    }
    int main(void) {
      int x = nondet_int();
      __VERIFIER_assume(x > 0);
      check(x); check(x + 1);
      if (x == 2) reach_error();
      if (x == 3) __VERIFIER_error();
      assert(x != 1 && "of no use");
    }
    """
    cfa = read(text)
    wanted = {
        1: "assert, line 12",
        2: "reach_error, line 10",
        3: "error, line 11",
        4: "assert, line 4",
        9: "assert, line 4",
    }
    assert {x: ends(cfa, x) for x in wanted} == wanted
    at, _ = walk(cfa, [0])
    assert not cfa.edges_from[at] or at not in cfa.bad
    assert sorted(claims(cfa)) == sorted({*wanted.values(), "no overflow, line 9"})


def test_another_entry_finds_any_globals(read):
    text = "static int limit = 9; const int top = 5; int n = 1;\n"
    text += "void on_alarm(int x) { static int k = 2; n = k + limit; }\n"
    cfa = read(text)
    assert [(v.payload, t.payload) for v, t in cfa.edges[0].updates] == [("top", 5)]
    assert {"limit", "top", "n", "x", "k"} == {v.payload for v in cfa.variables}
    two = text + "int other(void) { return 1; }\n"
    with pytest.raises(SpecError, match=r"which function\? on_alarm, other\n(.|\n)*write: .*a.c::on_alarm"):
        read(two)
    assert [v.payload for v in read(two, function="other").edges[0].updates[0][:1]] == ["top"]
    with pytest.raises(SpecError, match="has no function named third, it has on_alarm, other"):
        read(two, function="third")


# The preprocessor


def test_macros_includes_and_conditions(read):
    text = """#include <assert.h>
#include "own.h"
/* a comment
   of two lines */ #define NOT a directive
"""
    text = text.replace(" #define NOT a directive", "")
    text += """#define SQUARE(x) ((x) * (x))
#define LIMIT SIZE + 1  // not in parentheses
#define BOTH(a, \\
             b) (a) + (b)
#if defined(SIZE) && SIZE >= 4 && !defined(NONE)
int r = SQUARE(SIZE) * 100 + 2 * LIMIT;
#elif 1
#error never
#else
int wrong;
#endif
#ifdef NONE
int wrong(
#endif
#undef SIZE
#ifndef SIZE
__extension__ typedef int number __attribute__((aligned(4)));
#endif
static __inline number f(number x) { return BOTH(x,
   1); }
int main(void) {
  r = f(r); assert(r == SQUARE(
  2)); }
"""
    cfa = read(text, own="#ifndef OWN\n#define OWN\n#define SIZE 4\n#endif\n")
    assert ends(cfa) == "assert, line 26"
    _, values = walk(cfa, [0])
    assert next(x for v, x in values.items() if v.payload == "r") == 1600 + 9 + 1


def test_an_included_file_keeps_its_lines(read):
    text = '#include "own.h"\nint main(void) {\n  assert(f(1) == 3);\n}\n'
    cfa = read(text, own="int f(int x) {\n  assert(x != 1);\n  return x + 2;\n}\n")
    assert claims(cfa) == ["assert, line 3", "assert, line 2 of own.h", "no overflow, line 3 of own.h"]
    assert ends(cfa) == "assert, line 2 of own.h" and cfa.errors[1].where.short == "own.h:2"
    assert any(name.startswith("own.h:f:2") for name in cfa.locations)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) {\n int x = 1\n return x; }", "a.c:3: a syntax error, or C that is not supported, before"),
        ("int main(void) {\n return y; }", "a.c:2: y is not declared"),
        ("int main(void) {\n int n = 2;\n static int a[n];\n}", "a.c:3: the size of an array must be a constant"),
        ("int main(void) {\n void *p = 4;\n}", "a.c:2: 4: a number as a pointer is not supported"),
        ("int main(void) {\n int x; goto in; int *p = &x;\n in: *p = 1;\n}", "a.c:3: a jump skips the declaration of"),
        ('int main(void) {\n asm("nop");\n}', "a.c:2: assembler is not supported"),
        ("struct s { int x : 3; };\nint main(void) { struct s g;\n g.x; }", "a.c:3: bit-fields are not supported"),
        ("int f(void);\nint main(void) { int (*p)(void);\n p = f; }", "a.c:3: f has no body here"),
        ("int main(void) {\n goto out;\n}", "a.c:2: label out is not declared"),
        ("int main(void) {\n break;\n}", "a.c:2: break; is not in a loop"),
        ("int f(int x) { return x; } int main(void) {\n f();\n}", "a.c:2: f takes 1 argument, found 0"),
        ("int main(void) {\n const int x = 1;\n x = 2;\n}", "a.c:3: x = 2: it is const"),
        ("int main(void) { int a[2];\n int n = nondet_int(); memset(a, 0, n);\n}", "a.c:2: n: the number of bytes"),
        ("struct s { int x, y; } a[2]; int main(void) {\n memset(&a[0].x, 0, 8);\n}", "a.c:2: &a[0].x: a field of an"),
        ("int main(void) { double a, b;\n memcmp(&a, &b, 8);\n}", "a.c:2: memcmp(&a, &b, 8): double and double"),
        ("int main(void) { char a[2];\n int i = 0; a[0] = strlen(a + i++);\n}", "a.c:2: strlen(a + (i++)): side"),
        ('int main(void) {\n strcpy("ab", "b");\n}', 'a.c:2: strcpy("ab", "b"): it changes a string literal'),
        ("long double x;\nint main(void) {\n x = 1; }", "a.c:3: x: the type long double is not supported"),
        ("struct s { volatile int x; } g;\nint main(void) { g.x; }", "volatile is supported on variables only"),
        ("#if A B\n#endif\n", "a.c:1: the condition is not constant: #if A B"),
        ("#if 1 || 1 / 0\n#if 1 / 0\n#endif\n#endif\n", "a.c:2: the condition is not constant: #if 1 / 0"),
        ("\n#if 1\nint x;\n", "a.c:2: an #if without its #endif"),
        ('\n#include "none.h"\n', 'a.c:2: "none.h" is not in the directory of the file that includes it'),
        ("#define TWO(a, b) a\nint x = TWO(1);\n", "a.c:2: the macro TWO takes 2 arguments, found 1"),
        ("#error not here\n", "a.c:1: #error not here"),
        ("int x;\n", "a.c has no functions"),
    ],
)
def test_messages(read, text, message):
    with pytest.raises(SpecError) as error:
        read(text)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "before",
    [
        "typedef int compare(int); void sort(int by(int));",
        "int (*handler)(int); struct ops { void (*run)(void); int n; } ops = { 0, 3 };",
        "union u { int x; float y; } u; typedef union { int a; } v; struct w { v inner; struct w *next; } w;",
        "long double x; typedef __builtin_va_list list; extern int printf(const char *, ...);",
        "struct forward; struct forward *p; void take(struct forward *); struct forward { int x : 3; };",
        "void log(const char *format, ...) { } volatile int *port; typedef volatile unsigned reg; float _Complex c;",
        'static inline void stop(void) { __asm__ volatile ("hlt" : : : "memory"); } int f(void) __asm__ ("g");',
        "extern void *malloc(unsigned long); int *make(void) { return malloc(4); } void twice(void) { twice(); }",
        '# 1 "/usr/include/other.h" 1 3 4\n__extension__ extern int z __attribute__ ((__nothrow__, __leaf__));',
        "typedef int int8_t __attribute__ ((__mode__ (__QI__))); __extension__ typedef unsigned int u64 "
        "__attribute__ ((__mode__ (__DI__)));",
    ],
)
def test_what_is_declared_and_not_used_does_not_matter(read, before):
    """Nor does what the body of a function that is not called does."""
    cfa = read(f"{before}\nint r;\nint main(void) {{ int (*local)(void) = 0; r = 7; }}\n")
    assert ends(cfa) == 7 and not cfa.errors


def test_modes_give_the_size_of_a_type(read):
    text = "typedef unsigned int byte __attribute__ ((__mode__ (__QI__)));"
    text += "typedef int wide __attribute__ ((__mode__ (__DI__)));"
    assert ends(read(main("byte b = 255; b++; r = b * 100 + sizeof(wide);", text))) == 8


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int f {\n}\nint main(void) { return 0; }", "a.c:1: f has a body and no parameters"),
        ("struct s { int b __attribute__((aligned(8", "a syntax error"),
        ("struct __attribute__((aligned(8", "a.c:1: Invalid struct"),
        ('#define A "b\0h"\n#include A\n', "a.c:2: "),
        ("int main(void) {\nr#else\n}", "a.c:2: a syntax error, or C that is not supported, before #"),
        ("struct s { int a; } mk(void);\nint main(void) { return mk().a(); }", "a.c:2: mk().a is not a function"),
        ("struct s { int a; } mk(void);\nint main(void) { return mk().a().a[1]; }", "a.c:2: mk().a is not a function"),
    ],
)
def test_what_is_nearly_c_is_refused_with_its_line(read, text, message):
    with pytest.raises(SpecError) as error:
        read(text)
    assert message in str(error.value)


def test_functions_return_pointers_into_one_object(read):
    before = "static int t[3]; static int *at(int i) { return &t[i]; } static int *first(void) { return t; }"
    assert ends(read(main("*at(2) = 5; *first() = 3; at(0)[1] = 4; r = t[0] * 100 + t[1] * 10 + t[2];", before))) == 345


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("r = s & 6;", "& needs machine integers; use --int c"),
        ("r = s ^ 1;", "^ needs machine integers; use --int c"),
        ("r = 1 << s;", "<< by a variable amount needs machine integers; use --int c"),
        ("double d = 1;", "double needs machine integers; use --int c"),
    ],
)
def test_what_only_machine_integers_can_say(read, body, message):
    with pytest.raises(SpecError) as error:
        read(main(f"\n{body}"), "math")
    assert f"a.c:2: {message}" in str(error.value)
    assert read(main(body), "c")


def test_long_chains_of_conditions_are_read(read):
    chain = "".join(f"if (x == {i}) r = {i} + 1; else " for i in range(1000))
    assert ends(read(main(f"int x = nondet_int(); {chain} r = 0;")), 777) == 778


# Skip edges


def skips(*edges, bad=()):
    places = dict.fromkeys(p for e in edges for p in e[:2])
    return Automaton("a", (), tuple(places), "q", tuple(Error(b, b, None) for b in bad), tuple(Edge(*e) for e in edges))


def test_a_skip_that_is_a_choice_is_kept():
    cfa = collapse_skips(skips(("q", "a"), ("q", "b"), ("a", "b"), ("b", "c"), ("c", "q")))
    assert [(e.source, e.target) for e in cfa.edges] == [("q", "q")] * 2 and all(map(is_skip, cfa.edges))
    both = collapse_skips(skips(("q", "bad"), ("q", "b"), bad=["bad"]))
    assert (both.entry, both.locations, both.edges) == ("bad", ("bad",), ())


def test_places_that_nothing_leads_to_go_and_claims_stay():
    cfa = reachable(skips(("q", "a"), ("b", "bad"), bad=["bad"]))
    assert cfa.locations == ("q", "a", "bad") and len(cfa.edges) == 1
