"""Pointers that the program computes: the walk of the automaton, against what C says and against compiled programs."""

from __future__ import annotations

import os
import random
import re
import subprocess

import pytest
from minic_runs import HARNESS, shown, walk
from pointer_programs import PointerProgram

from streamcheck.api.files import load
from streamcheck.core.errors import SpecError
from streamcheck.core.term import variables
from streamcheck.frontends.minic.read import read_c


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        (tmp_path / "a.c").write_text(text)
        return read_c(str(tmp_path / "a.c"), "c", **options)[0]

    return read


def end(cfa, *inputs):
    """The claim that fails, `limit` for an end of the model, or the value of r."""
    at, values = walk(cfa, inputs or [0])
    if at in cfa.bad:
        error = next(e for e in cfa.errors if e.location == at)
        return "limit" if error.limit else error.name.split(",")[0]
    return next(value for v, value in values.items() if v.payload == "r")


FUNCTIONS = """
int r;
int one(int x) { return x + 1; }
int two(int x) { return x + 2; }
void none(void) { r = 9; }
int other(long x) { return 0; }
typedef int fn(int);
struct ops { fn *f; int (*g)(int); };
int apply(fn f, int x) { return f(x); }
int down(int n);
int (*again)(int) = down;
int down(int n) { return n > 0 ? 1 + again(n - 1) : 0; }
typedef const int number;
int first(const int *p) { return *p; }
fn *choose(int c) { return c ? one : two; }
"""


@pytest.mark.parametrize(
    ("body", "results"),
    [
        ("fn *p = n ? one : &two; r = p(1);", {0: 3, 1: 2}),
        ("fn *t[2] = {one, two}; r = t[n & 1](1) + (*t[0])(1) * 10;", {0: 22, 1: 23}),
        ("struct ops o = {one, two}, q = o; q.f = o.g; r = q.f(1) * 10 + o.f(1);", {0: 32}),
        ("r = apply(n ? one : two, 4);", {0: 6, 1: 5}),
        ("r = choose(n)(4);", {0: 6, 1: 5}),
        ("fn *p = 0; if (n) p = one; r = p ? p(1) : 7;", {0: 7, 1: 2}),
        ("fn *p = 0; if (n) p = one; r = p(1);", {0: "valid function pointer", 1: 2}),
        ("fn *p; if (n) p = one; r = n && p == one && p != two && &one == *p;", {0: 0, 1: 1}),
        ("fn *p = (fn *)other; r = p(1);", {0: "valid function pointer"}),
        ("fn *p = (fn *)(void *)one; r = p(1);", {0: 2}),
        ("void (*p)() = none; p();", {0: 9}),
        ("r = down(n & 3);", {0: 0, 3: 3}),
        ("int (*const table[])(int) = {one, two, one}; r = table[n & 3](0);", {1: 2, 2: 1, 3: "index in bounds"}),
        ("fn *p = one, **q = &p; *q = two; r = p(0) * 10 + (*q)(1);", {0: 23}),
        ("int one = 5; fn *p = two; { fn *two = p; r = two(one); }", {0: 7}),
        # what is const behind a parameter is a part of the function's type
        ("int (*p)(int *) = (int (*)(int *))first; r = p(&n);", {5: "valid function pointer"}),
        ("int (*p)(const int *) = first, (*q)(number *) = p; r = q(&n);", {5: 5}),
    ],
)
def test_pointers_to_functions(read, body, results):
    cfa = read(f"{FUNCTIONS}int main(void) {{ int n = __VERIFIER_nondet_int(); {body} }}")
    assert {n: end(cfa, n) for n in results} == results


OBJECTS = """
int r, g = 1, h = 2, a[4] = {1, 2, 3, 4}, *gp;
struct node { int v; struct node *next; };
struct pair { short x, y; struct { int k[2]; } in; };
int *local(void) { int y = 1; return &y; }
int *max(int *p, int *q) { return *p > *q ? p : q; }
void set(int **p, int *to) { *p = to; }
int changed(const int x) { int *p = x ? &g : (int *)&x; *p = x; return x; }
int *keep;
int saved(int x, int *q) { int y = q ? *q : 0; keep = &x; return y; }
int sum(struct node *n) { int s = 0; while (n) { s += n->v; n = n->next; } return s; }
"""


