"""The specs of specs/floats are decided by the default command: what each claims is proved, what it shows is false."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPECS = sorted(Path("specs/floats").glob("*.py"))


def test_there_are_a_dozen():
    assert len(SPECS) >= 12


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_each_float_spec_is_decided(path):
    done = subprocess.run([COMMAND, "prove", str(path), "--json", "--timeout", "240"], capture_output=True, text=True)
    answers = json.loads(done.stdout)
    answers = answers if isinstance(answers, list) else [answers]
    for answer in answers:
        wanted = {"proved"} if answer["spec"] == path.stem else {"falsified"}
        assert {row["verdict"] for row in answer["properties"]} == wanted, answer
        assert not answer["warnings"] and not answer["alarms"]
        for row in answer["properties"]:
            if row.get("prover") == "bitwuzla":
                assert row["checkers"] == ["cvc5"]
