"""Calls in C that leave what is known: functions without a body, callbacks, `restrict`."""

from __future__ import annotations

import pytest
from test_minic import ends, read

__all__ = ["read"]


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("static int n; void tick(void) { n++; }", "ext has no body and may call back tick, which may change n"),
        ("void tick(void) { static int n; n++; }", "ext has no body and may call back tick, which may change n"),
        ("static int n; static void up(void) { n = 1; } void tick(void) { up(); }", "may call back tick, which may"),
        ("static int n[2]; void set(int *p) { *p = 1; } void tick(void) { set(n); }", "tick, which may change n"),
        ("static int n; static void tick(void) { n++; } static void (*table[1])(void) = { tick };", "may call back"),
        ("static int n; static void tick(void) { n++; }", None),
        ("static int n; int look(void) { return n; }", None),
        ("static const int n = 1; void tick(void) { unsigned m = n; m++; }", None),
    ],
)
def test_functions_without_a_body_may_call_back(read, before, reason):
    text = f"int ext(void); {before}\nint main(void) {{ static int r; r = ext() + 0 * r; assert(r < 3); }}\n"
    found = [e.limit.reason for e in read(text).errors if e.limit is not None]
    assert len(found) == (reason is not None) and all(reason in r for r in found)


@pytest.mark.parametrize("function", ["__VERIFIER_sensor(void)", "ext(void) __attribute__((pure))", "nondet_int(void)"])
def test_some_functions_do_not_call_back(read, function):
    name = function.split("(")[0]
    text = f"int {function}; static int n; void tick(void) {{ n++; }} int main(void) {{ {name}(); assert(n == 0); }}"
    assert not any(e.limit for e in read(text).errors)


@pytest.mark.parametrize(
    ("before", "body", "reason"),
    [
        (
            "void ext(void); int *p;",
            "int x = 1; p = &x; ext();",
            "ext has no body and may change p or what it points to",
        ),
        ("void ext(void); extern int *p;", "int x = 1; p = &x; ext();", "may change p or what it points to"),
        ("void ext(void); static int s; int *p = &s;", "ext();", "may change p or what it points to"),
        ("void ext(void); static int s; int *const p = &s;", "ext();", "may change p or what it points to"),
        (
            "void ext(void); static int s; const struct { int n; int *p; } c = {1, &s};",
            "ext();",
            "may change c or what",
        ),
        ("void ext(void); static int s; int *p;", "ext();", None),
        ("void ext(void); static int s; static int *p = &s;", "ext();", None),
        ("int nondet_it(int *p);", "int x = 1; nondet_it(&x);", "nondet_it has no body and is passed an object of"),
        (
            "void nondet_all(char *p, int n);",
            'char x[2] = ""; nondet_all(x, 2);',
            "nondet_all has no body and is passed",
        ),
        ("int nondet_it(int n);", "nondet_it(1);", None),
    ],
)
def test_what_functions_without_a_body_reach_by_pointers(read, before, body, reason):
    cfa = read(f"{before}\nint main(void) {{ static int r; {body}\nassert(r == 0); }}")
    found = [e.limit for e in cfa.errors if e.limit is not None]
    assert all(reason in limit.reason and "assert, line 3" in limit.hidden for limit in found)
    assert len(found) == (reason is not None)


def test_pointer_parameters_are_known_to_the_caller(read):
    text = "void ext(void);\nvoid f(int *p) { *p = 1; ext(); assert(*p == 1); }"
    (limit,) = [e.limit for e in read(text).errors if e.limit is not None]
    assert limit.reason == "ext has no body and may change p or what it points to"


