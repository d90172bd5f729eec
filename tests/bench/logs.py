"""Seconds that monitors take for a log: one formula, one log, this project's command beside others.

    python tests/bench/logs.py [--rows N] [--peers PYTHON] [--only NAME]…

The formula, at every row: if probe > 250, then cooler was true at one of the last 101 rows. The log is CSV with a time,
a number and a Boolean in each row. Every tool counts the rows that violate it, and all counts must agree.

rtamt, reelay and mstlo run under PYTHON, an interpreter that has them. Without it an environment is made in a temporary
folder, and what cannot be installed there is named. They are asked row by row, with dictionaries or pairs as in their
documentation; rtamt also with the whole log at once. mstlo has only the future, so it gets the log backwards. The loops
are written by hand. `read` are the seconds for reading the CSV (by Python's csv, and conversions), `rest` all others
without the start of the interpreter and imports. The command is measured as a whole: start, loading of the spec, with
--native the C compiler too. Its `read` is measured apart, its `rest` has neither that nor the time for an empty log.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

SPEC = """
from streamcheck import *
probe, cooler = extern("probe", Word8), extern("cooler", Bool)
spec = Spec("cooled")
spec.prop("cooled", implies(probe > 250, mtl.eventually_prev(0, 100, cooler)))
"""
PACKAGES = {"rtamt": "rtamt", "reelay": "reelay", "mstlo": "mstlo-python"}
COMMANDS = {
    "run --native": ["--native", "--violations"],
    "run --native, all rows": ["--native", "--format", "csv"],
    "run": ["--violations"],
    "run, all rows": ["--format", "csv"],
}
NAN = float("nan")  # not measured
LOOP = """
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    char line[200], flag[10];
    unsigned probe, since = 101;
    long bad = 0;
    FILE *log = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!log || !fgets(line, sizeof line, log)) return 1;
    while (fgets(line, sizeof line, log)) {
        if (sscanf(line, "%*[^,],%u,%9s", &probe, flag) != 2) return 1;
        since = strcmp(flag, "true") == 0 ? 0 : since < 101 ? since + 1 : 101;
        bad += probe > 250 && since > 100;
    }
    printf("%ld\\n", bad);
    return 0;
}
"""


def write_log(path, rows):
    rng = random.Random(1)
    with open(path, "w") as out:
        out.write("time,probe,cooler\n")
        for i in range(rows):
            out.write(f"{i / 100},{rng.randint(230, 255)},{'true' if rng.random() < 0.02 else 'false'}\n")


# Under the other interpreter


def read_log(path):
    with open(path, newline="") as log:
        rows = csv.reader(log)
        next(rows)
        return [(int(row[1]), row[2] == "true") for row in rows]


def with_a_loop(rows):
    since, bad = 101, 0
    for probe, cooler in rows:
        since = 0 if cooler else since + 1
        bad += probe > 250 and since > 100
    return bad


def rtamt_monitor():
    import rtamt

    monitor = rtamt.StlDiscreteTimeSpecification()
    for name in ("probe", "cooler", "out"):
        monitor.declare_var(name, "float")
    monitor.spec = "out = (probe > 250) implies (once[0,100] (cooler > 0.5))"
    monitor.parse()
    return monitor


def with_rtamt(rows):
    monitor, bad = rtamt_monitor(), 0
    for i, (probe, cooler) in enumerate(rows):
        bad += monitor.update(i, [("probe", probe), ("cooler", float(cooler))]) < 0
    return bad


def with_rtamt_at_once(rows):
    data = {"time": list(range(len(rows))), "probe": [p for p, _ in rows], "cooler": [float(c) for _, c in rows]}
    return sum(value < 0 for _, value in rtamt_monitor().evaluate(data))


def with_reelay(rows):
    import reelay

    formula = "({probe > 250} -> once[0:100]{cooler > 0.5})"
    monitor, bad = reelay.discrete_timed_monitor(pattern=formula, condense=False), 0
    for probe, cooler in rows:
        bad += not monitor.update({"probe": probe, "cooler": float(cooler)})["value"]
    return bad


def with_mstlo(rows):
    import mstlo_python

    formula = mstlo_python.parse_formula("(probe > 250) -> F[0,100](cooler > 0.5)")
    monitor, bad = mstlo_python.Monitor(formula, semantics="DelayedQualitative"), 0
    for i, (probe, cooler) in enumerate([*reversed(rows), *[(0, False)] * 101]):  # which settle the last verdicts
        monitor.update("probe", float(probe), float(i))
        output = monitor.update("cooler", float(cooler), float(i))
        bad += sum(value is False for _, value in output.verdicts())
    return bad


TOOLS = {
    "loop in Python": with_a_loop,
    "rtamt": with_rtamt,
    "rtamt at once": with_rtamt_at_once,
    "reelay": with_reelay,
    "mstlo": with_mstlo,
}


def run_tool(name, path):
    """Under the interpreter that has the tool."""
    TOOLS[name]([(251, True)] * 3)  # imports are not counted
    began = time.perf_counter()
    rows = read_log(path)
    read = time.perf_counter()
    bad = TOOLS[name](rows)
    print(json.dumps([bad, read - began, time.perf_counter() - read]))


# Here


def peers(folder):
    """An interpreter with the other tools, as far as they can be installed."""
    venv.create(folder / "peers", with_pip=True)
    python = folder / "peers" / "bin" / "python"
    for name, package in PACKAGES.items():
        done = subprocess.run([python, "-m", "pip", "install", "-q", package], capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: pip install {package}: {done.stderr.strip().splitlines()[-1][:150]}")
    return python


def command(spec, log, *options):
    began = time.perf_counter()
    done = subprocess.run(
        [Path(sys.executable).parent / "streamcheck", "run", spec, "--input", log, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    took = time.perf_counter() - began
    assert done.returncode == 0, done.stderr
    count = re.search(r"was false at ([0-9]+) steps", done.stderr)
    return int(count[1]) if count else 0, took


def reading(spec, log):
    """Seconds for reading alone, as --native does it."""
    from streamcheck.deliver.machine import MOST, NativeMonitor
    from streamcheck.deliver.native import CsvBatches
    from streamcheck.interpret.data import DataColumns, read_form
    from streamcheck.interpret.log_text import LogText
    from streamcheck.interpret.python_code import plan
    from streamcheck.run.source import Target, read_specs

    planned = plan(read_specs(Target.parse(str(spec)))[0])
    machine = NativeMonitor(planned)
    with open(log, "rb", buffering=0) as file:
        began = time.perf_counter()
        text = LogText(lambda: file.read(1 << 20))
        form = read_form(text, "log", DataColumns(planned.inputs, ["probe", "cooler"]))
        batches = CsvBatches(text, form, live=False)
        while batches.batch(machine, MOST, again=False).count:
            pass
        return time.perf_counter() - began


def measurements(folder, options):
    spec, log = folder / "cooled.py", folder / "log.csv"
    spec.write_text(SPEC)
    write_log(log, options.rows)
    wanted = options.only or [*COMMANDS, "loop in C", *TOOLS]
    bare = folder / "bare.csv"
    bare.write_text("time,probe,cooler\n")
    for name, more in COMMANDS.items():
        if name in wanted:
            start = command(spec, bare, *more)[1]
            bad, took = command(spec, log, *more)
            read = reading(spec, log) if "--native" in more else NAN
            yield name, bad, took, read, took - start - read, f"start {start:.2f} s"
    if "loop in C" in wanted and shutil.which("cc"):
        (folder / "loop.c").write_text(LOOP)
        subprocess.run(["cc", "-O2", folder / "loop.c", "-o", folder / "loop"], check=True)
        began = time.perf_counter()
        done = subprocess.run([folder / "loop", log], capture_output=True, text=True, check=True)
        yield "loop in C", int(done.stdout), time.perf_counter() - began, NAN, NAN, ""
    others = [name for name in TOOLS if name in wanted]
    python = options.peers or (peers(folder) if {*others} - {"loop in Python"} else sys.executable)
    for name in others:
        done = subprocess.run([python, __file__, "--tool", name, log], capture_output=True, text=True)
        if done.returncode:
            print(f"{name}: {done.stderr.strip().splitlines()[-1][:150]}")
            continue
        bad, read, rest = json.loads(done.stdout)
        yield name, bad, read + rest, read, rest, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--peers", help="a Python that has rtamt, reelay and mstlo-python")
    parser.add_argument("--only", action="append", help="a tool (repeatable)")
    parser.add_argument("--tool", nargs=2, metavar=("NAME", "LOG"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tool:
        run_tool(*options.tool)
        return 0
    counts = {}
    print(f"{options.rows} rows, {os.cpu_count()} processors")
    print(f"{'':22}{'violations':>11}{'seconds':>9}{'read':>7}{'rest':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, bad, took, read, rest, remark in measurements(Path(folder), options):
            counts[name] = bad
            shown = "".join(
                f"{f'{x:.2f}' if x == x else '':>{width}}" for x, width in ((took, 9), (read, 7), (rest, 8))
            )
            print(f"{name:22}{bad:11}{shown}  {remark}", flush=True)
    return 0 if len(set(counts.values())) <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
