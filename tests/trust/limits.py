"""How far `prove` goes beyond its limits of time and of resident memory, on properties that nobody can decide."""

import tempfile
import time
from pathlib import Path
from random import Random

from trust.figure import Figure
from trust.processes import HARD, SPEC, Started, percentile

from streamcheck.run.memory import MEGABYTE
from streamcheck.run.workers_memory import used_by

OFTEN = 0.02  # seconds between two looks at the memory
TOO_LATE = 10.0  # seconds that are wrong on any machine
TOO_LARGE = 0.5  # of the limit, beyond it, is wrong on any machine
HARD_WORDS = """
x, y = (extern(name, Word64) for name in "xy")
mixed = x
for shift in (13, 29, 7, 31):
    mixed = mixed * (mixed ^ y ^ 0x9E3779B97F4A7C15) ^ (mixed >> shift) * (x + shift)
spec.prop("mixed", mixed != 0xD1B54A32D192ED03)
"""


def limits(count, seed):
    """So many runs; the times and sizes are in the title."""
    figure, rng = Figure("limits overshot"), Random(seed)
    late, large, own = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "hard.py").write_text(SPEC + HARD + HARD_WORDS)
        for _ in range(count):
            seconds = rng.uniform(0.5, 4.0)
            megabytes = rng.choice((None, rng.randint(120, 600)))
            one(figure, Path(folder), seconds, megabytes, late, large, own)
    figure.what += f": time by p50 {percentile(late, 0.5):.2f} s, p99 {percentile(late, 0.99):.2f} s"
    figure.what += f"; memory by p50 {percentile(large, 0.5):.0%}, p99 {percentile(large, 0.99):.0%}"
    figure.what += f" (of workers and checkers; the command itself has {max(own, default=0):.0f} MB at most)"
    return figure


def one(figure, folder, seconds, megabytes, late, large, own):
    options = [] if megabytes is None else ["--memory", megabytes]
    command = Started("prove", "hard.py", "--timeout", f"{seconds:.3f}", *options, folder=folder)
    largest = 0
    while command.wait(OFTEN) is None and time.monotonic() - command.began < seconds + TOO_LATE:
        if megabytes is not None:
            children = (used_by(pid) for pid in command.running() if pid != command.process.pid)
            largest = max(largest, sum(children) / MEGABYTE)
            own.append(used_by(command.process.pid) / MEGABYTE)
    over = time.monotonic() - command.began - seconds
    status, (_, err) = command.process.poll(), command.shown()
    command.close()
    figure.tried["runs" if megabytes is None else "runs with a limit of memory"] += 1
    late.append(max(0.0, over))
    if megabytes is not None:
        large.append(max(0.0, largest / megabytes - 1))
        if large[-1] > TOO_LARGE:
            figure.wrong.append(f"{largest:.0f} MB, with a limit of {megabytes}")
    if over >= TOO_LATE or status not in (1, 2, 3) or (status == 2 and "memory limit" not in err):
        figure.wrong.append(f"{over:.2f} s after {seconds:.2f} s, {megabytes} MB: status {status}, {err[-200:]}")
