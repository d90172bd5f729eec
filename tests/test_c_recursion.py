"""Functions that call themselves: read to a depth, and beyond it the model ends."""

from __future__ import annotations

import random
import subprocess

import pytest
from c_harness import have
from minic_runs import outcome

from streamcheck.api.files import load
from streamcheck.frontends.minic.read import read_c


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        file = tmp_path / "a.c"
        file.write_text(text)
        return read_c(str(file), "c", **options)[0]

    return read


def limits(cfa):
    return [e.name for e in cfa.errors if e.limit is not None]


FIBONACCI = "int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }\n"


def test_calls_with_constants_end_by_themselves(read):
    cfa = read(FIBONACCI + "int main(void) { int x = 7; int r = fib(x); assert(r == 13); }")
    assert not limits(cfa)
    assert outcome(cfa, [0], ["r"]) == "13"


def test_each_call_has_its_own_variables_and_they_share_static_ones(read):
    text = """
    int down(int n) { static int calls = 0; int mine = n * 10; calls++; if (n > 0) down(n - 1); return mine + calls; }
    int main(void) { int r = down(3); assert(r == 34); }
    """
    cfa = read(text)
    assert outcome(cfa, [0], ["r"]) == "34"


def test_the_function_that_is_read_may_call_itself(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(
        "int down(int n) {\n static int calls = 0;\n if (n == 7) calls = 0;\n calls++;\n if (n == 7) { down(3);\n"
        " assert(calls == 2); }\n return 0; }\n"
    )
    found = {r.name: r.verdict for r in load(f"{file}::down").prove(timeout=30)}
    assert found["assert, line 6"] == "proved"


def test_functions_that_call_each_other(read):
    text = """
    int odd(int n);
    int even(int n) { return n == 0 ? 1 : odd(n - 1); }
    int odd(int n) { return n == 0 ? 0 : even(n - 1); }
    int main(void) { int n = nondet_int(); if (n < 0 || n > 6) return 0; int r = even(n); assert(r == (n % 2 == 0)); }
    """
    cfa = read(text)
    for n in range(7):
        assert outcome(cfa, [n], ["r"]) == str(int(n % 2 == 0))


def test_a_bound_on_the_argument_is_a_bound_on_the_calls(tmp_path):
    file = tmp_path / "a.c"
    text = "int sum(int n) { if (n <= 0) return 0; return n + sum(n - 1); }\n"
    file.write_text(
        text
        + "int main(void) { int n = nondet_int(); if (n < 0 || n > 5) return 0; assert(sum(n) == n * (n + 1) / 2); }"
    )
    results = load(file).prove(timeout=30)
    assert {r.name: r.verdict for r in results}["assert, line 2"] == "proved"


def test_calls_that_go_deeper_are_unknown_and_what_fails_before_is_found(tmp_path):
    file = tmp_path / "a.c"
    file.write_text(
        "unsigned id(unsigned n) { if (n == 0) return 0; return 1 + id(n - 1); }\n"
        "int main(void) { unsigned n = nondet_uint(); unsigned r = id(n);\n assert(r == n);\n assert(r != 5); }\n"
    )
    found = {r.name: r for r in load(file).prove(timeout=30)}
    assert found["assert, line 4"].verdict == "falsified"
    assert found["assert, line 3"].verdict == "unknown"
    assert "id calls itself, and calls are read" in found["no call of id, line 1"].reason


def test_code_after_a_jump_into_a_loop_is_read(read):
    """The head of the loop is met first where no run gets to, and a jump leads into the loop later."""
    text = """
    int f(int n) { return n <= 0 ? 0 : 1 + f(n - 1); }
    int main(void) { int n = 3, s = 0; goto in; while (f(n) > 0) { in: s += 10; n--; } assert(s == 30); }
    """
    assert outcome(read(text), [0], ["s"]) == "30"


DEEPER = """
int f(int n) {
  if (n == 60) assert(0);
  if (n > 70) return 0;
  return f(n + 1); }
int main(void) { int n = nondet_int() & 1; assert(n < 2); return f(n); }
"""
MUTUAL = """
int f(int n);
int g(int n) { assert(n < 60); return f(n + 1); }
int f(int n) { if (n > 70) return 0;
  if (n > 50) return g(n);
  return f(n + 1); }
int main(void) { return f(nondet_int() & 1); }
"""
AFTER = """
extern int other(int *);
static int x;
static int f(int n) { assert(x == 0); return n > 0 ? f(n - 1) : 0; }
int main(void) { f(1);
  other(&x);
  return f(1); }
"""


@pytest.mark.parametrize(
    ("text", "end", "claim"),
    [
        (DEEPER, "no call of f, line 5", "assert, line 3"),
        (MUTUAL, "no call of f, line 6", "assert, line 3"),
        (AFTER, "no call of other, line 6", "assert, line 4"),
    ],
    ids=["own", "of another", "after the model ends"],
)
def test_claims_that_only_deeper_calls_meet_are_not_proved(read, text, end, claim):
    cfa = read(text)
    (limit,) = [e.limit for e in cfa.errors if e.name == end]
    assert claim in limit.hidden
    assert "assert, line 6" not in limit.hidden  # of a caller, before the call


def test_claims_of_functions_that_are_only_called_after_the_end_of_the_model_are_known(read):
    text = AFTER.replace("main(void) { f(1);", "main(void) {")
    (limit,) = [e.limit for e in read(text).errors if e.name == "no call of other, line 6"]
    assert "assert, line 4" in limit.hidden


def test_functions_in_one_line_may_each_own_a_claim(read):
    text = "int f(int n) { assert(n != 60); return n > 70 ? 0 : f(n + 1); } int main(void) { f(nondet_int() & 1); }"
    (limit,) = [e.limit for e in read(text).errors if e.limit is not None]
    assert "assert, line 1" in limit.hidden


@pytest.mark.skipif(not have("gcc"), reason="gcc is not here")
def test_random_recursive_programs_do_what_compiled_ones_do(tmp_path):
    for seed in range(4):
        r = random.Random(f"recursion {seed}")
        text = (
            f"unsigned g = {r.randint(0, 9)}u;\n"
            "unsigned b(unsigned n, unsigned k);\n"
            f"unsigned a(unsigned n, unsigned k) {{ unsigned t = n * {r.randint(1, 9)}u + k;"
            " static unsigned s = 1; s += t;"
            f" if (n < {r.randint(1, 2)}u) return s {r.choice('+^*')} k; g {r.choice('+^')}= t;"
            f" unsigned p = a(n - 1, k + 1), q = {r.choice(['a', 'b'])}(n - 1, t);"
            f" return p {r.choice('+-^')} q * {r.randint(1, 3)}u; }}\n"
            f"unsigned b(unsigned n, unsigned k) {{ unsigned u[2] = {{ k, n }}; if (n == 0) return g;"
            f" unsigned q = a(n - 1, k); u[n % 2] += q; return u[0] {r.choice('+-^')} u[1]; }}\n"
            "int main(void) { unsigned n = nondet_uint() % 3; unsigned r = a(n, 3); "
        )
        file, program = tmp_path / f"r{seed}.c", tmp_path / "r"
        file.write_text(text + "}\n")
        cfa, _ = read_c(str(file), "c")
        for n in range(3):
            shown = text.replace("nondet_uint()", f"{n}u") + ' printf("%u %u", g, r); }\n'
            (tmp_path / "run.c").write_text("#include <stdio.h>\n" + shown)
            subprocess.run(["gcc", "-w", "-O1", str(tmp_path / "run.c"), "-o", str(program)], check=True)
            wanted = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
            assert outcome(cfa, [n], ["g", "r"], limit=100_000) == wanted, text