@pytest.mark.parametrize(
    ("body", "results"),
    [
        ("int *p = &g; if (n) p = &h; *p = 7; r = g * 10 + h;", {0: 72, 1: 17}),
        ("int *p = 0; if (n) p = &g; r = p ? *p : 5;", {0: 5, 1: 1}),
        ("int *p = n ? &g : 0; r = *p;", {0: "valid pointer", 1: 1}),
        ("int *p = n ? a : &g; r = p[1];", {0: "valid pointer", 1: 2}),
        ("int *p = n ? a + 1 : a; p += 2; r = *p + (p - a) * 10;", {0: 23, 1: 34}),
        ("int *p = n ? a + 2 : a; p += 2; r = p == a + 4;", {0: 0, 1: 1}),
        ("int *p = n ? a + 2 : a; p += 3; r = 1;", {0: 1, 1: "pointer in bounds"}),
        ("int *p = n ? &g : a; r = p - a;", {0: 0, 1: "pointers into one object"}),
        ("set(&gp, n ? &g : &h); r = *gp; gp = 0; r += gp == 0;", {0: 3, 1: 2}),
        ("r = *max(&g, n ? a + 3 : a);", {0: 1, 1: 4}),
        ("struct node x = {1, 0}, y = {2, &x}, z = {3, n ? &y : 0}; r = sum(&z);", {0: 3, 1: 6}),
        ("struct pair s = {1, 2}, t, *p = n ? &s : &t; p->in.k[1] = 4; r = s.in.k[1] == 4;", {1: 1}),
        ("struct pair s[2] = {{1, 2}, {3, 4}}; short *p = &s[n & 1].y; p = n ? p : &s[1].x; r = *p;", {0: 3, 1: 4}),
        ("int m[2][2] = {1, 2, 3, 4}, *p = n ? m[1] : m[0]; r = p[1] * 10 + *p;", {0: 21, 1: 43}),
        ("int *t[2] = {&g, &h}, **q = t; q += n & 1; **q = 9; r = g * 10 + h;", {0: 92, 1: 19}),
        ("void *v = n ? &g : &h; r = *(int *)v;", {0: 2, 1: 1}),
        ("void *v = n ? &g : &h; r = *(long *)v;", {0: "limit"}),
        ("unsigned *p = (unsigned *)(n ? &g : &h); *p = 5; r = g * 10 + h;", {0: 15, 1: 52}),
        ("char *c = (char *)a; c += n; r = *(int *)c;", {0: 1, 4: 2, 3: "valid pointer", 16: "valid pointer"}),
        ("int *p = n ? &g : &h; { int g = 4; *p = g; } r = g * 10 + h;", {0: 14, 1: 42}),
        # rows, and fields of elements: what follows them is no element of their array
        ("int m[2][2] = {1, 2, 3, 4}, *p = n ? m[0] : m[1]; p += 2; p -= 1; r = *p;", {0: 4, 1: 2}),
        ("struct pair s[3], *q = n ? s : s + 1; short *p = &q->x; p += 1; r = 1;", {0: 1, 1: 1}),
        ("struct pair s[3], *q = n ? s : s + 1; short *p = &q->x; p += 2; r = 1;", {0: "limit", 1: "limit"}),
        ("struct { int x; char c; } s[3] = {{1}}; int *p = n ? &s[0].x : &s[1].x; r = p[1];", {0: "limit", 1: "limit"}),
        ("struct pair s[2] = {{1, 2}}, *q = n ? s : s + 1; short *p = &q->x; r = *(p + 1);", {0: "limit", 1: "limit"}),
        ("int m[2][2] = {1, 2, 3, 4}, *p = n ? m[0] : m[1]; r = *(p + 2);", {0: "valid pointer", 1: "valid pointer"}),
        ("int *p = n ? a : a + 1; *(p + 2) += *(p + 1); r = a[2] * 10 + a[3];", {0: 37, 1: 54}),
        ("struct { char x, y; } s = {1, 2}, *q = n ? &s : &s; char *p = &q->x; r = *(p + 1);", {0: 2}),
        # objects that overlap
        ("struct pair s = {1}, t = {2}, *p = n ? &s : &t; memcpy(&s, p, sizeof s); r = s.x;", {0: 2, 1: "no overlap"}),
        ("struct pair s = {1}, t = {2}, *p = n ? &s : &t; memmove(&s, p, sizeof s); r = s.x;", {0: 2, 1: 1}),
        ("int m[2][2] = {1, 2, 3, 4}; memcpy(m[0], m[n], sizeof m[0]); r = **m;", {0: "no overlap", 1: 3}),
        ("memset(n ? &g : &h, 0, sizeof g); r = g * 10 + h;", {0: 10, 1: 2}),
        ("const int k = 3; int *p = n ? (int *)&k : &g; memset(p, 0, sizeof g); r = g;", {0: 0, 1: "valid pointer"}),
        # variables that have ended
        ("int *p = n ? local() : &g; r = *p;", {0: 1, 1: "no dangling pointer"}),
        ("int *p = &g; if (n) { int x = 3; p = &x; } r = *p;", {0: 1, 1: "valid pointer"}),
        ("int *p = &g; if (n) { int x = 3; p = &x; } r = p == &g;", {0: 1, 1: "no dangling pointer"}),
        ("int *p = &g; for (int i = 0; i < 2; i++) { int x; if (i == n) r = *p; p = &x; }", {0: 1, 1: "valid pointer"}),
        ("int *p = &g; for (int i = 0; i < 2; i++) { int x = i; p = n ? &x : p; *p = 5; r = x; }", {0: 1, 1: 5}),
        ("saved(1, 0); if (n) r = saved(2, keep); else r = saved(2, &g);", {0: 1, 1: "no dangling pointer"}),
        ("r = saved(2, (saved(1, 0), n ? keep : &g));", {0: 1, 1: "no dangling pointer"}),
        # what C leaves open, and constants
        ("r = changed(n); r += changed(2);", {0: "valid pointer", 1: 3}),
        ("int *p = n ? a + 4 : a; r = p == &g;", {0: 0, 1: "limit"}),
        ("const int k = 3; int *p = n ? (int *)&k : &g; *p = 4; r = g;", {0: 4, 1: "valid pointer"}),
        ("typedef const int K; K k = 3; int *p = n ? (int *)&k : &g; *p = 4; r = g;", {0: 4, 1: "valid pointer"}),
        (
            "typedef const int K, T[2]; typedef K L; T t; struct { L k; } s; int *p = (int *)(n ? t : &s.k); *p = 4;",
            {0: "valid pointer", 1: "valid pointer"},
        ),
        ("typedef const int K; { typedef int K; K k = 3; int *p = n ? &k : &g; *p = 4; r = k; }", {0: 3, 1: 4}),
        ('const char *s = n ? "ab" : "c"; r = s[0] + s[1];', {0: 99, 1: 195}),
        ('struct { const char *s; int k; } t[] = {{"ab", 1}, {"c", 2}}; r = t[n & 1].s[1] + t[0].k;', {0: 99, 1: 1}),
        ('char *s = n ? "ab" : "c"; s[0] = 1; r = 1;', {0: "valid pointer"}),
        ('const char *s = n ? "ab" : "c", *t = "ab"; r = s == t;', {0: "limit", 1: "limit"}),
        (
            "int *p = &g, k = 0; { in: if (k++) r = p == &g ? 5 : *p; int x = 3; if (n) p = &x; if (k < 2) goto in; }",
            {0: 5, 1: 3},
        ),
        ("int *p = n ? &g : &h; struct pair s, *q = n ? &s : &s; memset(q, 0, sizeof *q); r = s.in.k[1] + *p;", {0: 2}),
    ],
)
def test_pointers_that_are_computed(read, body, results):
    cfa = read(f"{OBJECTS}int main(void) {{ int n = __VERIFIER_nondet_int(); {body} }}")
    assert {n: end(cfa, n) for n in results} == results


