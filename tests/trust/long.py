"""Long runs: `run` over many rows, `prove` of many properties in one spec, many commands side by side, `watch` over
many edits. Memory, files and processes do not grow."""

import contextlib
import itertools
import os
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from trust.figure import Figure
from trust.processes import COMMAND, Started

from streamcheck.run.memory import MEGABYTE
from streamcheck.run.workers_memory import resident_in, used_by

ROWS, PROPERTIES = 100_000, 10  # for each edit and each command of `count`
OFTEN = 0.05  # seconds between two looks at a process
MOST = 8.0  # megabytes by which memory may be more at the end, and a twentieth of it
AT_ONCE = 40  # commands, of 0.1 GB each
MORE = {"open files": 12, "processes": 3, "files outside of the cache": 0}  # of watch, as workers come and go
TOO_LONG = 600.0  # seconds, of one step of a figure
SPEC = """
from streamcheck import *
b = extern("b", Bool)
n = stream(Word8, lambda n: [0] ++ mux(b & (n < 100), n + 1, n))
recent = mtl.eventually_prev(0, 20, b)
spec = Spec("s")
spec.observer("n", n)
spec.trigger("t", ~recent & (n == 7), [n])
spec.prop("small", n <= LIMIT)
"""


def long(count, seed):
    figure = Figure("long runs")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        save(folder, 100)
        run(figure, folder, count * ROWS, "--native", "--violations")
        run(figure, folder, count * ROWS // 50, "--format", "csv")
        prove(figure, folder, count * PROPERTIES)
        commands(figure, folder, count, seed)
        watch(figure, folder, count, seed)
    return figure


def save(folder, limit):
    path = folder / "s.py.new"
    path.write_text(SPEC.replace("LIMIT", str(limit)))
    path.rename(folder / "s.py")


def run(figure, folder, rows, *options):
    """The memory of `run` in the second half of so many rows is that of the second eighth."""
    three = b"true\nfalse\nfalse\n"
    block = three * 20_000
    process = subprocess.Popen(
        [COMMAND, "run", "s.py", "--input", "-", *options], cwd=folder,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    written, sizes = [0], []

    def feed():
        with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
            pipe.write(b"b\n")
            while written[0] < rows:
                pipe.write(block[: len(three) * ((rows - written[0]) // 3 + 1)])
                written[0] += 60_000

    began, feeder = time.monotonic(), threading.Thread(target=feed)
    feeder.start()
    while process.poll() is None and time.monotonic() - began < TOO_LONG * 10:
        sizes.append((written[0], used_by(process.pid) / MEGABYTE))
        time.sleep(OFTEN)
    process.kill()
    feeder.join()
    error = process.stderr.read().decode()
    process.stderr.close()
    title = f"rows by run {options[0]}"
    figure.tried[title] += rows
    early = [size for at, size in sizes if rows / 8 <= at < rows / 4]
    late = [size for at, size in sizes if rows / 2 <= at and size]
    grown(figure, title, early, late)
    if early and late:
        slope = (max(late) - max(early)) * MEGABYTE / (rows * 3 / 4)  # from the first quarter to the end
        figure.what += f" ({max(0.0, slope):.3f} bytes a row)"
    if process.wait() != 0:
        figure.wrong.append(f"{title}: status {process.returncode} {error[-300:]}")


def grown(figure, title, early, late):
    """Note the memory, in megabytes; it is wrong if it was more later on."""
    if early and late:
        figure.what += f"; {title}: {max(early):.0f} MB early, {max(late):.0f} MB late"
        if max(late) > max(early) * 1.05 + MOST:
            figure.wrong.append(f"{title}: {max(early):.0f} MB at first, {max(late):.0f} MB later")


def prove(figure, folder, count):
    """One spec with so many properties, of which each seventh is false."""
    limits = ("!= 3" if i % 7 == 0 else f"<= {100 + i % 90}" for i in range(count))
    lines = [f'spec.prop("p{i}", n {limit})\n' for i, limit in enumerate(limits)]
    (folder / "many.py").write_text(SPEC.replace("LIMIT", "100") + "".join(lines))
    command = Started("prove", "many.py", "--quiet", "--timeout", TOO_LONG, folder=folder)
    most = 0.0
    while command.wait(OFTEN * 4) is None:
        most = max(most, sum(map(used_by, command.running())) / MEGABYTE)
    seconds, (out, err) = time.monotonic() - command.began, command.shown()
    left = command.running()
    command.close()
    figure.tried["properties in one spec"] += count
    figure.what += f"; {count:,} properties in {seconds:.0f} s, {most:.0f} MB"
    found = {name: verdict for verdict, name in re.findall(r"^  (proved|falsified|unknown) +(p\d+) ", out, re.M)}
    wrong = [i for i in range(count) if found.get(f"p{i}") != ("falsified" if i % 7 == 0 else "proved")]
    figure.wrong += [f"p{i} of {count}: {found.get(f'p{i}')} {err[-200:]}" for i in wrong[:5]]
    figure.wrong += [f"{len(left)} processes left"] * bool(left)


def commands(figure, folder, count, seed):
    """So many commands, some tens at a time: each has the right answer, and nothing is left."""
    before = kinds_of_files(folder)
    numbers = iter(range(seed, seed + count))
    while batch := [*itertools.islice(numbers, AT_ONCE)]:
        started = [Started("prove", "s.py", "--timeout", "300", "--jobs", 1, folder=folder, kept=True) for _ in batch]
        for command in started:
            status = command.wait(TOO_LONG)
            out, err = command.shown()
            left = command.running()
            command.close()
            figure.tried[f"commands, {AT_ONCE} at a time"] += 1
            if status != 0 or "proved     small" not in out or left:
                figure.wrong.append(f"status {status}, {len(left)} processes left, {out[-200:]} {err[-200:]}")
    if kinds_of_files(folder) - before - {".streamcheck"}:
        figure.wrong.append(f"files left: {kinds_of_files(folder) - before}")


def kinds_of_files(folder):
    return {path.name for path in folder.iterdir()}


def watch(figure, folder, count, seed):
    """Its memory, open files, processes and files in the second half are those in the first quarter."""
    command = Started("watch", "s.py", "--timeout", "60", folder=folder, kept=True)
    sizes = []
    try:
        for edit in range(count + 1):
            if not answered(command, edit + 1):
                figure.wrong.append(f"no answer to edit {edit}: {command.shown()[1][-300:]}")
                return
            sizes.append(size_of(command, folder))
            if edit < count:
                save(folder, 100 + (seed + edit) % 150)
                figure.tried["edits that watch saw"] += 1
        out = command.shown()[0]
    finally:
        command.close()
    if out.count("falsified") or out.count("unknown"):
        figure.wrong.append("watch: a wrong verdict")
    early, late = sizes[1 : len(sizes) // 4 + 2], sizes[len(sizes) // 2 :]
    grown(figure, "watch", [row[0] for row in early], [row[0] for row in late])
    for at, (what, most) in enumerate(MORE.items(), 1):
        if max(row[at] for row in late) > max(row[at] for row in early) + most:
            figure.wrong.append(f"watch: {what} from {early[0][at]} to {late[-1][at]}")


def answered(command, times):
    """Wait until it has answered so many times."""
    began = time.monotonic()
    while len(re.findall(r"^  \d\d:\d\d:\d\d  ", command.shown()[0], re.M)) < times:
        if command.wait(0.01) is not None or time.monotonic() - began > TOO_LONG:
            return False
    return True


def size_of(command, folder):
    """Megabytes of the command itself, open files, processes; files beside the cache."""
    pids = command.running()
    files = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            files += len(os.listdir(f"/proc/{pid}/fd"))
    return resident_in(command.process.pid) / MEGABYTE, files, len(pids), len(kinds_of_files(folder))
