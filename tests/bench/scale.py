"""Verdicts each minute on 1, 2 and 4 workers of Dask on this machine, against the local supervisor.

    python tests/bench/scale.py [--specs 4 12] [--steps 8000] [--workers 1 2 4] [--rounds 5]

Each spec has one property that falls after a second or two of bounded model checking. CPU is the processor time of the
command and of all workers, with what they started; wall time depends on what else the machine does. Two suites are run,
a small and a large one: what the specs that only the large one has cost is `each further one`, the rest is paid once.
The share in the last column is by how much a further one costs more than it does without workers in the same round.
Rounds go one after another, each with all rows; at the end are the medians of their rows, and the range of the share.
"""

from __future__ import annotations

import argparse
import os
import statistics
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


def measure(folder, number, workers):
    """The wall and processor seconds of a suite; the local supervisor's if there are no workers."""
    if not workers:
        return suite(folder, number)
    with Cluster(folder, workers) as cluster:
        time.sleep(3)
        before = sum(cpu_of(worker.pid) for worker in cluster.workers)
        wall, cpu = suite(folder, number, "--on", cluster.address)
        return wall, cpu + sum(cpu_of(worker.pid) for worker in cluster.workers) - before


def suite(folder, number, *args):
    command = [sys.executable, "-m", "streamcheck", "prove", "specs", "--suite", "--no-cache", "--engine", "bmc", *args]
    before, began = os.times(), time.monotonic()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    falsified = sum(line.startswith("  falsified  ") for line in done.stdout.splitlines())
    assert falsified == number, done.stdout + done.stderr
    return time.monotonic() - began, cpu


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--specs", type=int, nargs=2, default=[4, 12], help="of the small suite and of the large one")
    parser.add_argument("--steps", type=int, default=8000)
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folders = []
    for number in options.specs:
        folders.append(Path(tempfile.mkdtemp()))
        (folders[-1] / "specs").mkdir()
        for i in range(number):
            (folders[-1] / "specs" / f"count_{i}.py").write_text(SPEC.format(i=i, steps=options.steps))

    print(f"{'':12}{'each minute':>12}{'CPU s, all':>12}{'paid once':>11}{'each further one':>18}{'more':>8}")
    rows = {}
    for _ in range(options.rounds):
        alone = None
        for workers in (0, *options.workers):
            pairs = [measure(folder, n, workers) for folder, n in zip(folders, options.specs, strict=True)]
            row = figures(options.specs, pairs, alone)
            alone = alone or row[3]
            rows.setdefault(workers, []).append(row)
            show(workers, row)
    for workers, found in rows.items() if options.rounds > 1 else ():
        shares = sorted(row[4] for row in found)
        medians = [statistics.median(column) for column in zip(*found, strict=True)]
        show(workers, medians, f"{shares[0]:.0f} to {shares[-1]:.0f}")


def figures(numbers, pairs, alone):
    """Verdicts each minute, processor seconds in all, once, of each further spec, and by how many % that is more."""
    (_, little), (wall, much) = pairs
    each = (much - little) / (numbers[1] - numbers[0])
    return 60 * numbers[1] / wall, much, much - numbers[1] * each, each, 100 * (each / (alone or each) - 1)


def show(workers, row, span=""):
    name = f"{workers} worker{'s' * (workers > 1)}" if workers else "local"
    print("{:12}{:12.1f}{:12.1f}{:11.1f}{:18.2f}{:6.0f} %  {}".format(name, *row, span), flush=True)


if __name__ == "__main__":
    main()