HEAP = (
    OBJECTS
    + """
void *xmalloc(unsigned long n) { void *p = malloc(n); if (!p) exit(1); return p; }
struct node *push(struct node *l, int v);
int release(int *p) { free(p); return 1; }
int both(int *p, int *q) { free(p); free(q); return 1; }
int plus(int x, int y) { return x + y; }
struct node *add(struct node *l, int v) { if (l) l->next = add(l->next, v); else l = push(0, v); return l; }
struct node *push(struct node *l, int v) {
    struct node *n = xmalloc(sizeof(struct node));
    n->v = v; n->next = l;
    return n;
}
"""
)


@pytest.mark.parametrize(
    ("body", "results"),
    [
        ("int *p = malloc(sizeof(int)); *p = 3; r = *p; free(p);", {0: 3}),
        ("int *p = malloc(4 * sizeof *p); p[n] = 3; r = p[n];", {0: 3, 3: 3, 4: "valid pointer", -1: "valid pointer"}),
        ("int *p = malloc(4); *p = 3; free(p); r = *p;", {0: "valid pointer"}),
        ("int *p = malloc(4); free(p); free(p);", {0: "valid free"}),
        ("int *p = malloc(8); free(p + n); r = 2;", {0: 2, 1: "valid free"}),
        ("free(n ? &g : 0); r = 2;", {0: 2, 1: "valid free"}),
        ("int *p = malloc(4), *q = p; free(p); r = q == p;", {0: "no dangling pointer"}),
        ("int *p = calloc(3, sizeof(int)); r = p[0] + p[2];", {0: 0}),
        # one instance is no element of the others
        ("int *p; for (int i = 0; i < 2; i++) p = malloc(4); p[n] = 5; r = *p;", {0: 5, 1: "valid pointer"}),
        ("int *p; for (int i = 0; i < 2; i++) p = malloc(4); p += n; r = 3;", {1: 3, 2: "pointer in bounds"}),
        # other types: the model ends
        ("char *c = malloc(16); int *p = (int *)c; p++; r = 1;", {0: "limit"}),
        ("char *c = malloc(16); int *p = (int *)(c + 16); p[-1] = 3; r = 1;", {0: "limit"}),
        ("char *c = malloc(16); int *p = (int *)c; p += 5; r = 1;", {0: "pointer in bounds"}),
        # free in an operand
        ("int *p = malloc(4); *p = 4; r = plus(*p, release(p));", {0: "limit"}),
        ("int *p = malloc(4); *p = 4; r = *p + release(p);", {0: "limit"}),
        ("int *p = malloc(4); *p = release(p); r = 2;", {0: "valid pointer"}),
        ("int *p = malloc(4), *q = malloc(4); r = (p == q) + both(p, q);", {0: 1}),
        ("struct node *t = 0; for (int i = 0; i < 2; i++) t = add(t, n); r = t->next->v;", {3: 3}),
        ("struct node *l = 0; for (int i = 0; i < n; i++) l = push(l, i); r = sum(l);", {3: 3, 8: 28, 9: "limit"}),
        ("for (int i = 0; i < n; i++) { int *p = malloc(4); *p = i; r = *p; free(p); }", {3: 2, 20: 19}),
        ("struct node *a = push(0, 1), *b = push(a, 2); free(a); r = b->next->v;", {0: "valid pointer"}),
        ("struct node *a = push(0, 1), *b = push(a, 2); r = a == b; r += b->next == a;", {0: 1}),
        ("int *p = alloca(4); *p = 2; r = *p; free(p);", {0: "valid free"}),
        ("int **t = malloc(2 * sizeof(int *)); t[0] = &g; t[1] = &h; *t[n & 1] = 7; r = g * 10 + h;", {0: 72, 1: 17}),
        ("char *s = malloc(3); s[2] = 5; r = s[2]; s++; free(s);", {0: "valid free"}),
        ("int *p = malloc(n * sizeof(int)); r = p != 0; if (p) { if (n == 2) *p = 1; free(p); }", {1: 1, 2: "limit"}),
        ("int *p = malloc(1 << 20); if (n) p++; r = p == 0;", {0: 0, 1: "limit"}),
        ("void *v = malloc(4); int *p = v; *p = 6; r = *(int *)v;", {0: 6}),
        ("int *p = malloc(8); p[0] = 3; p[1] = 4; p = realloc(p, 16); p[3] = 5; r = p[0] + p[n];", {1: 7, 3: 8}),
        ("int *p = malloc(8); p[0] = 3; p = realloc(p, 4); r = p[n];", {0: 3, 1: "valid pointer"}),
        ("int *p = malloc(8), *q = p; p = realloc(p, 4); r = *q;", {0: "valid pointer"}),
        ("int *p = malloc(8); int *q = realloc(p, 4); r = q == p;", {0: "no dangling pointer"}),
        ("int *p = malloc(8); int *q = realloc(p, 4); free(p);", {0: "valid free"}),
        ("int *p = realloc(0, 4); *p = 2; r = *p; free(p); free(p);", {0: "valid free"}),
        ("int *p = malloc(8); p = realloc(p + n, 4); r = 1;", {0: 1, 1: "valid free"}),
        ("int *p = realloc(n ? &g : 0, 4); r = 1;", {0: 1, 1: "valid free"}),
        ("int *p = malloc(8); p = realloc(p, n); r = 1;", {0: "limit", 1: 1}),
        ("char *s = malloc(8); int *p = realloc(s, 16); r = p != 0;", {0: "limit"}),
        (
            "struct node *a = malloc(sizeof *a); a->v = 2; a->next = a; struct node *b = realloc(a, 2 * sizeof *a);"
            " r = b[0].v; r += b[0].next != 0;",
            {0: "no dangling pointer"},
        ),
        (
            "struct node *a = malloc(sizeof *a); a->v = 2; a->next = 0; a = realloc(a, 2 * sizeof *a); a[1].v = n;"
            " a[1].next = a; r = a[1].v * 10 + a[1].next->v;",
            {4: 42},
        ),
        (
            "int *p = 0; for (int i = 0; i < n; i++) { p = realloc(p, 4 * 4); p[i] = i; } r = n ? p[n - 1] : 7;",
            {0: 7, 3: 2, 4: 3, 5: "valid pointer"},
        ),
        ("int *p = malloc(4); *p = 5; int *q = realloc(p, 8); if (!q) q = p; r = *q;", {0: 5}),
        (
            "struct node *a = 0, *b; free(a); b = realloc(a, 32); a = b; b[1].v = 4; free(a); r = b == 0;",
            {0: "no dangling pointer"},
        ),
    ],
)
def test_memory_from_the_heap(read, body, results):
    cfa = read(f"{HEAP}int main(void) {{ int n = __VERIFIER_nondet_int(); {body} }}")
    assert {n: end(cfa, n) for n in results} == results


