"""SIGINT, SIGTERM and SIGKILL at random moments of each subcommand: soon nothing of it runs, verdicts that were decided
are printed, and no file is half written."""

import json
import re
import shutil
import signal
import tempfile
import time
from pathlib import Path
from random import Random

from trust.certificates import is_json
from trust.figure import Figure
from trust.processes import HARD, SPEC, Started, percentile

from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load
from streamcheck.problem.certificate_json import FORMAT, certificate_to_plain
from streamcheck.problem.verdict import Certificate

SOON = 0.3  # seconds
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
MONITOR = SPEC.replace('spec.prop("false", n < 4)\n', "") + 'spec.trigger("t", n == 4, [n])\n'
COMMANDS = {
    "prove": ("prove", "hard.py", "-v", "--timeout", "60", "--certificates", "out"),
    "check": ("check", "hard.json"),
    "run": ("run", "monitor.py", "--steps", "100000000", "--format", "csv"),
    "compile": ("compile", "monitor.py", "-o", "out", "--with", "test"),
    "watch": ("watch", "hard.py", "-v"),
}
LONGEST = {"prove": 3.0, "check": 2.0, "run": 1.5, "compile": 2.5, "watch": 3.0}  # seconds before the signal
DECIDED = re.compile(r"run\.director +(easy|false): (proved|falsified) by")


def signals(count, seed):
    figure, rng = Figure("signals at random moments"), Random(seed)
    took = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        whole = prepare(folder)
        for number in range(count):
            name = list(COMMANDS)[number % len(COMMANDS)]
            one(figure, name, rng, folder, whole, took)
    words = f"p50 {percentile(took, 0.5):.3f} s, p99 {percentile(took, 0.99):.3f} s, most {max(took, default=0):.3f} s"
    figure.tried[f"later than {SOON} s"] = sum(t > SOON for t in took)
    figure.what += f" (until nothing runs: {words})"
    return figure


def prepare(folder):
    """Write the files. Returns those that `compile` writes."""
    (folder / "hard.py").write_text(SPEC + HARD)
    (folder / "monitor.py").write_text(MONITOR)
    (folder / "hard.json").write_text(json.dumps(hard_certificate(folder)))
    done = Started(*COMMANDS["compile"], folder=folder)
    done.wait(120)
    done.close()
    whole = contents(folder / "out")
    shutil.rmtree(folder / "out")
    return whole


def hard_certificate(folder):
    """A certificate of which no solver finds out if it proves the property."""
    (spec,) = load(str(folder / "hard.py"))
    claim = next(p for p in flatten(spec).properties if p.name == "hard")
    head = {"format": FORMAT, "file": "hard.py", "spec": "s", "property": "hard", "claim": "proved"}
    return head | certificate_to_plain(Certificate("inductive", 1, (claim.term,)))


def contents(folder):
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def one(figure, name, rng, folder, whole, took):
    number = rng.choice(list(SIGNALS))
    delay = rng.uniform(0, LONGEST[name])
    shutil.rmtree(folder / ".streamcheck", ignore_errors=True)
    command = Started(*COMMANDS[name], folder=folder)
    time.sleep(delay)
    was_running = command.process.poll() is None
    command.process.send_signal(number)
    late = command.seconds_to_the_end(time.monotonic())
    status, (out, err) = command.process.returncode, command.shown()
    command.close()
    figure.tried[f"{number.name} of {name}" if was_running else "that were done before"] += 1
    where = f"{name}, {number.name} after {delay:.2f} s"
    if late is None:
        figure.wrong.append(f"{where}: something was left over")
    elif was_running:
        took.append(late)
    if was_running and status not in (SIGNALS[number], -number, 0, 1):
        figure.wrong.append(f"{where}: status {status}: {err[-200:]}")
    if "Traceback" in err and "streamcheck/" in err:
        figure.wrong.append(f"{where}: {err[-300:]}")
    if number != signal.SIGKILL and name in ("prove", "watch"):
        for prop, word in DECIDED.findall(err):
            if not re.search(rf"{word} +{prop}\b", out):
                figure.wrong.append(f"{where}: {prop} was {word}, and is not printed: {out[-200:]}")
    figure.wrong += [f"{where}: {what}" for what in half_written(folder / "out", name, whole, number)]


def half_written(folder, name, whole, number):
    """Files that are not what they should be. The folder is removed."""
    found = contents(folder) if folder.exists() else {}
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in found.items():
        if path.endswith(".part"):
            if number != signal.SIGKILL:
                yield f"{path} is left over"
        elif name == "compile" and len(text) != len(whole[path]):
            yield f"{path} has {len(text)} characters of {len(whole[path])}"
        elif path.endswith(".json") and not is_json(text):
            yield f"{path} is half written"
    if name == "compile" and number != signal.SIGKILL and found and set(found) != set(whole):
        yield f"{len(found)} of {len(whole)} files"
