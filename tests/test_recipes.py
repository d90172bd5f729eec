"""The recipes of docs/architecture.md, each followed in a copy of the package: its edits are made as they stand there,
its commands are run, and the effect is looked at."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

TEXT = Path("docs/architecture.md").read_text()
STEP = re.compile(
    r"^(?:New file `(?P<new>[^`]+)`|In `(?P<path>[^`]+)`, (?P<how>before|after|instead of) `(?P<anchor>[^`\n]+)`)"
    r":\n\n```\w*\n(?P<text>.*?)^```$",
    re.M | re.S,
)


@dataclass(frozen=True)
class Recipe:
    """The text of one recipe."""

    text: str

    def follow(self, folder):
        """Make its edits in the folder; the number of edits."""
        steps = list(STEP.finditer(self.text))
        for step in steps:
            if step["new"]:
                assert not (folder / step["new"]).exists()
                (folder / step["new"]).write_text(step["text"])
            else:
                path = folder / step["path"]
                path.write_text(edited(path.read_text(), step["how"], step["anchor"] + "\n", step["text"]))
        return len(steps)

    def commands(self):
        return "".join(re.findall(r"^```shell\n(.*?)^```$", self.text, re.M | re.S)).splitlines()


def edited(old, how, anchor, text):
    """Before or after the only place where the anchor stands, or instead of it."""
    assert old.count(anchor) == 1, f"{anchor!r} stands there {old.count(anchor)} times"
    return old.replace(anchor, {"before": text + anchor, "after": anchor + text, "instead of": text}[how])


def recipe(title):
    (text,) = re.findall(rf"^### Recipe: {title}$(.*?)(?=^##|\Z)", TEXT, re.M | re.S)
    return Recipe(text)


@pytest.fixture
def followed(tmp_path):
    """Follows a recipe in a copy; the exit status and the output of each of its commands."""

    def follow(title):
        shutil.copytree("streamcheck", tmp_path / "streamcheck", ignore=shutil.ignore_patterns("__pycache__"))
        chosen = recipe(title)
        assert chosen.follow(tmp_path) >= 3
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        outcomes = []
        for line in chosen.commands():
            program, *arguments = line.split()
            assert program == "streamcheck"
            done = subprocess.run(
                [sys.executable, "-m", "streamcheck", *arguments],
                cwd=tmp_path, env=environment, capture_output=True, text=True,
            )  # fmt: skip
            outcomes.append((done.returncode, " ".join((done.stdout + done.stderr).split())))
        return outcomes

    return follow


def test_every_recipe_is_followed():
    titles = re.findall(r"^### Recipe: (.*)$", TEXT, re.M)
    assert titles == ["an operator", "an engine", "a library stream", "an output format", "an input format"]


def test_an_operator(followed, tmp_path):
    run, prove, compile_ = followed("an operator")
    assert run[0] == 0 and "2 (255) 8 true true true 3 -- 4 true true true" in run[1]
    assert prove[0] == 1 and "proved at_most_8" in prove[1] and "proved one_more" in prove[1]
    assert "falsified wrong" in prove[1]
    assert compile_[0] == 0 and "sc_popcount_u8" in (tmp_path / "out" / "few.c").read_text(), compile_[1]
    assert "read back and proved equal to the spec" in (tmp_path / "out" / "few.h").read_text()


def test_an_engine(followed):
    with_assumptions, without, listed = followed("an engine")
    assert "proved commutes tautology" in with_assumptions[1] and "proved grows tautology" in with_assumptions[1]
    assert "unknown bounded" in with_assumptions[1] and with_assumptions[0] == 3
    assert "unknown grows" in without[1] and "proved commutes" in without[1]
    assert "tautology.assumptions=on" in listed[1]


def test_a_library_stream(followed):
    run, prove = followed("a library stream")
    assert run[0] == 0 and "1 true true true 2 false true true 3 false true true 4 true true true" in run[1]
    assert prove[0] == 0 and prove[1].count("proved") == 2


def test_an_output_format(followed):
    ((status, text),) = followed("an output format")
    assert status == 0 and text == "n : Word8"


def test_an_input_format(followed):
    prove, run = followed("an input format")
    assert prove[0] == 0 and "proved in range" in prove[1]
    assert run[0] == 0 and run[1].endswith("0 0 true 1 1 true 2 2 true 3 3 true 4 0 true")


def test_the_code_of_the_recipes_keeps_the_rules(tmp_path):
    """All recipes in one copy: the tools and the tests that a contributor runs before a commit."""
    for name in ("streamcheck", "tests", "docs", "specs"):
        shutil.copytree(name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy("pyproject.toml", tmp_path)
    for title in re.findall(r"^### Recipe: (.*)$", TEXT, re.M):
        recipe(title).follow(tmp_path)
    for spec in [*tmp_path.glob("*.py"), *tmp_path.glob("*.range")]:
        spec.unlink()
    tests = ["tests/test_tidy.py", "tests/test_operators.py", "tests/test_renderings.py"]
    for command in (
        ["ruff", "check", "--no-cache", "streamcheck"],
        ["ruff", "format", "--no-cache", "--check", "streamcheck"],
        ["mypy"],
        ["pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", "tidy or popcount or functions"],
    ):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
