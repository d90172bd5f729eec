"""Interrupts at once, and at moments at which Python drops exceptions."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import streamcheck

COMMAND = Path(sys.executable).parent / "streamcheck"
HEAVY = {"signal", "enum", "re", "functools", "typing", "collections", "click", "threading"}


def test_nothing_heavy_is_loaded_before_the_command_can_answer():
    code = (
        f"import sys, os, _signal\nsys.path.insert(0, {str(Path.cwd())!r})\nbefore = set(sys.modules)\n"
        "_signal.signal = lambda *_: (print(*set(sys.modules) - before, flush=True), os._exit(0))\n"
        f"exec(open({str(COMMAND)!r}).read())\n"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert "streamcheck.__main__" in loaded and loaded.isdisjoint(HEAVY), done


def test_signals_wait_for_the_command():
    """Blocked by its script, answered by its first handlers."""
    text = Path("bin/streamcheck").read_text()
    code = text.replace("    from streamcheck", "    _signal.raise_signal(_signal.SIGINT)\n    from streamcheck")
    assert code != text
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


def test_early_interrupts_show_no_code_of_ours(tmp_path):
    """What they may meet is the start of Python."""
    path = tmp_path / "spec.py"
    path.write_text("from streamcheck import *\nspec = Spec('s')\nspec.prop('p', extern('x', Bool))\n")
    chosen = random.Random(7)
    for _ in range(20):
        command = subprocess.Popen([COMMAND, "prove", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(chosen.uniform(0, 0.15))
        command.send_signal(signal.SIGINT)
        _, shown = command.communicate(timeout=60)
        assert str(Path(streamcheck.__file__).parent) not in shown.decode(), shown.decode()


def test_an_exception_that_python_drops_comes_again():
    code = """
import os, signal, time
from streamcheck.run.stop import Stopped, raise_on_signals
raise_on_signals()
class Destroyed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0)
try:
    made = Destroyed()
    del made
    time.sleep(10)
except Stopped as stopped:
    print(stopped.word, stopped.status)
"""
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "terminated 143\n" and done.stderr == "" and time.monotonic() - began < 8
