"""Every monitor of specs/gallery: its properties are proved, its C is proved equal to it, and its picture is that of
docs/gallery.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "streamcheck")
NAMES = sorted(path.stem for path in Path("specs/gallery").glob("*.py"))
PAGE = Path("docs/gallery.md").read_text()


def streamcheck(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize("name", NAMES)
def test_each_monitor_is_proved_and_compiles_to_c_that_is_proved(name, tmp_path):
    done = streamcheck("compile", f"specs/gallery/{name}.py::{name}", "-o", tmp_path, "--timeout", 120, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    verdicts = [p["verdict"] for p in report["properties"]]
    assert len(verdicts) >= 5 and set(verdicts) == {"proved"} and not report["warnings"]
    assert "read back and proved equal to the spec" in (tmp_path / f"{name}.h").read_text()


def test_the_surprise_is_shown():
    done = streamcheck("prove", "specs/gallery/well_clear.py::well_clear_surprise", "--json")
    verdicts = {p["name"]: p for p in json.loads(done.stdout)["properties"]}
    assert verdicts["loss_is_announced"]["verdict"] == "falsified"
    assert verdicts["loss_is_announced"]["counterexample"]["length"] == 2


def test_the_gallery_has_twelve_monitors_each_with_its_section():
    assert len(NAMES) == 12
    assert sorted(re.findall(r"^`specs/gallery/(\w+)\.py`\. ", PAGE, re.M)) == NAMES
    assert sorted(re.findall(r"^\| \[(\w+)\]", PAGE, re.M)) == NAMES


VALUES = """from streamcheck import *

@struct
class Point:
    x: Word8
    y: Word8

y = extern("y", Double, [1.0, float("nan"), -1.0, float("inf")] * 20)
spec = Spec("values")
spec.observer("y", y)
spec.observer("flat", Word8(5))
spec.observer("nothing", y * float("inf") - y * float("inf"))
spec.observer("point", Point(x=mux(y > 0.0, Word8(1), 2), y=3))
"""


def test_a_wave_of_other_values_and_of_more_steps_than_a_band(tmp_path):
    (tmp_path / "values.py").write_text(VALUES)
    lines = streamcheck("run", tmp_path / "values.py", "--format", "wave").stdout.splitlines()
    assert [line.split("  ")[0].strip() for line in lines[:5]] == ["step", "y", "flat", "nothing", "point"]
    assert lines[1] == "y        " + "█?▁?" * 18 + "  -1.0 to 1.0"
    assert lines[2] == "flat     " + "▁" * 72 + "  5"
    assert lines[3] == "nothing  " + "?" * 72
    assert lines[4].startswith("point    ||{|")
    assert len(lines) == 11


@pytest.mark.parametrize("name", NAMES)
def test_the_pictures_are_what_a_run_prints(name):
    done = streamcheck("run", f"specs/gallery/{name}.py::{name}", "--format", "wave")
    assert done.returncode == 0 and not done.stderr  # the samples meet assumptions and properties
    section = PAGE.partition(f"`specs/gallery/{name}.py`.")[2]
    assert re.search(r"^```\n(.*?)^```$", section, re.M | re.S)[1] == done.stdout
