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


def test_types_of_one_name_must_be_the_same(files, tmp_path):
    (tmp_path / "b.c").write_text(B.replace("int n; };", "long n; };"))
    with pytest.raises(SpecError, match=r"p is another type in .*a\.c; give one of them another name"):
        read_c(files[0], "c", linked=[files[1]])


def test_a_function_has_one_definition(files, tmp_path):
    (tmp_path / "b.c").write_text(B + "int main(void) { return 0; }")
    with pytest.raises(SpecError, match="main is defined twice"):
        read_c(files[0], "c", linked=[files[1]])
