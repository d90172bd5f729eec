"""Sessions of the pages that no other test runs: what is printed is what is shown, but for times, engines, and what is
chosen freely."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "streamcheck"
DOCS = Path(__file__).parents[1] / "docs"
README = DOCS.parent / "README.md"


def blocks(page, kind):
    found = re.findall(r"^```(\S*)\n(.*?)^```$", (DOCS / page).read_text(), re.S | re.M)
    return [text for own, text in found if own == kind]


def session(page, begin, kind=""):
    """The words of a command that is shown, and what it prints."""
    text = next(text for text in blocks(page, kind) if text.startswith(begin))
    command, _, shown = text.partition("\n")
    return command.removeprefix("$ streamcheck ").split(), shown


def printed(folder, *words, **environment):
    run = subprocess.run(
        [COMMAND, *words], cwd=folder, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return run.stdout + run.stderr


def verdicts(text):
    """The verdicts with their names, without engines and times."""
    return sorted(re.findall(r"^  (proved|falsified|unknown) +(\S.*?)  ", text, re.M))


def test_the_claims_about_infinite_runs_have_the_verdicts_shown(tmp_path):
    (tmp_path / "transfer.py").write_text(blocks("liveness.md", "python")[0])
    words, shown = session("liveness.md", "$ streamcheck prove transfer.py")
    found = printed(tmp_path, *words)
    assert verdicts(found) == verdicts(shown) != []
    for text in ("that goes on forever", "repeated forever", "* changed since the step before    ( ) = don't care"):
        assert text in found and text in shown


def test_the_step_function_shown_equals_the_spec(tmp_path):
    (text,) = (text for text in blocks("command.md", "c") if text.startswith("#include <stdbool.h>"))
    (tmp_path / "watch.c").write_text(text)
    words, shown = session("command.md", "$ streamcheck equal specs/refactored.py::before watch.c")
    (tmp_path / "specs").symlink_to(DOCS.parent / "specs")
    found = printed(tmp_path, *words, "--no-cache")
    assert found.splitlines()[0] == shown.splitlines()[0] == "before equals watch_step"
    assert set(verdicts(shown)) <= set(verdicts(found)) and {word for word, _ in verdicts(found)} == {"proved"}


def test_a_core_has_the_form_shown(tmp_path):
    (tmp_path / "sensors.py").write_text(blocks("questions.md", "python")[0])
    words, shown = session("questions.md", "$ streamcheck why sensors.py\n", "console")
    found = printed(tmp_path, *words)
    for form in (
        r"^sensors$",
        r"^  kept: holds by \d of 5 elements, not shown minimal$",
        r"^    inputs: left, right$",
        r"^  this property holds whatever these are \(\d of 5 elements\)$",
    ):
        assert re.search(form, found, re.M) and re.search(form, shown, re.M), form
    page = re.sub(" +", " ", (DOCS / "questions.md").read_text())
    rows = re.findall(r"sensors.py:\d+ .*", re.sub(" +", " ", found))
    assert len(rows) == 5 and all(row in page for row in rows)


@pytest.mark.parametrize("words", [["tests", "engine.py", "-o", "engine_tests"], ["mutants", "engine.py", "--quiet"]])
def test_the_lines_shown_are_printed(tmp_path, words):
    """The spec is the one of README. The steps of runs are chosen freely, and the values that a goal is reached by."""
    (tmp_path / "engine.py").write_text(re.search(r"^```python\n(.*?)^```$", README.read_text(), re.S | re.M)[1])
    kind = "goals" if words[0] == "tests" else "mutants"
    shown = next(text for text in blocks("questions.md", "") if re.match(rf"engine: \d+ {kind}: ", text))
    free = lambda row: re.sub(r"; \d+ runs? of .*| +run \d+, step \d+| at step \d+", "", row)
    found = [free(row) for row in printed(tmp_path, *words).splitlines()]
    rows = [free(row) for row in shown.splitlines() if "…" not in row]
    assert len(rows) == 6 and all(row in found for row in rows), found


def project(folder, settings):
    (folder / "specs").mkdir()
    (folder / "specs" / "engine.py").write_text("from streamcheck import *\nspec = Spec('s')\n")
    (folder / "pyproject.toml").write_text(settings)


def test_values_have_the_origins_shown(tmp_path):
    project(tmp_path, "[project]\nname = 'a'\n\n\n\n\n[tool.streamcheck]\ntimeout = 300\n")
    words, shown = session("configuration.md", "$ streamcheck prove specs/engine.py --show-config")
    rows = lambda text: [re.split("  +", row) for row in text.splitlines()]
    found = rows(printed(tmp_path, *words, STREAMCHECK_ENGINE="bmc k-induction"))
    expected = [row for row in rows(shown) if row != ["…"]]
    assert len(expected) == 4 and all(row in found for row in expected)


def test_an_error_names_the_origin_shown(tmp_path):
    project(tmp_path, "[project]\nname = 'a'\n[tool.streamcheck]\nengine = ['bcm']\n")
    (shown,) = (text for text in blocks("configuration.md", "") if text.startswith("error: unknown engine 'bcm'"))
    assert printed(tmp_path, "prove", "specs/engine.py") == shown
