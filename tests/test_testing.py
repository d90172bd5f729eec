"""Proofs among tests: the pytest plugin and `assert_proved`, in sessions of their own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamcheck import *
from streamcheck.testing import assert_proved

SPEC = """from streamcheck import *

x = extern("x", Word8)
total = stream(Word8, lambda t: [0] ++ mux(x > 9, t + 1, t))
spec = Spec("counter")
spec.prop("small", total < 3)
spec.prop("follows", implies(total > 0, pre(False, total > 0) | pre(False, x > 9)))
other = Spec("other")
other.prop("same", x == x)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "counter.py").write_text(SPEC)
    (tmp_path / "specs" / "helper.py").write_text("raise SystemExit('a module that is no spec is not loaded')\n")
    return tmp_path


def pytest_in(folder, *words):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def counts(done):
    found = re.findall(r"(\d+) (passed|failed|xfailed|error|deselected)", done.stdout)
    return {word: int(number) for number, word in found}


def test_each_property_is_a_test(folder):
    done = pytest_in(folder, "specs")
    assert counts(done) == {"passed": 2, "failed": 1} and done.returncode == 1
    assert 'counter.py:6: spec.prop("small", total < 3)' in done.stdout  # the user's line
    assert re.search(r"falsified +small +\w+, step 3", done.stdout)
    assert re.search(r"total +0 +1\* +2\* +3\*", done.stdout)
    assert "Traceback" not in done.stdout and "runtest" not in done.stdout


def test_names_choose(folder):
    done = pytest_in(folder, "specs", "-k", "follows or same", "-v")
    assert counts(done) == {"passed": 2, "deselected": 1}
    assert "specs/counter.py::counter::follows PASSED" in done.stdout
    one = pytest_in(folder, "specs/counter.py::other::same")
    assert counts(one) == {"passed": 1}


def test_a_property_may_be_expected_to_fail(folder):
    (shown,) = re.findall(r"^```py\n(.*?)^```", Path("docs/reports.md").read_text(), re.M | re.S)
    (folder / "conftest.py").write_text(shown.replace("never_long", "small"))
    done = pytest_in(folder, "specs")
    assert counts(done) == {"passed": 2, "xfailed": 1} and done.returncode == 0


def test_workers_of_xdist_share_the_properties(folder):
    done = pytest_in(folder, "specs", "-n", "2")
    assert counts(done) == {"passed": 2, "failed": 1}


def test_a_mistake_in_a_spec_is_told_with_its_line(folder):
    (folder / "specs" / "wrong.py").write_text('from streamcheck import *\nspec = Spec("s")\nspec.prop("p", 1 + tru)\n')
    done = pytest_in(folder, "specs")
    assert counts(done)["error"] == 1 and "wrong.py:3" in done.stdout and "'tru' is not defined" in done.stdout


def test_a_verdict_that_is_missing_fails_with_the_reason(folder):
    hard = SPEC.replace('other.prop("same", x == x)', 'other.prop("same", total * total * total * total != 131)')
    (folder / "specs" / "counter.py").write_text(hard)
    done = pytest_in(folder, "specs", "-k", "same", "--prove-timeout", "0")
    assert counts(done)["failed"] == 1 and re.search(r"unknown +same", done.stdout)


def test_other_files_are_specs_if_the_project_says_so(folder):
    (folder / "monitors").mkdir()
    (folder / "monitors" / "m.py").write_text(SPEC.replace('"small", total < 3', '"small", total >= 0'))
    (folder / "pytest.ini").write_text("[pytest]\nstreamcheck_files = monitors/*\n")
    assert counts(pytest_in(folder, "specs", "monitors")) == {"passed": 3}


def test_assert_proved_shows_the_run():
    x = extern("x", Word8)
    spec = Spec("s")
    spec.prop("low", x < 200)
    with pytest.raises(AssertionError, match=r"falsified +low[\s\S]*x +2\d\d"):
        assert_proved(spec)
    held = Spec("t")
    held.prop("same", x == x)
    assert assert_proved(held, timeout=30)["same"].proved
