"""`init` and `doctor`: a project that works at once, and what a machine has."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_schemas import require

from streamcheck.api import doctor
from streamcheck.core.errors import SpecError
from streamcheck.deliver.new_project import name_for, write_project

COMMAND = str(Path(sys.executable).parent / "streamcheck")


def run(folder, *words):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env={**os.environ, "PATH": path})


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    where = tmp_path_factory.mktemp("new")
    done = run(where, COMMAND, "init", "plant", "--name", "pump")
    assert done.returncode == 0 and done.stdout.endswith("next: cd plant && streamcheck prove\n")
    return where / "plant"


def test_a_new_project_is_proved_and_its_tests_pass(project):
    done = run(project, COMMAND, "prove", "--no-cache")
    assert done.returncode == 0 and done.stdout.count("proved ") == 2 and "reachable  shuts" in done.stdout
    tested = run(project, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert "5 passed" in tested.stdout, tested.stdout
    ran = run(project, COMMAND, "run", "specs/pump.py", "--fail")
    assert ran.returncode == 0 and "(253)" in ran.stdout


@pytest.mark.skipif(shutil.which("cmake") is None or shutil.which("cc") is None, reason="no cmake, or no C compiler")
def test_a_new_project_is_built_by_cmake(project):
    for words in ("cmake -B build", "cmake --build build", "ctest --test-dir build"):
        done = run(project, *words.split())
        assert done.returncode == 0, done.stdout + done.stderr
    demo = subprocess.run([project / "build/pump_demo"], input="251\n252\n253\n254\n", capture_output=True, text=True)
    assert demo.stdout == "shutoff at 254\n"
    assert (
        "proved equal to the spec"
        in (project / "build/generated/pump.c").read_text() + (project / "build/generated/pump.h").read_text()
    )


def test_the_workflow_calls_commands_that_there_are(project):
    text = (project / ".github/workflows/streamcheck.yml").read_text()
    lines = re.findall(r"run: (.*)", text)
    assert any("--output github -" in line for line in lines) and "streamcheck doctor" in lines
    (words,) = [line.split()[1:] for line in lines if line.startswith("streamcheck prove")]
    done = run(project, COMMAND, *words)
    assert done.returncode == 0 and (project / "report.xml").exists()


def test_nothing_is_written_over(project):
    before = (project / "specs/pump.py").read_text()
    done = run(project, COMMAND, "init", "--name", "pump")
    assert done.returncode == 2 and "specs/pump.py" in done.stderr and "nothing is written over" in done.stderr
    assert (project / "specs/pump.py").read_text() == before


@pytest.mark.parametrize("name", ["int", "errno", "sin", "Pump", "a-b", "1a", ""])
def test_a_name_that_c_refuses_is_refused(tmp_path, name):
    with pytest.raises(SpecError, match="is no name for a spec and its C"):
        write_project(str(tmp_path), name)
    assert not list(tmp_path.iterdir())


def test_the_next_command_can_be_pasted(tmp_path):
    done = run(tmp_path, COMMAND, "init", "my pump")
    assert done.stdout.endswith("next: cd 'my pump' && streamcheck prove\n")


def test_every_extra_for_users_is_examined():
    import tomllib

    extras = tomllib.loads(Path("pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {extra for _, _, extra in doctor.EXTRAS.values()} == set(extras) - {"docs"}


def test_a_project_is_named_after_its_folder():
    assert name_for("/some/Rate-Limit 2") == "rate_limit_2" and name_for("/some/42") == "monitor"


def test_doctor_examines_this_machine():
    done = run(Path.cwd(), COMMAND, "doctor", "--json")
    require("doctor", json.loads(done.stdout))
    parts = {p["name"]: p for p in json.loads(done.stdout)["parts"]}
    assert done.returncode == 0 and all(p["finding"] == "ok" for p in parts.values() if p["needed"])
    assert {"z3-solver", "cvc5", "bitwuzla", "click", "a proof"} <= {p["name"] for p in parts.values() if p["needed"]}
    assert all(p["get"] for p in parts.values() if p["finding"] != "ok")


def test_doctor_names_what_is_missing_and_how_to_get_it(monkeypatch):
    monkeypatch.setattr(doctor, "SOLVERS", {"no-such-solver": "nothing"})
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setattr(doctor, "_proof", lambda: doctor.CheckedTool("a proof", "wrong", "why", needed=True))
    found = {part.name: part for part in doctor.examine()}
    assert found["no-such-solver"].finding == "missing" and found["no-such-solver"].get == "pip install no-such-solver"
    assert found["C compiler"].finding == "missing" and "apt install gcc" in found["C compiler"].get
    text = "\n".join(line for part in found.values() for line in part.lines())
    assert re.search(r"missing +cmake +not installed", text) and re.search(r"wrong +a proof +why", text)


def test_the_extras_that_doctor_names_are_those_of_the_package():
    text = Path("pyproject.toml").read_text()
    assert all(re.search(rf"^{extra} = \[", text, re.M) for _, _, extra in doctor.EXTRAS.values())