@pytest.mark.parametrize(
    "call",
    ["f(n ? &g : &h)", "f(gp)", "f((gp = n ? &g : &h, &g))"],
)
def test_restrict_ends_the_model_if_a_computed_pointer_may_point_there(read, call):
    function = "int f(int *restrict p) { *gp = 7; return *p; }"
    cfa = read(f"{OBJECTS}{function}int main(void) {{ int n = __VERIFIER_nondet_int(); gp = &h; r = {call}; }}")
    assert "limit" in {end(cfa, 0), end(cfa, 1)}


def test_mathematical_integers_do_not_wrap_around_as_distances(tmp_path):
    body = "int r, a[4] = {1, 2, 3, 4}; int main(void) { int n = __VERIFIER_nondet_int(); int *p = n ? a : a + 1;"
    (tmp_path / "a.c").write_text(f"{body} r = p[n]; }}")
    cfa, _ = read_c(str(tmp_path / "a.c"), "math")
    assert end(cfa, 2) == 3 and end(cfa, 1 << 64) == "pointer in bounds" and end(cfa, 4) == "valid pointer"


@pytest.mark.parametrize("pointer", ["b", "n ? b : b + 1"])
def test_differences_of_pointers_fit_their_type(read, pointer):
    text = "int r; char b[40000u]; int main(void) {{ int n = nondet_int(); char *p = {}; r = p + {} - p == {}; }}"
    far, near = (text.format(pointer, d, d) for d in ("39000u", "29000"))
    assert end(read(far, data_model="avr"), 0) == "no overflow" and end(read(near, data_model="avr"), 0) == 1
    assert end(read(far, data_model="ILP32"), 0) == 1


