"""Verdicts over time of a suite with a deadline, by the policy and in turns, beside each other on the same machine.

    python tests/bench/deadline.py FOLDER [--sample 60 --seed 1] [--deadline 120] [--jobs 2] [--rounds 1]

Both are `streamcheck prove --suite --deadline`; the second one has `RoundRobin` instead of `Policy`, and nothing else
is different. They run at the same time, each with as many jobs, so that other work on the machine slows both down. A
row has the verdicts that were in the journal after each share of the deadline.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHARES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
START = """
import sys, time
from streamcheck.scale import policy, suite
suite.Policy = getattr(policy, sys.argv.pop(1))
from streamcheck.cli import main
main(time.monotonic())
"""
NAMES = {"Policy": "policy", "RoundRobin": "round robin"}


def begin(kind, files, deadline, jobs):
    """The suite's process, and its journal."""
    folder = Path(tempfile.mkdtemp())
    for i, file in enumerate(files):
        (folder / "specs" / str(i)).mkdir(parents=True)
        shutil.copy(file, folder / "specs" / str(i))
    command = [sys.executable, "-c", START, kind, "prove", "specs", "--suite", "--no-cache"]
    command += ["--deadline", f"{deadline}s", "--jobs", str(jobs)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return process, folder / ".streamcheck" / "suite.jsonl"


def verdicts(journal):
    lines = journal.read_text().splitlines() if journal.exists() else ()
    return sum('"event":"verdict"' in line.replace(" ", "") for line in lines)


def compare(files, options):
    runs = {kind: begin(kind, files, options.deadline, options.jobs) for kind in NAMES}
    began, rows = time.monotonic(), {kind: [] for kind in NAMES}
    for share in SHARES:
        time.sleep(max(0.0, began + share * options.deadline - time.monotonic()))
        for kind, (_, journal) in runs.items():
            rows[kind].append(verdicts(journal))
    for kind, (process, _) in runs.items():
        _, err = process.communicate()
        assert process.returncode in (0, 1, 2, 3, 5), err
        print(f"{NAMES[kind]:12} {rows[kind]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deadline", type=int, default=120, help="seconds")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    files = sorted(p for p in Path(options.folder).rglob("*") if p.suffix in (".lus", ".py", ".c", ".vmt", ".btor2"))
    files = random.Random(options.seed).sample(files, min(options.sample, len(files)))
    print(f"{len(files)} files; seconds: {[round(share * options.deadline, 1) for share in SHARES]}")
    for _ in range(options.rounds):
        compare(files, options)


if __name__ == "__main__":
    main()
