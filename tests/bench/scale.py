"""Verdicts each minute on 1, 2 and 4 workers of Dask on this machine, against the local supervisor.

    python tests/bench/scale.py [--specs 8] [--steps 4000]

Each spec has one property that falls after a second or so of bounded model checking. CPU is the processor time of the
command and of all workers, with what they started; wall time depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from cluster import Cluster, below

SPEC = """from streamcheck import *
n = stream(Int, lambda n: [{i}] ++ (n + 1))
spec = Spec("count_{i}")
spec.prop("late", n < {steps})
"""
TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid):
    """The processor seconds of a process and of those below it, the ended ones that were waited for too."""
    total = 0.0
    for one in {pid, *below(pid)}:
        with suppress(OSError), open(f"/proc/{one}/stat") as stat:
            total += sum(map(int, stat.read().rpartition(")")[2].split()[11:15])) / TICK
    return total


def measure(folder, *args):
    command = [sys.executable, "-m", "streamcheck", "prove", "specs", "--suite", "--no-cache", "--engine", "bmc", *args]
    before, began = os.times(), time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done, time.monotonic() - began, cpu


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--specs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    (folder / "specs").mkdir()
    for i in range(options.specs):
        (folder / "specs" / f"count_{i}.py").write_text(SPEC.format(i=i, steps=options.steps))

    def show(name, done, wall, cpu):
        falsified = sum(line.startswith("  falsified  ") for line in done.stdout.splitlines())
        print(f"{name:10} {falsified} verdicts, {wall:.1f} s wall, {60 * falsified / wall:.1f} each minute, "
              f"{cpu:.1f} s CPU, {cpu / max(1, falsified):.2f} s CPU each", flush=True)  # fmt: skip

    show("local", *measure(folder))
    for workers in options.workers:
        with Cluster(folder, workers) as cluster:
            time.sleep(3)
            before = sum(cpu_of(worker.pid) for worker in cluster.workers)
            done, wall, cpu = measure(folder, "--on", cluster.address)
            cpu += sum(cpu_of(worker.pid) for worker in cluster.workers) - before
        show(f"{workers} worker{'s' * (workers > 1)}", done, wall, cpu)


if __name__ == "__main__":
    main()
