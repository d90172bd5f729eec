"""Arrays whose length is known only as the program runs."""

from __future__ import annotations

import pytest
from c_harness import have
from minic_runs import compiled, joined, outcome, run
from test_minic import claims, ends, main, read

from streamcheck.api.files import load
from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c

__all__ = ["read"]

# Programs that do what compiled ones do, each with inputs

CHAR = "unsigned char n = __VERIFIER_nondet_uchar();"
SUM = "int sum(int *p, int k) { int s = 0; for (int i = 0; i < k; i++) s += p[i]; return s; }\n"
PROGRAMS = [
    (
        f"int r;\nint main(void) {{ {CHAR}\nint a[n];\nfor (int i = 0; i < n; i++) a[i] = i;"
        " r = a[n - 1] + sizeof a; }\n",
        [1, 5, 0],
    ),
    (
        f"int r;\nint main(void) {{ {CHAR}\nint a[n + 2]; a[0] = 7; a[__VERIFIER_nondet_int()] = 5;\nr = a[0]; }}\n",
        [(1, 2), (1, 3), (1, -1)],
    ),
    (
        "int r;\nint main(void) { int n = __VERIFIER_nondet_int();\nint a[n]; a[0] = 3; r = a[0] + sizeof a[0]; }\n",
        [0, -4, 2],
    ),
    (
        f"int r;\nint main(void) {{ {CHAR} unsigned char m = __VERIFIER_nondet_uchar();\nshort a[n][m];\n"
        "for (int i = 0; i < n; i++) for (int k = 0; k < m; k++) a[i][k] = 10 * i + k;\n"
        "r = 1000 * sizeof a + 100 * sizeof a[0] + a[n - 1][m - 1]; a[0][n] = 0; }\n",
        [(2, 3), (3, 2), (4, 0), (1, 1)],
    ),
    (
        f"{SUM}int r;\nint main(void) {{ {CHAR}\nint a[n];\nfor (int *p = a; p < a + n; p++) *p = 2;\n"
        "r = sum(a, n); r += sum(a + 1, n - 1); }\n",
        [1, 4],
    ),
    (  # a new array in each round
        "int r;\nint main(void) { for (unsigned char i = 1; i < 5; i++) {"
        "\nint a[i]; a[i - 1] = i; r += a[i - 1] + sizeof a; }\n}\n",
        [0],
    ),
    (  # each active call has its own length
        "int r;\nint f(unsigned char n) { int a[n + 1]; a[n] = n; int s = 0; if (n > 0) s = f(n - 1);"
        "\nreturn s + a[n] + sizeof a; }\n"
        "int main(void) { r = f(3); }\n",
        [0],
    ),
    (  # the length is that of the declaration, whatever its variable holds later
        f"int r;\nint main(void) {{ {CHAR}\nint a[n]; int k = n; n = 200; a[k - 1] = 1; r = sizeof a;\na[k] = 2; }}\n",
        [2],
    ),
    ("int r, n = 4;\nint main(void) { char a[2 * n + 1];\nr = sizeof a; a[__VERIFIER_nondet_int()] = 1; }\n", [8, 9]),
    ("int r;\nint k = 3; int main(void) { int a[k++]; r = k + sizeof a; }\n", [0]),
    (
        f"int r;\nint last(int n, int a[n]) {{ return a[n - 1]; }}\n"
        f"int main(void) {{ {CHAR}\nint a[n]; a[n - 1] = 6; r = last(n, a); }}\n",
        [3],
    ),
]


@pytest.mark.skipif(not have("gcc", "clang"), reason="gcc and clang are not here")
def test_arrays_of_variable_length_do_what_compiled_ones_do(tmp_path):
    checked, fast = compiled(tmp_path, joined([(text, [("r", 0)]) for text, _ in PROGRAMS]))
    for i, (text, runs) in enumerate(PROGRAMS):
        path = tmp_path / f"p{i}.c"
        path.write_text(text)
        cfa, _ = read_c(str(path), "c")
        for given in runs:
            given = list(given) if isinstance(given, tuple) else [given]
            wanted = run(checked, i, given)
            assert outcome(cfa, given, ["r"]) == wanted, f"{text} {given}"
            assert "line" in wanted or run(fast, i, given) == wanted


# Lengths that the text gives, and those it does not


def test_a_length_that_the_path_gives_is_a_constant(read):
    cfa = read(main("int n = 3; int a[n]; n = 9; a[1] = 1; r = sizeof a;"))
    assert not any("length" in str(v.payload) for v in cfa.variables)
    assert claims(cfa) == []
    assert ends(cfa) == 12


def test_a_global_that_has_its_first_value_gives_a_length(read):
    assert claims(read(main("int a[n]; a[4] = 1; r = sizeof a;", before="int n = 5; "))) == []
    assert "index in bounds, line 1" in claims(
        read("int n = 5; int f(void) { int a[n]; return a[4] = 1; }", function="f")
    )


def test_a_length_of_two_paths_is_not_constant(read):
    cfa = read(main("unsigned char n = 3; if (s) n = 2; int a[n]; r = sizeof a; a[2] = 1;"))
    assert [ends(cfa, 1), "index in bounds, line 1" in claims(cfa)] == [12, True]


def test_longer_arrays_than_there_is_storage_for_are_not_known(tmp_path):
    path = tmp_path / "a.c"
    text = "int main(void) {{ int n = __VERIFIER_nondet_int(); {}\nint a[n];\n"
    text += " a[0] = 1;\n assert(a[0] == 1 && n < 4000000);\n}}"
    path.write_text(text.format("if (n < 1) return 0;"))
    cfa, _ = read_c(str(path), "c")
    limits = {e.name: e.limit for e in cfa.errors if e.limit is not None}
    assert list(limits) == ["no array a of more than 2,000,000, line 2"]
    assert "assert, line 4" in limits["no array a of more than 2,000,000, line 2"].hidden
    path.write_text(text.format("if (n < 1 || n > 1000) return 0;"))
    assert {r.name: r.verdict for r in load(str(path)).prove(timeout=30) if r.verdict != "proved"} == {}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("int a[s] = {1};", "a has a variable length, so it cannot be initialised"),
        ("goto end; int a[s]; end: r = 1;", "a jump skips the declaration of a, of variable length"),
        ("switch (r) { case 0:; int a[s]; case 1: r = 2; }", "a jump skips the declaration of a, of variable length"),
        ("int n = 3; goto end; int a[n]; end: r = 1;", "a jump skips the declaration of a, of variable length"),
        ("int a[1.5 + s];", "1.5 [+] s is not an integer"),
        ("static int a[s];", "the size of an array must be a constant"),
        ("int a[s]; memset(a, 0, 4);", "an array of variable length as bytes is not supported"),
        ("int a[s++][s];", "lengths of an array with side effects are not supported"),
        ("typedef int T[s]; T a;", "the size of an array must be a constant"),
        ("int a[s]; int (*p)[s] = &a;", "the size of an array must be a constant"),
    ],
)
def test_what_is_refused(read, body, message):
    with pytest.raises(SpecError, match=message):
        read(f"#include <string.h>\n{main(body)}")
