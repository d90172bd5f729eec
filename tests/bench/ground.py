"""The ground floor in figures: start-up, steps per second, memory, deep and doubling terms.

    python tests/bench/ground.py

Times are CPU seconds of the command and its child, the best of three.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "streamcheck")

PROGRAMS = {
    "a 100,000-deep chain, built, shown and run": """
from streamcheck import *
y = extern("x", Word32, samples=lambda step: step)
for i in range(100_000):
    y = y + i if i % 2 else y ^ i
spec = Spec("deep")
spec.observer("y", y)
""",
    "a term doubled 200 times": """
from streamcheck import *
y = extern("x", Word32, samples=lambda step: step)
for i in range(200):
    y = y + y
spec = Spec("doubling")
spec.observer("y", y)
""",
}


def measure(*args):
    """CPU seconds, wall seconds and peak memory (MB) of a command, its children included."""
    best = None
    for _ in range(3):
        start = time.monotonic()
        pid = os.posix_spawn(args[0], [str(a) for a in args], os.environ, file_actions=QUIET)
        _, status, usage = os.wait4(pid, 0)
        assert status == 0, args
        row = (usage.ru_utime + usage.ru_stime, time.monotonic() - start, usage.ru_maxrss / 1024)
        best = row if best is None else min(best, row)
    return best


QUIET = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]


def show(what, row, more=""):
    print(f"{what:48} {row[0]:7.3f} s CPU {row[1]:7.3f} s wall {row[2]:6.0f} MB  {more}")


def library_steps(path, name, steps):
    """Steps per second of `spec.run` alone, in a process of its own."""
    code = f"""
import time, sys
sys.path.insert(0, {str(Path(path).parent)!r})
import {Path(path).stem} as m
begin = time.process_time()
for step in m.spec.run({steps}{name}): pass
print({steps} / (time.process_time() - begin))
"""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def main():
    show("streamcheck --help", measure(COMMAND, "--help"))
    show("run specs/fib.py, 10 steps", measure(COMMAND, "run", "specs/fib.py"))
    for shape in ("table", "csv", "json"):
        row = measure(COMMAND, "run", "specs/fib.py", "--steps", 1_000_000, "--format", shape)
        show(f"run specs/fib.py, a million steps as {shape}", row)
    inputs = ", {f'tmp_probe_{i}': lambda step: step % 256 for i in (1, 2, 3)} | {'cooler': lambda step: step % 2 == 0}"
    print(f"{'spec.run: fib':48} {library_steps('specs/fib.py', '', 1_000_000):12,.0f} steps/s")
    print(f"{'spec.run: engine monitor':48} {library_steps('specs/engine_monitor.py', inputs, 300_000):12,.0f} steps/s")
    with tempfile.TemporaryDirectory() as folder:
        for what, text in PROGRAMS.items():
            path = Path(folder) / "spec.py"
            path.write_text(text)
            show(what + " (run)", measure(COMMAND, "run", path, "--steps", 3))
            show(what + " (show)", measure(COMMAND, "show", path))


if __name__ == "__main__":
    main()