def test_malloc_may_fail(read):
    cfa = read("int r; int main(void) { int *p = malloc(4); r = p != 0; }")
    edge = next(e for e in cfa.edges if any("fails" in str(c.payload) for c in e.choices))
    assert any("fails" in str(v.payload) for _, new in edge.updates for v in variables([new]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main(void) { int x; int *p = &x; long n = (long)p; }", "not a number"),
        ("int f(void);\nint main(void) { int (*p)(void) = f; }", "f has no body here"),
        ("struct s { int *restrict p; } g;\nint main(void) { g.p = 0; }", "restrict is supported on parameters only"),
        ("int main(void) { volatile int x; int y, *p = &y; p = (int *)&x; }", "volatile"),
    ],
)
def test_what_has_no_number_is_refused(read, text, message):
    with pytest.raises(SpecError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("struct s { int *p; } g;\nint f(void) { return *g.p; }", "no use of a pointer from outside, line 2"),
        ("struct s { int *p; } g;\nint f(void) { return g.p == 0; }", "no use of a pointer from outside, line 2"),
        ("int f(int **p) { return **p; }", "no use of a pointer from outside, line 1"),
        ("int f(int *p) { if (p) return 1; return 0; }", None),
    ],
)
def test_pointers_of_the_caller_are_not_known(read, text, result):
    cfa = read(text, function="f")
    assert result is None or [e.name for e in cfa.errors if e.limit] == [result]


