"""The monitors written for Copilot, on Copilot's own harness: the same calls with the same arguments as its C makes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from c_harness import have, run

from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load

SHARED = Path("../shared/bench/monitors").resolve()
FILES = {"Fib": "fibonacci", "Counter": "counter", "Heater": "heater", "Vote3": "vote3", "Engine": "engine"}

pytestmark = [
    pytest.mark.skipif(not SHARED.is_dir(), reason=f"no {SHARED.name} of Copilot's beside this folder"),
    pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine"),
]


def on_the_harness(name, source, folder, include):
    headers = [f"-I{include}", f"-I{SHARED}"]
    run(["gcc", "-O2", "-std=c99", *headers, "-c", source, "-o", "step.o"], folder)
    harness = folder / "harness_copy.c"
    harness.write_text((SHARED / name / "harness.c").read_text())
    run(["gcc", "-O2", "-std=gnu99", "-w", *headers, harness, "step.o", "-o", "run", "-lm"], folder)
    return re.sub(r"[\d.]+ ns/step ", "", run([folder / "run", "100000"], folder))


@pytest.mark.parametrize("name", [*FILES, "Mixed"])
def test_the_harness_links_unchanged(name, tmp_path):
    """The answers are Copilot's, but for Mixed, where its `since` is not the textbook's."""
    (spec,) = load(f"specs/monitors/{FILES.get(name, name.lower())}.py")
    code = generate(flatten(spec), CodeOptions(copilot=True)).code
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder in (ours, theirs):
        folder.mkdir()
    for file, text in code.files.items():
        (ours / file).write_text(text)
    printed = on_the_harness(name, ours / f"{code.specification.name}.c", ours, ours)
    assert re.search(r"100000 steps fired=\d+ acc=\d+", printed)
    if name != "Mixed":
        source = SHARED / name / f"{code.specification.name}.c"
        assert printed == on_the_harness(name, source, theirs, SHARED / name)
