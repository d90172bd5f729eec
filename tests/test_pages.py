"""The pages for newcomers: each file and each command of theirs, in order, as a reader follows them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_tutorial import certain

import streamcheck
from streamcheck.problem.claim import WRITTEN

BLOCK = re.compile(r"^(?:`(?P<file>[\w.]+)`\n\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
SESSION = re.compile(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", re.M)
OPEN = re.compile(r"(?<=  timed out after 3 s).*|^ +not inductive: .*", re.M)  # how far it got in the time
RECIPES = re.split(r"^### (\d+)\. ", Path("docs/cookbook.md").read_text(), flags=re.M)[1:]
VERDICT = re.compile(r'^spec\.\w+\("(\w+)".*#\s(proved|falsified)$', re.M)


@pytest.mark.parametrize("page", ["first.md", "coming.md"])
def test_a_page_can_be_followed(page, tmp_path):
    """A block below a line that begins with a file's name is that file; commands print what is shown."""
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}:{os.environ['PATH']}"}
    for block in BLOCK.finditer(Path("docs", page).read_text()):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"])
        for command, shown in SESSION.findall(block["text"] if block["kind"] == "console" else ""):
            if shutil.which(command.split()[0]) is None and not command.startswith("streamcheck"):
                continue  # no compiler, or none for the board
            done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode in (0, 1, 3), f"{command}\n{done.stderr}"
            printed, expected = (certain(OPEN.sub("", text)) for text in (done.stdout + done.stderr, shown))
            missing = expected - printed
            missing.pop("…", None)
            assert not missing and ("…" in expected or printed == expected), f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("answers", [RECIPES[i : i + 20] for i in range(0, len(RECIPES), 20)], ids=lambda a: a[0])
def test_the_answers_of_the_cookbook_are_right(answers, tmp_path):
    for number, text in zip(answers[::2], answers[1::2], strict=True):
        (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        path = tmp_path / f"answer{number}.py"
        path.write_text(code)
        spec = streamcheck.load(path)
        if "samples" in code:
            spec.run()
        verdicts = dict(VERDICT.findall(code))
        assert set(verdicts) == {p.name for p in spec.problem.properties if p.origin == WRITTEN}, number
        results = {r.name: r.verdict for r in spec.prove(timeout=300)} if spec.properties else {}
        assert results == dict.fromkeys(results, "proved") | verdicts, number


def test_the_cookbook_has_thirty_answers():
    assert RECIPES[::2] == [str(n) for n in range(1, 31)]
