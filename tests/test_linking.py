"""Several files as one program."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from minic_runs import outcome

from streamcheck.api.files import check, load
from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c

A = "static int n = 1; int twice(int x); extern int shared; int r; struct p { int n; };\n"
A += "int main(void) { struct p s = { 5 }; r = twice(n) + shared + s.n; assert(r == 117); return 0; }\n"
B = "static int n = 50; int shared = 10;\nstruct p { int n; };\n"
B += "int twice(int x) { struct p q = { n }; n++; return 2 * x + q.n + n - 1; }\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.c").write_text(A)
    (tmp_path / "b.c").write_text(B)
    return str(tmp_path / "a.c"), str(tmp_path / "b.c")


def test_static_names_belong_to_their_file(files):
    cfa, _ = read_c(files[0], "c", linked=[files[1]])
    assert outcome(cfa, [0], ["r", "n", "b::n"]) == "117 1 51"


def test_the_command_takes_files_as_one_program_and_its_certificates_name_them(files, tmp_path):
    folder = tmp_path / "proofs"
    command = [
        sys.executable,
        "-m",
        "streamcheck",
        "prove",
        *files,
        "--link",
        "--json",
        "--no-cache",
        "--timeout",
        "20",
    ]
    done = subprocess.run([*command, "--certificates", str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {p["verdict"] for p in json.loads(done.stdout)["properties"]} == {"proved"}
    saved = next(path for path in folder.iterdir() if "assert" in path.name)
    assert json.loads(saved.read_text())["program"]["linked"] == ["b.c"]
    assert check(saved).why is None


def test_python_takes_them_too(files):
    assert load(files[0], linked=[files[1]]).prove(timeout=20)["assert, line 2"].verdict == "proved"


def test_pointers_go_from_file_to_file(tmp_path):
    node = "struct node { int v; struct node *next; struct { struct node *other; } in[2]; };\n"
    (tmp_path / "a.c").write_text(
        node + "extern struct node *head; extern int (*hook)(int); int r; void setup(void);\n"
        "static int f(int x) { return x + 1; } static int v = 3;\n"
        "int main(void) { int (*own)(int) = f; setup(); r = hook(4) * 100 + own(4) * 10; hook = own;\n"
        "r += hook(1) + head->next->v; *head->in[1].other = *head; r = r * 10 + head->next->v; return 0; }\n"
    )
    (tmp_path / "b.c").write_text(
        node + "static struct node x = {1, 0}, y = {2, 0}; struct node *head; int (*hook)(int); static int v = 5;\n"
        "static int f(int x) { return x * v; }\n"
        "void setup(void) { x.next = &y; x.in[1].other = &y; head = &x; hook = f; }\n"
    )
    cfa, _ = read_c(str(tmp_path / "a.c"), "c", linked=[str(tmp_path / "b.c")])
    assert outcome(cfa, [0], ["r"]) == str((2000 + 50 + 2 + 2) * 10 + 1)


def test_types_of_one_name_must_be_the_same(files, tmp_path):
    (tmp_path / "b.c").write_text(B.replace("int n; };", "long n; };"))
    with pytest.raises(SpecError, match=r"p is another type in .*a\.c; give one of them another name"):
        read_c(files[0], "c", linked=[files[1]])


def test_a_function_has_one_definition(files, tmp_path):
    (tmp_path / "b.c").write_text(B + "int main(void) { return 0; }")
    with pytest.raises(SpecError, match="main is defined twice"):
        read_c(files[0], "c", linked=[files[1]])


def linked(tmp_path, *texts, function=None):
    """The automaton of files, each in a folder of its own if it has the name of another."""
    paths = []
    for i, (name, text) in enumerate(texts):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / name).write_text(text)
        paths.append(str(tmp_path / str(i) / name))
    return read_c(paths[0], "c", function, linked=paths[1:])[0]


MAIN = "int r, g(void);\nint main(void) { r = n; r = r * 10 + g(); return 0; }\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("static int n = 1;", "int n = 2; int g(void) { return n; }"),
        ("static int n; static int n = 1;", "int n; int g(void) { n = 2; return n; }"),
        ("static int n = 1;", "int g(void) { extern int n; n = 2; return n; }"),
        ("static int n = 1;", "int n(void) { return 2; } int g(void) { return n(); }"),
        ("static int n = 1;", "enum { n = 2 }; int g(void) { return n; }"),
        ("static int n = 1;", "typedef char n; int g(void) { n x = 2; return x; }"),
        ("enum { n = 1 };", "static int n = 2; int g(void) { return n; }"),
        ("static char n = 1;", "static short n; struct s { char b[sizeof n]; } t; int g(void) { return sizeof(t); }"),
    ],
)
def test_what_is_static_in_one_file_is_not_seen_in_the_others(tmp_path, first, second):
    cfa = linked(tmp_path, ("a.c", first + MAIN), ("b.c", second))
    assert outcome(cfa, [0], ["r"]) == "12"


def test_files_of_one_name_have_static_variables_of_their_own(tmp_path):
    one = "static int n; int f(void) { n = 1; return n; } int h(void) { return n; }"
    cfa = linked(
        tmp_path,
        ("a.c", "int r, f(void), g(void), h(void); int main(void) { r = f(); r = r * 10 + g(); r = r * 10 + h(); }"),
        ("b.c", one),
        ("b.c", "static int n; int g(void) { n = 2; return n; }"),
    )
    assert outcome(cfa, [0], ["r"]) == "121"


def test_a_static_function_of_the_first_file_is_found_by_its_name(tmp_path):
    texts = ("a.c", "int r; static int f(void) { assert(r); return 1; }"), ("b.c", "int f(void) { return 2; }")
    found = linked(tmp_path, *texts, function="f")
    assert [p.name for p in found.properties] == ["assert, line 1"]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("enum { n = 1 };", "enum { n = 2 }; int g(void) { return n; }", "n is another constant of an enum in"),
        ("enum { n = 1 };", "int n; int g(void) { return n; }", "n is a constant of an enum here"),
        (
            "struct s { int a; }; enum { n = 1 };",
            "struct s { char a; } f(void) { struct s t = { 1 }; return t; } int g(void) { return sizeof(struct s); }",
            "s is another type in",
        ),
        ("static int n;", "char g(void) { return 1; }", "g is declared with other types"),
    ],
)
def test_files_that_do_not_agree_are_refused(tmp_path, first, second, message):
    with pytest.raises(SpecError, match=message):
        linked(tmp_path, ("a.c", first + MAIN), ("b.c", second))
