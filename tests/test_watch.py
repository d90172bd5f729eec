"""`watch`: verdicts after every save, and an end without traces."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamcheck.run.saves import Saves, files_of

COMMAND = Path(sys.executable).parent / "streamcheck"
ENDS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
SPEC = """
from streamcheck import *
from limits import MOST
b = extern("b", Bool)
n = stream(Word8, lambda n: [0] ++ mux(b & (n < 100), n + 1, n))
spec = Spec("watched")
spec.prop("small", n <= MOST)
spec.prop("grows", ([0] ++ n) <= n)
"""


class Watch:
    """The command, at work in a folder."""

    def __init__(self, folder, *args):
        environment = {k: v for k, v in os.environ.items() if k != "STREAMCHECK_NO_CACHE"}
        self.folder = folder
        self.process = subprocess.Popen(
            [COMMAND, "watch", "spec.py", *map(str, args)],
            cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.left = b""

    def until(self, text, seconds=60):
        """What it prints, up to a line with the text."""
        began = time.monotonic()
        while text not in self.left.decode() or not self.left.endswith(b"\n"):
            left = began + seconds - time.monotonic()
            assert left > 0 and select.select([self.process.stdout], [], [], left)[0], self.left.decode()
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, self.left.decode()
            self.left += data
        shown, self.left = self.left.decode(), b""
        return shown

    def end(self, number=signal.SIGINT):
        began = time.monotonic()
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=20)
        return self.process.returncode, out.decode(), time.monotonic() - began


@pytest.fixture
def watch(tmp_path):
    (tmp_path / "spec.py").write_text(SPEC)
    (tmp_path / "limits.py").write_text("MOST = 100\n")
    running = []

    def start(*args):
        running.append(Watch(tmp_path, *args))
        return running[-1]

    yield start
    for one in running:
        one.process.kill()
        one.process.communicate()


def save(path, text):
    """As editors do: a new file takes the place of the old one."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.replace(path)


def test_what_a_save_touches_is_proved_again_and_shown(watch, tmp_path):
    command = watch()
    first = command.until("2 properties")
    assert first.count("  proved ") == 2 and "2 proved, none kept" in first
    save(tmp_path / "spec.py", SPEC.replace("([0] ++ n) <= n", "([0] ++ n) <= n + 1"))
    second = command.until("2 properties")
    assert second.count("grows") == 1 and "small" not in second and "1 of them kept" in second
    save(tmp_path / "limits.py", "MOST = 2\n")
    third = command.until("2 properties")
    assert "falsified  small" in third and "grows" not in third and "1 proved, 1 falsified" in third
    save(tmp_path / "limits.py", "MOST = 100\n")
    fourth = command.until("2 properties")
    assert "proved     small" in fourth and "kept and checked again" in fourth and "2 of them kept" in fourth
    assert command.end()[:2] == (130, "")


def test_a_mistake_is_shown_and_the_next_save_is_waited_for(watch, tmp_path):
    (tmp_path / "limits.py").write_text("MOST = \n")
    command = watch()
    assert "error: " in command.until("limits.py:1")
    save(tmp_path / "limits.py", "MOST = 100\n")
    assert "2 proved" in command.until("2 properties")
    save(tmp_path / "spec.py", SPEC.replace("n <= MOST", "n <= MOST + b"))
    assert "error: " in command.until("error: ")
    assert command.end(signal.SIGTERM)[0] == 143


def test_a_save_while_a_proof_goes_on_begins_it_anew(watch, tmp_path):
    hard = SPEC.replace("n <= MOST", "x != 77777") + "\n"
    hard = hard.replace("spec = Spec", "x = stream(Word32, lambda x: [1] ++ ((x * x + 1) % 1000003))\nspec = Spec")
    save(tmp_path / "spec.py", hard)
    command = watch()
    time.sleep(3)
    began = time.monotonic()
    save(tmp_path / "spec.py", SPEC)
    assert "2 proved" in command.until("2 properties")
    assert time.monotonic() - began < 20
    status, out, seconds = command.end()
    assert (status, out) == (130, "") and seconds < 2
    group = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True).stdout
    assert not [line for line in group.splitlines() if str(tmp_path) in line]


@pytest.mark.parametrize(("number", "status", "word"), ENDS)
def test_a_signal_while_a_proof_goes_on_ends_it(watch, tmp_path, number, status, word):
    hard = SPEC + 'm = extern("m", Word32)\nx = stream(Word32, lambda x: [1] ++ ((x * x + m % 5) % 1000003))\n'
    save(tmp_path / "spec.py", hard + 'spec.prop("hard", x != 77777)\n')
    running = watch()
    running.until("small")
    ended, shown, seconds = running.end(number)
    assert ended == status and seconds < 3
    assert f"hard   {word}" in shown and "Traceback" not in shown


def test_the_files_below_a_spec(tmp_path):
    texts = {
        "spec.py": "import math\nimport limits\nfrom parts import first, second\nfrom parts.third import x\n",
        "limits.py": "import spec\n",
        "parts/__init__.py": "",
        "parts/first.py": "from . import third\n",
        "parts/third.py": "import (\n",
        "other.py": "",
        "main.c": '#include "a.h"\n#include <stdio.h>\n',
        "a.h": '# include "b.h"\n#include "a.h"\n',
        "b.h": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    def below(name):
        return {str(Path(f).relative_to(tmp_path)) for f in files_of(str(tmp_path / name))}

    assert below("spec.py") == {"spec.py", "limits.py", "parts/__init__.py", "parts/first.py", "parts/third.py"}
    assert below("main.c") == {"main.c", "a.h", "b.h"}
    saves = Saves(str(tmp_path / "main.c"))
    assert not saves.are_outdated
    (tmp_path / "b.h").unlink()
    assert saves.are_outdated


def test_a_file_that_is_not_there_at_the_beginning_is_refused(tmp_path):
    done = subprocess.run([COMMAND, "watch", tmp_path / "none.py"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2 and done.stderr == f"error: no such file: {tmp_path}/none.py\n"


def test_the_session_of_the_documentation(tmp_path):
    """Saved as in the README, after a version whose property holds."""
    text = Path("README.md").read_text()
    spec = re.search(r"^```python\n(.*?)^```$", text, re.M | re.S)[1]
    page = Path("docs/command.md").read_text()
    (shown,) = re.findall(r"^```\n\$ streamcheck watch engine.py\n(.*?)^```$", page, re.M | re.S)
    (tmp_path / "spec.py").write_text(spec.replace("since_hot < 3", "since_hot <= 255"))
    watch = Watch(tmp_path)
    printed = watch.until("2 properties: ")
    (tmp_path / "spec.py").write_text(spec)
    printed += watch.until("2 properties: ")
    assert watch.end()[0] == 130
    assert list(map(certain, printed.splitlines())) == list(map(certain, shown.splitlines()))


def certain(line):
    """Without times, and without the inputs that the solver chose."""
    return re.sub(r"\d+:\d+:\d+|\d+\.\d\d? s|^      probe .*", "…", line).split()
