"""Statements in an expression, ({ … }), an extension of gcc and clang."""

from __future__ import annotations

import pytest
from c_harness import have
from minic_runs import compiled, joined, outcome, run
from test_minic import ends, main, read

from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c

__all__ = ["read"]

MAX = "#define MAX(a, b) ({ int a_ = (a), b_ = (b); a_ > b_ ? a_ : b_; })\n"
ABS = "#define ABS(x) ({ int x_ = (x); if (x_ < 0) x_ = -x_; x_; })\n"
PROGRAMS = [
    (f"{MAX}int r;\nint main(void) {{ int x = __VERIFIER_nondet_int();\nr = MAX(x, MAX(3, -x)) + 1;\n}}\n", [1, -9, 9]),
    (
        f"{ABS}int r;\nint main(void) {{ int x = __VERIFIER_nondet_int();\nr = ABS(x) * 2 + ABS(x + 1); }}\n",
        [4, -4, -1, 2**31 - 1],
    ),
    (f"{ABS}int r;\nint f(int x) {{ return x > 0 ? ABS(-x) + f(x - 1) : 0; }}\nint main(void) {{ r = f(4); }}\n", [0]),
    (
        "int r;\nint main(void) { int x = 3; r = x + ({ int s = 0;"
        "\nfor (int i = 0; i < x; i++) { if (i == 1) continue; s += i; } s; }); }\n",
        [0],
    ),
    (
        "struct p { int x, y; }; int r;\nint main(void) { struct p q = ({ struct p t = {1, 2}; t.y += 5; t; });"
        "\nr = q.x + q.y; }\n",
        [0],
    ),
    (
        "int r;\nint main(void) { int x = __VERIFIER_nondet_int();"
        "\nif (x > 0 && ({ r = 7; x > 5; })) r++;\n({ r += 1; }); }\n",
        [0, 3, 8],
    ),
    (
        "int r;\nint main(void) { int x = __VERIFIER_nondet_int();"
        "\n((void) sizeof(x), ({ if (x > 2) ; else r = 1; })); }\n",
        [0, 3],
    ),
    (
        "int r;\nint main(void) { int x = __VERIFIER_nondet_int();"
        "\nr = ({ switch (x) { case 1: x = 5; break; default: x = 6; } x; }); }\n",
        [1, 2],
    ),
    ("int r;\nint main(void) { int i = 0;\nwhile (({ i += 2; i < 7; })) r += i; }\n", [0]),
]


@pytest.mark.skipif(not have("gcc", "clang"), reason="gcc and clang are not here")
def test_statements_in_expressions_do_what_compiled_ones_do(tmp_path):
    checked, fast = compiled(tmp_path, joined([(text, [("r", 0)]) for text, _ in PROGRAMS]))
    for i, (text, runs) in enumerate(PROGRAMS):
        path = tmp_path / f"p{i}.c"
        path.write_text(text)
        cfa, _ = read_c(str(path), "c")
        for given in runs:
            wanted = run(checked, i, [given])
            assert outcome(cfa, [given], ["r"]) == wanted, f"{text} {given}"
            assert "line" in wanted or run(fast, i, [given]) == wanted


def test_operands_beside_them_keep_their_order_open(read):
    """C does not say whether the other operand is evaluated before, between or after the statements."""
    cfa = read(main("int x = 1; r = x + ({ x = 2; 1; });"))
    assert ends(cfa) == "no dependence on the order of calls, line 1"
    cfa = read(main("int x = 1; r = ({ int y = x; y += 1; y; }) + ({ int y = x; y; });"))
    assert ends(cfa) == 3


def test_what_they_declare_ends_with_them(read):
    assert ends(read(main("int *p = ({ int y = 1; &y; }); r = *p;"))) == "no dangling pointer, line 1"


@pytest.mark.parametrize(
    "body",
    [
        "r = ({ return 1; 2; });",
        "while (s) r = ({ break; 2; });",
        "goto in; r = ({ in: 2; });",
        "r = ({ goto out; 2; }); out: r = 1;",
        "switch (s) { case 1: r = ({ case 2: 2; }); }",
    ],
)
def test_jumps_into_and_out_of_them_are_refused(read, body):
    with pytest.raises(SpecError, match=r"a.c:1: a jump into or out of statements in an expression"):
        read(main(body))
