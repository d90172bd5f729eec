"""Every example of [Laurent] runs and gives the values printed there; every spec opens with three lines of what it
shows; default mypy accepts them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPECS = sorted(Path("specs").rglob("*.py"))


def run(name, steps):
    """The observers of each step, and what fires."""
    done = subprocess.run(
        [COMMAND, "run", f"specs/{name}", "--steps", str(steps), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [row["observers"] for row in rows], [row["triggers"] for row in rows]


def column(rows, name):
    return [row[name] for row in rows]


def test_constant_streams():
    observed, _ = run("constant_streams.py", 3)
    assert observed == [{"x": 10, "y": 100, "z": True, "t": 11}] * 3


def test_delay_and_drop():
    observed, _ = run("delay_and_drop.py", 5)
    assert column(observed, "y") == [1, 2, 3, 10, 10] and column(observed, "z") == [3, 10, 10, 10, 10]


def test_fib_and_evens_odds():
    observed, fired = run("fib.py", 8)
    assert column(observed, "fib") == [1, 1, 2, 3, 5, 8, 13, 21] and fired[7] == {"fibout": [21]}
    observed, _ = run("evens_odds.py", 4)
    assert column(observed, "evens") == [0, 2, 4, 6] and column(observed, "odds") == [1, 3, 5, 7]


def test_bit_counter_counts_fastest_bit_first():
    observed, _ = run("bit_counter.py", 20)
    assert [sum(row[f"s{i}"] << i for i in range(4)) for row in observed] == [n % 16 for n in range(20)]


def test_induction_examples():
    observed, _ = run("swapping_pair.py", 4)
    assert [(row["x"], row["y"]) for row in observed] == [(1, 0), (0, 1), (1, 0), (0, 1)]
    observed, _ = run("period_counter.py", 8)
    assert column(observed, "x") == [4, 6, 8, 10, 0, 2, 4, 6]
    observed, _ = run("growing_sum.py", 5)
    assert column(observed, "y") == [1, 1, 2, 4, 7]
    observed, _ = run("never_zero.py::wrapping", 257)
    assert column(observed, "w")[254:] == [255, 0, 1]
    observed, _ = run("never_zero.py::unbounded", 257)
    assert column(observed, "x")[254:] == [255, 256, 257]


@pytest.mark.parametrize(
    ("name", "steps", "shut"),
    [("engine_monitor_one_probe.py", 5, [2]), ("engine_monitor_majority.py", 4, [1, 3]), ("engine_monitor.py", 5, [2])],
)
def test_engine_monitors(name, steps, shut):
    _, fired = run(name, steps)
    assert [i for i, row in enumerate(fired) if "shutoff" in row] == shut


def test_structural_abstraction():
    observed, _ = run("structural_abstraction.py", 5)
    assert column(observed, "b") == [0, 0, 0, 1, 2] and column(observed, "c") == [0] * 5
    assert proved("structural_abstraction.py", "--engine", "structural") == ["b_not_negative", "c_is_zero"]


def proved(name, *options):
    """The names of the proved properties."""
    command = [COMMAND, "prove", f"specs/{name}", "--json", "--timeout", "30", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    return [p["name"] for p in json.loads(done.stdout)["properties"] if p["verdict"] == "proved"]


def test_growing_sum_is_proved_as_its_head_says():
    """With both properties k-induction succeeds; `y_positive` alone needs the lemma that IC3 finds."""
    assert proved("growing_sum.py", "--engine", "k-induction") == ["x_not_negative", "y_positive"]
    assert proved("growing_sum.py", "--prop", "y_positive", "--engine", "ic3") == ["y_positive"]
    assert proved("growing_sum.py", "--prop", "y_positive", "--engine", "k-induction", "--timeout", "2") == []


@pytest.mark.parametrize("path", SPECS, ids=str)
def test_each_spec_opens_with_three_lines(path):
    lines = path.read_text().splitlines()
    assert all(line.startswith("# ") for line in lines[:3]) and not lines[3].startswith("#")


TYPED = """
import enum
from streamcheck import *

class Mode(enum.Enum):
    IDLE = 0
    RUN = 1

@struct
class Aircraft:
    altitude: Int32
    speed: Float

def total(xs: list[Stream], start: Word8 = Word8(3)) -> Stream:
    result = Word8(0)
    for x in xs:
        result = result + x
    return mux(result == 3, start, 0)

probes = [extern(f"p{i}", Word8) for i in range(3)]
plane = extern("plane", Aircraft)
here = Aircraft(altitude=plane.altitude + 1, speed=0)
x = Word8(5)
x = 1 + x
mode = extern("mode", EnumOf(Mode))
n: Stream = stream(Int, lambda n: [0] ++ (n + 1))

@stream(Word8)
def fib() -> Stream:
    return [1, 1] ++ (fib + drop(1, fib))

spec = Spec("typed")
spec.prop("a", (total(probes) > 3) | (mode == Mode.RUN) | True)
spec.trigger("t", here.speed > 1.5, [mux(x > 3, Mode.IDLE, mode), fib, Array(Word8, 2)([x, 0])[n]])
spec.observer("h", mux(True, here, plane))
"""


def test_default_mypy_accepts_the_specs(tmp_path):
    (tmp_path / "typed.py").write_text(TYPED)
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    files = [*SPECS, tmp_path / "typed.py"]
    command = [sys.executable, "-m", "mypy", "--config-file", tmp_path / "mypy.ini", *files]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_projects_own_configuration_of_mypy_covers_the_specs():
    """Strict over the package alone: specs have functions without annotations."""
    settings = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["mypy"]
    assert settings["strict"] and set(settings["files"]) == {"streamcheck", "specs"}
    environment = {k: v for k, v in os.environ.items() if k != "MYPYPATH"}
    done = subprocess.run([sys.executable, "-m", "mypy", "specs"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout
