"""Seconds from a save to the verdicts of `streamcheck watch`: an edit that touches one property of a hundred.

    python tests/bench/watch.py [SAVES]

For each save: the seconds by the clock, and the processor seconds of the command and of what it started. The goal is
0.3 s by the clock, on a machine without other work.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """
from streamcheck import *
spec = Spec("hundred")
reset = extern("reset", Bool)
for i in range(100):
    go = extern(f"go_{{i}}", Bool)
    n = stream(Word8, lambda n, go=go, i=i: [0] ++ mux(reset, 0, mux(go & (n < 10 + i), n + 1, n)))
    spec.observer(f"n_{{i}}", n)
    spec.prop(f"bounded_{{i}}", n <= 10 + i + {more} * (i == 50))
"""
TICK = os.sysconf("SC_CLK_TCK")


def processor_time(pid):
    """Of the process, and of those that it started and waited for."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def main():
    saves = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    environment = {k: v for k, v in os.environ.items() if k != "STREAMCHECK_NO_CACHE"}
    with tempfile.TemporaryDirectory() as folder:
        spec = Path(folder) / "hundred.py"
        spec.write_text(SPEC.format(more=0))
        command = subprocess.Popen(
            [COMMAND, "watch", spec.name], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
        )

        def summary():
            return next(line for line in command.stdout if "properties:" in line).strip()

        print(summary(), flush=True)
        times = []
        for more in range(1, saves + 1):
            time.sleep(1.5)  # the next workers load their solvers
            before, began = processor_time(command.pid), time.monotonic()
            spec.write_text(SPEC.format(more=more))
            line = summary()
            times.append(time.monotonic() - began)
            time.sleep(0.1)  # for those to end that are counted
            print(f"{times[-1]:.2f} s, {processor_time(command.pid) - before:.2f} s CPU   {line}", flush=True)
        command.terminate()
        command.wait()
        print(f"median {statistics.median(times):.2f} s, least {min(times):.2f} s")


if __name__ == "__main__":
    main()
