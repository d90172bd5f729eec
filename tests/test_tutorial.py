"""docs/tutorial.md: each command in it prints what is shown, but for times, engines and values that a solver chose."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from streamcheck.cli import cli

COMMAND = str(Path(sys.executable).parent / "streamcheck")
PAGE = Path("docs/tutorial.md").read_text()
SESSIONS = re.findall(r"^```console\n\$ streamcheck ([^\n]*)\n(.*?)^```$", PAGE, re.M | re.S)
MARK = "      * changed"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tutorial")
    shutil.copytree("specs", path / "specs")
    return path


@pytest.mark.parametrize(("command", "shown"), SESSIONS, ids=[command.split()[0] for command, _ in SESSIONS])
def test_a_command_prints_what_is_shown(command, shown, folder):
    if command.startswith("compile") and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    done = subprocess.run(f"{COMMAND} {command}", shell=True, cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    printed, expected = certain(done.stdout), certain(shown)
    missing = expected - printed
    missing.pop("…", None)
    assert not missing and ("…" in expected or printed == expected)


def certain(text):
    """The lines, with what another engine or another solver would print in the same way."""
    found, in_table = Counter(), False
    for line in text.splitlines():
        in_table = (in_table or re.fullmatch(r" {6}step[ \d…]+", line) is not None) and not line.startswith(MARK)
        if in_table:
            found[re.split(r"\s{2,}", line.strip())[0]] += 1
            continue
        line = re.sub(r"\d+\.\d\d s", "… s", line)
        line = re.sub(r"at step \d+|run \d+, step \d+|\d+ runs? of \d+ steps|at most \d+ (steps|bytes)", "…", line)
        verdict = re.match(r"\s+(proved|falsified|reachable)\s+(.*?)  ", line)
        found[" ".join(verdict.groups() if verdict else line.split())] += 1
    return found


def test_the_alarm_shown_is_the_one_in_the_file():
    shown = re.search(r"@component\ndef alarm.*?return sound\n", PAGE, re.S)[0]
    text = Path("specs/components/redundant_sensors.py").read_text()
    assert all(line in text.splitlines() for line in shown.splitlines())


def test_the_requirement_that_is_missing_notices_the_mutants(tmp_path):
    """As the page says: of `count` and `sound`, all but equivalent ones."""
    text = Path("specs/components/redundant_sensors.py").read_text()
    better = re.search(r"^    (whenever !persisted.*)$", PAGE, re.M)[1]
    assert "whenever !differ & !trip the alarm shall immediately satisfy !sound" in text
    path = tmp_path / "better.py"
    path.write_text(re.sub(r"whenever !differ & !trip the .* !sound", better, text))
    done = CliRunner().invoke(cli, ["mutants", f"{path}::alarm", "--quiet"], standalone_mode=False)
    rows = [line for line in done.output.splitlines() if re.search(r"  (count|sound|‹line \d+›): ", line)]
    assert rows and not [row for row in rows if "not noticed" in row or "open" in row], done.output
