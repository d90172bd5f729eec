"""Verdicts each minute on 1, 2 and 4 workers of Dask on this machine, against the local supervisor.

    python tests/bench/scale.py [--specs 4 12] [--steps 8000] [--workers 1 2 4]

Each spec has one property that falls after a second or two of bounded model checking. CPU is the processor time of the
command and of all workers, with what they started; wall time depends on what else the machine does. Two suites are run,
a small and a large one: what the specs that only the large one has cost is `each further one`, the rest is paid once.
The share in the last column is by how much a further one costs more than it does without workers.
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
    parser.add_argument("--specs", type=int, nargs=2, default=[4, 12], help="of the small suite and of the large one")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    options = parser.parse_args()
    folders = []
    for number in options.specs:
        folders.append(Path(tempfile.mkdtemp()))
        (folders[-1] / "specs").mkdir()
        for i in range(number):
            (folders[-1] / "specs" / f"count_{i}.py").write_text(SPEC.format(i=i, steps=options.steps))

    print(f"{'':12}{'each minute':>12}{'CPU s, all':>12}{'paid once':>11}{'each further one':>18}{'more':>8}")
    alone = show("local", options.specs, [measure(folder) for folder in folders])
    for workers in options.workers:
        figures = []
        for folder in folders:
            with Cluster(folder, workers) as cluster:
                time.sleep(3)
                before = sum(cpu_of(worker.pid) for worker in cluster.workers)
                done, wall, cpu = measure(folder, "--on", cluster.address)
                cpu += sum(cpu_of(worker.pid) for worker in cluster.workers) - before
            figures.append((done, wall, cpu))
        show(f"{workers} worker{'s' * (workers > 1)}", options.specs, figures, alone)


def show(name, numbers, figures, alone=None):
    """A row; the processor seconds of each further spec."""
    for number, (done, _, _) in zip(numbers, figures, strict=True):
        falsified = sum(line.startswith("  falsified  ") for line in done.stdout.splitlines())
        assert falsified == number, done.stdout + done.stderr
    (_, _, little), (_, wall, much) = figures
    each = (much - little) / (numbers[1] - numbers[0])
    once, more = much - numbers[1] * each, "" if alone is None else f"{100 * (each / alone - 1):.0f} %"
    print(f"{name:12}{60 * numbers[1] / wall:12.1f}{much:12.1f}{once:11.1f}{each:18.2f}{more:>8}", flush=True)
    return each


if __name__ == "__main__":
    main()