MAIN = """
int main(int n, char **v) {
    count_ = n - 1; for (int i = 1; i < n; i++) inputs_[i - 1] = atoll(v[i]);
    p_main();
    %s
    return 0;
}
"""
SANITIZE = "-fsanitize=address,undefined -fno-sanitize-recover=all -fsanitize-address-use-after-scope".split()
NO_LEAKS = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
STRICTER = ("pointers into one object", "no dangling pointer", "pointer in bounds")  # than what gcc can check


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_do_what_compiled_ones_do(tmp_path, seed):
    program = PointerProgram(seed)
    (tmp_path / "p.c").write_text(program.text)
    cfa, _ = read_c(str(tmp_path / "p.c"), "c")
    shows = [
        f'for (int i_ = 0; i_ < {k}; i_++) printf("%lld ", (long long){n}[i_]);' if k else
        f'printf("%lld ", (long long){n});' for n, k in program.names
    ]  # fmt: skip
    source = f'{HARNESS}#define main p_main\n#line 1 "p.c"\n{program.text}\n#undef main\n{MAIN % " ".join(shows)}'
    (tmp_path / "x.c").write_text(source)
    subprocess.run(["gcc", "-g", "-w", "-O0", *SANITIZE, str(tmp_path / "x.c"), "-o", str(tmp_path / "x")], check=True)
    for k in range(4):
        inputs = [random.Random(f"{seed} {k} {i}").randrange(16) for i in range(8)]
        at, values = walk(cfa, inputs)
        command = [str(tmp_path / "x"), *map(str, inputs)]
        real = subprocess.run(command, capture_output=True, text=True, timeout=20, env=NO_LEAKS)
        if at in cfa.bad:
            claim, line = at.split(", line ")
            assert claim in STRICTER or re.search(rf"\bp\.c:{line}\b", real.stderr), (inputs, at, real.stderr[:300])
            continue
        assert real.returncode == 0, (inputs, real.stderr[:300])
        named = {v.payload: value for v, value in values.items()}
        assert " ".join(shown(named[n]) for n, _ in program.names) == real.stdout.strip(), inputs


REALLOCATED = """
int main(void) {
    int *p = malloc(4);
    if (!p) return 0;
    *p = 5;
    int *q = realloc(p, 8);
    if (!q) {
        assert(*p == 5);
        free(p);
        return 0;
    }
    assert(*q == 5);
    q[1] = 1;
    free(q);
    assert(0);
}
"""


def test_memory_is_kept_if_realloc_fails(tmp_path):
    (tmp_path / "a.c").write_text("#include <stdlib.h>\n#include <assert.h>" + REALLOCATED)
    found = {r.name: r.verdict for r in load(str(tmp_path / "a.c")).prove(timeout=300)}
    assert found.pop("assert, line 16") == "falsified" and set(found.values()) == {"proved"}
    assert {"assert, line 9", "assert, line 13", "valid free, line 10", "valid free, line 15"} <= found.keys()


PROVED = """
int nondet_int(void);
struct node { int v; struct node *next; };
int one(int x) { return x; }
int two(int x) { return 0; }
int main(void) {
    int c = nondet_int(), (*f)(int) = c ? one : two;
    struct node a = {1, 0}, b = {2, &a}, *n = c > 3 ? &b : &a;
    assert(f(c) == c);
    int *p = malloc(sizeof *p);
    if (!p) return 0;
    *p = n->next ? n->next->v : 1;
    assert(*p == 1);
    assert(n->v == 1);
    free(p);
}
"""


