"""Operands of which one may end the run, beside another in which something may fail: C leaves their order open."""

from __future__ import annotations

import pytest
from test_minic import ends, read

__all__ = ["read"]

PARTS = """int r, a[4];
int leave(int x) { if (x == 0) exit(0); return 1; }
int give_up(void) { abort(); }
int limit(int x) { __VERIFIER_assume(x > 0); return x; }
int stay(int x) { while (x) r = 1; return 2; }
int retry(int x) { again: if (x) goto again; return 3; }
int count(int n) { int s = 0; for (int i = 0; i < n; i++) s |= i; return s; }
int test(int x) { assert(x); return 1; }
int both(int x, int y) { return x | y; }
int outer(int x) { if (x == 3) scanf("%d", &r); return 4; }
int quiet(int x) { return x | 1; }
int main(void) { int x = nondet_int();
"""
LINE = PARTS.count("\n") + 1


def limits(cfa):
    return {e.name: e.limit.hidden for e in cfa.errors if e.limit is not None}


@pytest.mark.parametrize(
    ("statement", "hidden"),
    [
        ("r = leave(x) | test(x);", "assert, line 8"),
        ("r = both(leave(x), test(x));", "assert, line 8"),
        ("r = both(give_up(), 10 / x);", f"no division by zero, line {LINE}"),
        ("r = leave(x) | (x + 1);", f"no overflow, line {LINE}"),
        ("r = (leave(x) > 0) + (100 % x | 1);", f"no division by zero, line {LINE}"),
        ("a[leave(x)] = 1 / x;", f"no division by zero, line {LINE}"),
        ("r = a[leave(x)] | a[x];", f"index in bounds, line {LINE}"),
        ("r = limit(x) | test(x);", "assert, line 8"),
        ("r = stay(x) | test(x);", "assert, line 8"),
        ("r = retry(x) | test(x);", "assert, line 8"),
        ("r = both(quiet(leave(x)), quiet(test(x)));", "assert, line 8"),
        ("r = (leave(x) | quiet(x)) | test(x);", "assert, line 8"),
        ("r = leave(x) | (quiet(x) | test(x));", "assert, line 8"),
        ("r = leave(x) | (x == 0 && test(x));", "assert, line 8"),
    ],
)
def test_what_may_be_met_before_the_end_of_the_run_is_unknown(read, statement, hidden):
    cfa = read(f"{PARTS}  {statement}\n  assert(r);\n}}\n")
    assert limits(cfa) == {f"no dependence on the order of calls, line {LINE}": (hidden,)}


@pytest.mark.parametrize(
    "statement",
    [
        "r = test(x) | leave(x);",
        "r = 10 / x | leave(x);",
        "r = leave(x) | give_up();",
        "r = stay(x) | quiet(x);",
        "r = count(x) | test(x);",
        "r = test(x) | test(x + 1);",
        "r = leave(x) && test(x);",
        "r = (leave(x), test(x));",
        "r = leave(x) ? test(x) : 0;",
        "leave(x); r = test(x);",
    ],
)
def test_where_no_order_matters_nothing_is_said(read, statement):
    assert limits(read(f"{PARTS}  {statement}\n}}\n")) == {}


def test_only_a_run_that_ends_there_leaves_the_model(read):
    cfa = read(f"{PARTS}  r = leave(x) | test(7);\n}}\n")
    assert ends(cfa, 0) == f"no dependence on the order of calls, line {LINE}"
    assert ends(cfa, 5) == 1


def test_a_call_that_is_not_modelled_may_come_first(read):
    cfa = read(f"{PARTS}  r = 10 / x | outer(x);\n}}\n")
    assert limits(cfa)["no call of scanf, line 10"] == (f"no division by zero, line {LINE}",)
    cfa = read(f"{PARTS}  double y = 2.0; r = 10 / x | (int)sin(y);\n}}\n")
    assert f"no division by zero, line {LINE}" not in limits(cfa)[f"no call of sin, line {LINE}"]


@pytest.mark.parametrize(("variables", "hides"), [("", False), ("int g;", True)])
def test_a_function_that_calls_itself_may_change_static_variables_only(read, variables, hides):
    down = f"{variables}\nint max(int x, int y) {{ return x > y ? x : y; }}\nint down(int n) {{\n"
    main = "int main(void) { int n = nondet_int();\n  return max(10 / n,\n    down(n)); }\n"
    cfa = read(f"{down}  return down(n);\n}}\n{main}")
    assert ("no division by zero, line 7" in limits(cfa)["no call of down, line 4"]) == hides


@pytest.mark.parametrize(
    ("loop", "is_plain"),
    [
        ("for (int i = 0; i < n; i++) r = i;", True),
        ("for (int i = 0; n > i; i += 2) r = i;", True),
        ("for (unsigned i = 10; i > 0; i--) r = i;", True),
        ("for (unsigned char i = 0; i < 200; i++) r = i;", True),
        ("for (unsigned char i = 0; i < c; ++i) r = i;", True),
        ("for (int i = 0, j = 0; i <= 3 * n; j++, i++) r = j;", True),
        ("int i = 0; while (i < 4) { r = a[i]; i = i + 1; }", True),
        ("int i = 4; do r = i; while (--i > 0);", False),
        ("int i = 0; do { i++; } while (i < 4);", True),
        ("for (int i = 0; i < n; i++) { if (i == 2) continue; if (i == 3) break; r = i; }", True),
        ("for (int i = 0; i < n; i++) for (int k = 9; k >= i; k--) r = k;", True),
        ("for (int i = 0; i < n; i++) while (r) r = i;", False),
        ("for (;;) r = 1;", False),
        ("while (n) n = n / 2;", False),
        ("for (int i = 0; i < n; i--) r = i;", False),
        ("for (int i = 0; i < n; i++) n = n | 1;", False),
        ("for (int i = 0; i < n; i++) i = 0;", False),
        ("for (int i = 0; i < 4; i++) { int *p = &i; *p = 0; }", False),
        ("for (int i = 0; i < r; i++) r = i | 1;", False),
        ("for (r = 0; r < 4; r++) quiet(r);", False),
        ("for (unsigned i = 0; i <= u; i++) r = i;", False),
        ("for (unsigned i = 10; i >= 0; i--) r = i;", False),
        ("for (unsigned i = 0; i < 9; i += 2) r = i;", False),
        ("for (unsigned i = 0; i <= -1; i++) r = i;", False),
        ("for (unsigned i = 0; i < wide; i++) r = i;", False),
        ("for (int i = 0; i < wide; i++) r = i;", True),
        ("for (int i = 0; i < n; i += 1L) r = i;", True),
        ("for (int i = 0; i < n; i += 2L) r = i;", False),
        ("for (unsigned char i = 0; i < 256; i++) r = i;", False),
        ("for (unsigned char i = 0; i < n; i++) r = i;", False),
        ("int i = 0; while (i < 4) { if (r) continue; i++; }", False),
        ("int i = 0; while (i < 4) { if (r) i++; }", False),
        ("int i = 0; while (i < 4) { int i = 0; i++; }", False),
        ("static int i; for (i = 0; i < 4; i++) r = i;", False),
        ("volatile int i; for (i = 0; i < 4; i++) r = i;", False),
    ],
)
def test_a_loop_that_counts_to_a_bound_plainly_ends(read, loop, is_plain):
    work = f"int work(int n, unsigned char c, unsigned u, unsigned long wide) {{ {loop} return 1; }}\n"
    cfa = read(PARTS.replace("int main", work + "int main") + "  int z = work(x, 1, 2, 3) | 10 / x;\n}\n")
    assert (limits(cfa) == {}) == is_plain
