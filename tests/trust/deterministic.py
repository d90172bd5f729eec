"""`prove --deterministic`: the same verdicts, certificates and runs, whatever Python's hashes, the number of jobs and
the load of the machine."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from trust.figure import Figure
from trust.processes import COMMAND
from trust.small_specs import small_spec

from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain

TIMES = 3  # each spec
BUSY = "while True: pass"
TIMED = ("seconds", "version")  # fields that may differ


def deterministic(count, seed):
    """So many small specs, each a few times."""
    figure = Figure("specs proved again by `--deterministic`")
    for number in range(seed, seed + count):
        rng = Random(number)
        answers = [answer(number, hashes=0, jobs=1, load=0)]
        for _ in range(TIMES - 1):
            hashes, jobs, load = rng.randrange(1, 1 << 32), rng.choice((1, 2, 4)), rng.choice((0, 0, 3))
            answers.append(answer(number, hashes, jobs, load))
            if any(map(timed_out, (answers[0], answers[-1]))):  # how far it came is a matter of the machine
                figure.tried["pairs with a run that the time limit ended"] += 1
                continue
            figure.tried["runs compared"] += 1
            if answers[-1] != answers[0]:
                where = f"seed {number}, PYTHONHASHSEED={hashes}, {jobs} jobs, {load} busy processes"
                figure.wrong.append(f"{where}: {difference(answers[0], answers[-1])}")
        figure.tried["specs"] += 1
    return figure


def answer(number, hashes, jobs, load):
    """The answer in JSON and the files of evidence, without what may differ."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(load)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "s.json").write_text(json.dumps(to_plain(flatten(small_spec(number)[0]))))
            options = ["--deterministic", "--jobs", str(jobs), "--certificates", "out", "--json", "--timeout", "60"]
            done = subprocess.run(
                [COMMAND, "prove", "s.json", *options],
                cwd=folder,
                env={**os.environ, "PYTHONHASHSEED": str(hashes)},
                capture_output=True,
                text=True,
            )
            files = {p.name: p.read_text() for p in (Path(folder) / "out").glob("*")}
            return {"status": done.returncode, "shown": untimed(json.loads(done.stdout)), **files}
    finally:
        for process in busy:
            process.kill()
            process.wait()


def timed_out(answer):
    return any("timed out" in p.get("reason", "") for p in answer["shown"]["properties"])


def untimed(data):
    if isinstance(data, dict):
        return {key: untimed(value) for key, value in data.items() if key not in TIMED}
    return [untimed(value) for value in data] if isinstance(data, list) else data


def difference(first, second):
    differing = [key for key in {*first, *second} if first.get(key) != second.get(key)]
    return "; ".join(f"{key}: {str(first.get(key))[-200:]} and {str(second.get(key))[-200:]}" for key in differing[:2])
