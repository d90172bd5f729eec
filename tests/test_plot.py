"""Runs as pictures by matplotlib."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

import streamcheck as sc
from streamcheck.cli import cli
from streamcheck.core.errors import SpecError
from streamcheck.report.plot import require_plots

SPEC = """from streamcheck import *
import enum

class Mode(enum.Enum):
    IDLE = 0
    STOP = 1

x = extern("x", Word8, samples=[1, 251, 252])
hot = x > 250
since = stream(Word8, lambda n: [0] ++ mux(hot, n + 1, 0))
mode = stream(EnumOf(Mode), lambda m: [Mode.IDLE] ++ mux(hot, Mode.STOP, m))
spec = Spec("engine")
spec.trigger("alarm", hot, {"x": x})
spec.observer("mode", mode)
spec.prop("never_long", (since < 3) | (mode == Mode.IDLE))
spec.prop("same", x == x)
"""
NAMES = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    (tmp_path / "engine.py").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*words):
    return CliRunner().invoke(cli, words, obj=0.0, standalone_mode=False)


def texts(path):
    return [element.text for element in ElementTree.parse(path).iter(f"{NAMES}text")]


def test_a_counterexample_is_drawn_with_its_names_values_and_steps(folder):
    spec = sc.load("engine.py")
    spec.prove(plot="p.svg")
    shown = texts("p.svg")
    assert {"never_long", "since", "mode", "STOP", "IDLE", "251", "step", "0", "3"} <= set(shown)
    assert "same" not in shown  # a proof has no run
    once = (folder / "p.svg").read_bytes()
    spec.prove(plot="p.svg")
    assert (folder / "p.svg").read_bytes() == once
    spec.prove(props=["same"], plot="none.svg")
    assert not (folder / "none.svg").exists()


def test_runs_are_drawn_as_png_and_svg(folder):
    done = command("run", "engine.py", "--plot", "r.png")
    assert done.exception is None and (folder / "r.png").read_bytes().startswith(b"\x89PNG")
    list(sc.load("engine.py").run(plot="r.svg"))
    assert {"x", "alarm", "mode", "engine", "252"} <= set(texts("r.svg"))


def test_what_cannot_be_drawn_is_refused_at_once(folder, monkeypatch):
    with pytest.raises(SpecError, match=r"p.pdf: a plot is a file of SVG or PNG"):
        require_plots("p.pdf")
    monkeypatch.setattr("streamcheck.report.plot.find_spec", lambda name: None)
    done = command("prove", "missing.py", "--plot", "p.svg")  # before the spec is read
    assert isinstance(done.exception, SpecError) and "pip install 'streamcheck[plot]'" in str(done.exception)


def test_matplotlib_is_loaded_for_plots_only():
    code = "import sys, streamcheck.cli.prove, streamcheck.cli.run, streamcheck.report.plot\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not any(name.partition(".")[0] in ("matplotlib", "numpy") for name in done.stdout.split())