def test_claims_about_pointers_are_proved_and_checked(tmp_path):
    (tmp_path / "a.c").write_text(PROVED)
    found = {r.name: r.verdict for r in load(str(tmp_path / "a.c")).prove(timeout=60)}
    assert found.pop("assert, line 14") == "falsified" and set(found.values()) == {"proved"}
    assert {"assert, line 9", "assert, line 13", "valid pointer, line 12", "valid free, line 15"} <= found.keys()


LITERALS = """
struct s { int x, y; struct { int z[2]; } i; };
struct p { int *q; };
int r, g = 4;
int sum(const int *p, int n) { int t = 0; while (n-- > 0) t += *p++; return t; }
int take(struct s v) { return v.x * 100 + v.y * 10 + v.i.z[1]; }
int by(struct s *v) { v->x++; return v->x + v->y; }
struct s mk(int a) { return (struct s){ a, .y = a + 1 }; }
"""


@pytest.mark.parametrize(
    ("body", "results"),
    [
        ("r = sum((int[]){ 1, 2, n, g }, 4);", {3: 10}),
        ("r = take((struct s){ 1, n, { { 0, 4 } } });", {2: 124}),
        ("struct s *p = &(struct s){ .y = n }; p->x = 3; r = p->x + p->y;", {4: 7}),
        ("r = by(&(struct s){ 2, n }) + mk(n).y;", {3: 10}),
        ("struct s t = mk(n); t = (struct s){ t.y, 9 }; r = t.x + t.y + t.i.z[0];", {1: 11}),
        ("r = (struct s){ n, 5 }.y + (int[3]){ 4, 5, 6 }[n];", {1: 10, 3: "index in bounds"}),
        ("for (int i = 0; i < 3; i++) { int *q = (int[2]){ i }; q[1] += i; r = r * 3 + q[0] + q[1]; }", {0: 10}),
        ("r = *(struct p){ &g }.q + (int)sizeof((int[]){ 1, 2, 3 });", {0: 16}),
        ("int *w = &(int){ n }; *w += 1; r = *w;", {4: 5}),
        ("struct s *p; { p = &(struct s){ 1 }; } r = p->x;", {0: "no dangling pointer"}),
        (
            "int *q = 0; for (int i = 0; i < n; i++) { if (q) r += *q; q = &(int){ i }; }",
            {1: 0, 2: "no dangling pointer"},
        ),
        ("int *p = n ? &g : 0; { p = (int[]){ 3 }; r = *p; } r += *p;", {0: "valid pointer"}),
        ("const int *p = (const int[]){ 3, 4 }; *(int *)(n ? p : &g) = 2; r = g;", {0: 2, 1: "valid pointer"}),
    ],
)
def test_compound_literals(read, body, results):
    cfa = read(f"{LITERALS}int main(void) {{ int n = __VERIFIER_nondet_int(); {body} }}")
    assert {n: end(cfa, n) for n in results} == results


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if (n) p = &(int){ 3 };", "in the statements of a block only"),
        ("while ((p = &(int){ 3 }) && n--) ;", "in the statements of a block only"),
        ("again: p = &(int){ 3 }; if (n--) goto again;", "in the statements of a block only"),
        ("int **q = &(int *){ p };", r"a compound literal of type int \* is not supported"),
        ("p = (int[]){ n++ };", "side effects in braces"),
    ],
)
def test_compound_literals_whose_end_is_elsewhere_are_refused(read, body, message):
    with pytest.raises(SpecError, match=message):
        read(f"int main(void) {{ int n = __VERIFIER_nondet_int(), *p = 0; {body} }}")


def test_a_function_without_a_body_that_returns_a_pointer_ends_the_model(read):
    text = (
        "char *copy(char *to, const char *from); char a[4]; int r;\nint main(void) { int n = __VERIFIER_nondet_int();\n"
    )
    text += "if (n == 3) { char *p = copy(a, a); p[0] = 1; r = p == a; } else { a[n & 3] = 1; r = a[0]; }\n}"
    cfa = read(text)
    assert {n: end(cfa, n) for n in (1, 3, 4)} == {1: 0, 3: "limit", 4: 1}
    (ending,) = (e for e in cfa.errors if e.limit is not None)
    assert ending.name == "no call of copy, line 3" and "valid pointer, line 3" in ending.limit.hidden
