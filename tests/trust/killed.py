"""Processes of `prove` that are killed, memory and disk that run out, records cut in the middle, answers of solvers
that are missing or wrong: the verdicts are right or `unknown`, nothing hangs, and nothing is left over."""

import contextlib
import json
import os
import resource
import shutil
import signal
import tempfile
import time
from pathlib import Path
from random import Random

from planting import Planted
from trust.apart import answers
from trust.decided import import_all
from trust.faults import lie, truth, verdicts
from trust.figure import Figure
from trust.processes import SPEC, TRUTH, Started
from trust.signals import contents
from trust.small_specs import small_spec
from trust.states import TooMany, first_violations

from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain
from streamcheck.run.child import HEAD, Channel

SECONDS = 60.0  # that a command may take, which has 5 s for its proofs
MEGABYTE = 1_000_000


def killed(count, seed):
    figure = Figure("processes killed, memory and disk at an end, records cut, answers missing or wrong")
    import_all()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "spec.py").write_text(SPEC)
        for number in range(seed, seed + count):
            way = WAYS[number % len(WAYS)]
            figure.tried[way.__name__.replace("_", " ")] += 1
            way(figure, number, Path(folder))
    return figure


def process_killed(figure, number, folder):
    """A loader, a worker or the checker."""
    rng, command = Random(number), prove(folder)
    time.sleep(rng.uniform(0.05, 1.0))
    victims = [pid for pid in command.running() if pid != command.process.pid]
    for pid in rng.sample(victims, min(len(victims), rng.choice((1, 1, 2)))):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    judge(figure, f"seed {number}, a process killed", command, ("the process ended before it was done", "died"))


def memory_at_an_end(figure, number, folder):
    """By `--memory`, or by a limit of the system on each process."""
    rng = Random(number)
    size = int(10 ** rng.uniform(1.0, 2.8)) * MEGABYTE
    if rng.random() < 0.5:
        command = prove(folder, "--memory", size // MEGABYTE)
    else:
        command = prove(folder, prepare=lambda: resource.setrlimit(resource.RLIMIT_DATA, (size, size)))
    judge(figure, f"seed {number}, {size // MEGABYTE} MB", command, ("memory", "ended before", "Python", "died"))


def disk_at_an_end(figure, number, folder):
    """No file gets longer than that."""
    size = int(10 ** Random(number).uniform(0, 4))
    options = ("--certificates", "out", "--trace", "json", "out")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    command = prove(folder, *options, prepare=limit, pipes=True)
    judge(figure, f"seed {number}, {size} bytes", command, ("File too large",))
    left = [path for path in contents(folder) if path.endswith(".part")]
    figure.wrong += [f"seed {number}, {size} bytes: {path} is left over" for path in left]
    found = contents(folder / "out") if (folder / "out").exists() else {}
    shutil.rmtree(folder / "out", ignore_errors=True)
    for path, text in found.items():
        try:
            json.loads(text)
        except ValueError:
            figure.wrong.append(f"seed {number}, {size} bytes: {path} is half written")


def record_cut(figure, number, folder):
    """A process writes half of a record, or something else in its place, and ends or goes on."""
    for answer in answers(lambda _: cut(number), [number], SECONDS):
        if not isinstance(answer, list):
            figure.wrong.append(f"seed {number}, a record cut: {answer[-300:]}")
        else:
            figure.wrong += answer


def answer_of_a_solver(figure, number, folder):
    lie(figure, number)


WAYS = (process_killed, memory_at_an_end, disk_at_an_end, record_cut, answer_of_a_solver)


def prove(folder, *options, **more):
    shutil.rmtree(folder / ".streamcheck", ignore_errors=True)
    arguments = ("prove", "spec.py", "--json", "--timeout", 5, *options)
    return Started(*arguments, folder=folder, **more)


def judge(figure, where, command, reasons):
    """Its verdicts are right or unknown, or one of the reasons is given."""
    status = command.wait(SECONDS)
    left = command.seconds_to_the_end(time.monotonic())
    out, err = command.shown()
    command.close()
    if status is None or left is None:
        figure.wrong.append(f"{where}: {'it hangs' if status is None else 'something was left over'}")
        return
    try:
        found = {row["name"]: row["verdict"] for row in json.loads(out)["properties"]}
    except ValueError:
        if status in (0, 4) or not any(word in err for word in reasons):
            figure.wrong.append(f"{where}: status {status}, {out[-100:]!r}, {err[-300:]!r}")
        return
    figure.tried["all decided" if found == TRUTH else "some unknown"] += 1
    if any(word not in (TRUTH[name], "unknown") for name, word in found.items()):
        figure.wrong.append(f"{where}: {found}")
    if status not in (0, 1, 2, 3) or "internal error" in err:
        figure.wrong.append(f"{where}: status {status}: {err[-300:]!r}")


def cut(number):
    """What is wrong when a process of the command cuts a record."""
    rng = Random(number)
    spec, values = small_spec(number)
    problem = flatten(spec)
    try:
        expected = first_violations(to_plain(problem), values)
    except TooMany:
        return []
    at, way, here = rng.choice((1, 2, 3, rng.randint(1, 12))), rng.choice(CUTS), os.getpid()
    sent = 0
    real = Channel.send

    def send(channel, value):
        nonlocal sent
        sent += 1
        if os.getpid() == here or sent != at:
            real(channel, value)
        else:
            way(channel, json.dumps(value).encode())

    with Planted() as planted:
        planted.set(Channel, "send", send)
        found, _ = verdicts(problem, None)
    where = f"seed {number}, {way.__name__} at record {at}"
    return [
        f"{where}: {name} is {word}"
        for name, word in found.items()
        if word not in ("unknown", truth(problem, name, expected[name]))
    ]


def half_and_end(channel, data):
    os.write(channel.write, (HEAD.pack(channel.token, len(data)) + data)[: HEAD.size + len(data) // 2])
    os._exit(0)


def half_and_go_on(channel, data):
    os.write(channel.write, (HEAD.pack(channel.token, len(data)) + data)[: HEAD.size + len(data) // 2])


def half_a_head(channel, data):
    os.write(channel.write, HEAD.pack(channel.token, len(data))[:7])
    os._exit(1)


def no_json(channel, data):
    os.write(channel.write, HEAD.pack(channel.token, len(data)) + b"{" * len(data))


def another_word(channel, data):
    os.write(channel.write, HEAD.pack(bytes(16), len(data)) + data)


def another_value(channel, data):
    data = json.dumps({"value": None}).encode()
    os.write(channel.write, HEAD.pack(channel.token, len(data)) + data)


def nothing(channel, data):
    pass


CUTS = (half_and_end, half_and_go_on, half_a_head, no_json, another_word, another_value, nothing)