@pytest.mark.parametrize(
    ("function", "main_body", "hidden"),
    [
        ("void back(int v) {\nassert(v > 0); }", "back(1); ext();", {"assert, line 3"}),
        ("int back(int v) {\nreturn 8 / v; }", "ext(); back(2);", {"no division by zero, line 3"}),
        ("static int s; void back(void) {\nassert(!s); }", "back(); s = 1; ext(); s = 0;", {"assert, line 3"}),
        ("static int in(int v) {\nreturn 8 % v; } int back(int v) { return in(v); }", "ext(); back(2);", {
            "no division by zero, line 3"}),
        ("static int back(int v) {\nreturn 8 / v; }", "ext(); back(2);", None),
        ("int back(int v) {\nreturn v > 0 ? 1 : v / 2; }", "ext(); back(2);", None),
        ("int back(int v) {\nreturn sizeof v; }", "ext(); back(2);", None),
    ],
)  # fmt: skip
def test_claims_of_functions_that_may_be_called_back(read, function, main_body, hidden):
    """They may fail in any state. What the caller claims is not concerned."""
    cfa = read(f"void ext(void);\n{function}\nint main(void) {{ {main_body}\nassert(1 < 2); }}")
    found = [e.limit for e in cfa.errors if e.limit is not None]
    assert [set(limit.hidden) for limit in found] == ([] if hidden is None else [hidden])


def test_callbacks_whose_effect_is_not_known_leave_everything_open(read):
    text = "void ext(void);\nstatic int *g; void back(int v) {\nassert(v); *g = 2; }\n"
    cfa = read(f"{text}int main(void) {{ int x = 1; g = &x; back(1); ext();\nassert(x == 1); }}")
    (limit,) = [e.limit for e in cfa.errors if e.limit is not None]
    assert {"assert, line 3", "assert, line 5"} <= set(limit.hidden)


def test_the_function_that_is_read_is_proved_for_callbacks_too(read):
    cfa = read("int ext(void);\nint f(int v) { v = ext();\nassert(v < 3); return 0; }")
    assert [e.name for e in cfa.errors] == ["assert, line 3"] and not any(e.limit for e in cfa.errors)


@pytest.mark.parametrize(
    "text",
    [
        "int r, v = 3; int main(void) { int v = 1; { extern int v; r = v; } r = 10 * r + v; }",
        "int r, v; int f(int v) { { extern int v; v = 3; } return v; } int main(void) { r = f(1); r = r + 10 * v; }",
        "int f(void) { extern int v; return v; } int r, v = 31; int main(void) { r = f(); }",
        "int r; void f(void) { extern int v; v = 31; } int main(void) { extern int v; f(); r = v; }",
    ],
)
def test_extern_in_a_block_names_the_object_of_the_file(read, text):
    assert ends(read(text)) == 31


def test_a_variable_declared_in_a_block_is_nameable(read):
    (limit,) = [e.limit for e in read("void ext(void); int main(void) { extern int v; ext(); }").errors]
    assert limit.reason == "ext has no body and may change v"


@pytest.mark.parametrize(
    ("parameters", "body", "arguments", "is_open"),
    [
        ("int *restrict p, int *restrict q", "*p = 1; *q = 2;", "&x, &x", True),
        ("int *restrict p, const int *q", "*p = *q;", "&x, &x", True),
        ("int p[restrict 2], int *__restrict q", "p[0] = q[0];", "a, a + 1", True),
        ("int *__restrict__ p", "*p = 1; g = 2;", "&g", True),
        ("int *restrict p", "*p = 1; h();", "&g", True),
        ("const int *restrict p, const int *restrict q", "*p; *q;", "&x, &x", False),
        ("int *restrict p, int *restrict q", "*p = 1; *q = 2;", "&x, a", False),
        ("int *restrict p, int *restrict q", "*p = 1; *q = 2;", "&s.x, &s.y", False),
        ("int *p, int *q", "*p = 1; *q = 2;", "&x, &x", False),
    ],
)
def test_restrict(read, parameters, body, arguments, is_open):
    before = "static int g, a[2]; static void h(void) { g = 1; } static struct { int x, y; } s; "
    before += f"static void f({parameters}) {{ {body} }}\n"
    cfa = read(f"{before}int main(void) {{ int x = 0; f({arguments});\nassert(g < 3); }}")
    found = [e for e in cfa.errors if e.limit is not None]
    assert [e.name for e in found] == ["no call of f, line 2"] * is_open
    assert all("p is restrict" in e.limit.reason and "assert, line 3" in e.limit.hidden for e in found)
