"""Task files of the software verification competition."""

from __future__ import annotations

import subprocess
import sys

import pytest

from streamcheck.core.errors import SpecError
from streamcheck.frontends.task import TaskProperty, VerificationTask, read_task

PROGRAM = """extern int __VERIFIER_nondet_int(void);
void reach_error(void) { __VERIFIER_error(); }
int main(void) { int x = __VERIFIER_nondet_int(); long y = x;
  if (sizeof(y) != 4) reach_error();
  x = x + 1; return 0; }
"""
TASK = """format_version: '2.0'

# old name: a_true.c
input_files: 'a.c'

properties:
  - property_file: ../properties/unreach-call.prp
    expected_verdict: true
  - expected_verdict: false  # at line 5
    property_file: ../properties/no-overflow.prp
  - property_file: ../properties/coverage-branches.prp

options:
  language: C
  data_model: ILP32
"""


@pytest.fixture
def task(tmp_path):
    (tmp_path / "a.c").write_text(PROGRAM)

    def write(text):
        (tmp_path / "t.yml").write_text(text)
        return str(tmp_path / "t.yml")

    return write


def prove(path):
    command = [sys.executable, "-m", "streamcheck", "prove", path, "--no-cache", "--timeout", "20"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stderr.splitlines()


def test_a_task_names_files_properties_and_the_data_model(task, tmp_path):
    given = (TaskProperty("unreach-call", True), TaskProperty("no-overflow", False))
    known = VerificationTask((str(tmp_path / "a.c"),), "ILP32", (*given, TaskProperty("coverage-branches", None)))
    assert read_task(task(TASK)) == known
    two = read_task(task(TASK.replace("'a.c'", '["a.c", b.c]')))
    assert two.files == (str(tmp_path / "a.c"), str(tmp_path / "b.c"))
    below = read_task(task(TASK.replace("input_files: 'a.c'", "input_files:\n  - a.c\n  - 'b.c'")))
    assert below.files == two.files


def test_the_answers_are_compared_with_the_expected_ones(task):
    assert prove(task(TASK)) == (1, ["unreach-call: true, expected true", "no-overflow: false, expected false"])
    status, said = prove(task(TASK.replace("ILP32", "LP64").replace("no-overflow", "termination")))
    assert status == 4
    assert said == ["note: the property termination is not supported", "unreach-call: false, expected true"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("'2.0'", "'3.0'", "a task of format 3.0; 2.0 is supported"),
        ("language: C", "language: Java", "a task in Java; only C is supported"),
        ("input_files: 'a.c'", "", "it has no input_files"),
        ("expected_verdict: true", "expected_verdict: maybe", "the verdict maybe of unreach-call is neither true nor"),
    ],
)
def test_what_a_task_file_must_have(task, old, new, message):
    with pytest.raises(SpecError, match=message):
        read_task(task(TASK.replace(old, new)))


def test_a_task_without_a_supported_property_is_refused(task):
    text = TASK.replace("unreach-call", "termination").replace("no-overflow", "valid-memcleanup")
    status, said = prove(task(text))
    assert status == 2
    assert "has no property that is supported: termination, valid-memcleanup" in " ".join(said)


@pytest.mark.parametrize(
    ("text", "prop", "answer"),
    [
        (
            "extern int other(int *);\nint f(int n) { if (n == 7) reach_error(); return n > 0 ? f(n - 1) : 0; }\n"
            "int main(void) { int x = 3; other(&x); f(x); return 0; }\n",
            "unreach-call",
            "unknown",
        ),
        (
            "extern int other(int *);\nint main(void) { int x = 3; other(&x); x = x + 1; return x; }\n",
            "no-overflow",
            "unknown",
        ),
        ("int a[3];\nint main(void) { int *p = a; p = p + 5; return 0; }\n", "valid-memsafety", "false"),
    ],
)
def test_what_comes_after_the_end_of_the_model_is_not_true(task, tmp_path, text, prop, answer):
    """Claims that are not in the automaton, because no run of it gets there, are none that hold."""
    given = TASK.replace("no-overflow", "termination").replace("unreach-call", prop)
    path = task(given)
    (tmp_path / "a.c").write_text(text)
    _, said = prove(path)
    assert any(line.startswith(f"{prop}: {answer}") for line in said), said
