"""What the README shows is what happens."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path("README.md").read_text()
COMMAND = str(Path(sys.executable).parent / "streamcheck")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.S | re.M)


def test_the_first_spec_prints_what_is_shown(tmp_path):
    (tmp_path / "engine.py").write_text(blocks("python")[0])
    sessions = re.findall(r"^\$ streamcheck (.*)\n((?:(?!\$ ).*\n)*)", blocks("console")[0], re.M)
    assert [command for command, _ in sessions] == ["prove engine.py", "run engine.py"]
    for command, shown in sessions:
        done = subprocess.run([COMMAND, *command.split()], cwd=tmp_path, capture_output=True, text=True)
        printed = done.stdout + done.stderr
        assert list(map(certain, printed.splitlines())) == list(map(certain, shown.splitlines()))


def certain(line):
    """What does not depend on the machine or the solver's choice: no seconds, no inputs it chose freely."""
    line = re.sub(r"\d+\.\d\d s", "… s", line)
    name = line.split()[:1]
    return name if name in (["probe"], ["cooler"]) and "(" in line else line.split()


def test_the_error_shown_is_the_error_given(tmp_path):
    (tmp_path / "engine.py").write_text("""\
from streamcheck import *

n = extern("n", Int)
spec = Spec("s")
spec.observer("n", n)

k = [0] ++ n + 1
""")
    done = subprocess.run([COMMAND, "show", "engine.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == blocks("console")[1]


def test_the_lustre_session_prints_what_is_shown(tmp_path):
    (session,) = (b for b in blocks("console") if "counter.lus" in b)
    program, shown = session.removeprefix("$ cat counter.lus\n").split("$ streamcheck prove counter.lus\n")
    (tmp_path / "counter.lus").write_text(program)
    done = subprocess.run([COMMAND, "prove", "counter.lus"], cwd=tmp_path, capture_output=True, text=True)
    assert list(map(certain, done.stdout.splitlines())) == list(map(certain, shown.splitlines()))


def test_the_programs_session_prints_what_is_shown():
    (session,) = (b for b in blocks("console") if "lock.c" in b)
    sessions = re.findall(r"^\$ streamcheck (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)
    assert len(sessions) == 2
    chosen_freely = re.compile(r"[ab] = -?\d+|, path compression")
    for command, shown in sessions:
        done = subprocess.run([COMMAND, *command.split()], capture_output=True, text=True)
        printed, told = (
            [chosen_freely.sub("", " ".join(certain(row))) for row in text.splitlines()]
            for text in (done.stdout, shown)
        )
        assert printed == told


def test_the_automaton_shown_is_read(tmp_path):
    (text,) = (b for b in blocks("") if "initial start" in b)
    (tmp_path / "lock.aut").write_text(text)
    done = subprocess.run([COMMAND, "prove", "lock.aut"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "mathematical integers" in done.stdout and "falsified  bad" in done.stdout


def test_the_c_shown_is_the_c_generated(tmp_path):
    (tmp_path / "engine.py").write_text(blocks("python")[0])
    options = ["--observers", "--unproven", "--no-validate", "-o", "out"]
    subprocess.run([COMMAND, "compile", "engine.py", *options], cwd=tmp_path, capture_output=True, check=True)
    written = [line.removeprefix("    ") for line in (tmp_path / "out" / "engine.c").read_text().splitlines()]
    assert "\n".join(written).count(blocks("c")[0]) == 1


def test_two_setup_blocks_of_one_line_each():
    setups = blocks("sh")
    assert len(setups) == 2 and all(block.count("\n") == 1 for block in setups)
    assert "specs/engine_monitor.py" in setups[0] and "pytest" in setups[1]


def test_every_public_name_is_in_the_language_section():
    import streamcheck

    missing = [name for name in streamcheck.__all__ if not re.search(rf"\b{name}\b", README)]
    implied = {"Stream", "Int16", "Int32", "Word16", "Word32", "sin", "cos", "tan", "asin", "acos", "atan"}
    implied |= {"sinh", "cosh", "tanh", "exp"}  # between `sqrt` and `log`
    assert set(missing) <= implied
