"""The time limit, while a problem is encoded for the engines."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from streamcheck import *
from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.run import workers_memory
from streamcheck.run.limits import OutOfTime, time_limit
from streamcheck.run.prove import Nobody, Settings, prove
from streamcheck.run.workers_memory import MemoryLimit
from streamcheck.transform.views import views


@pytest.fixture
def counter(monkeypatch):
    """A problem that takes two seconds to encode."""

    def slow(problem, *, blocks):
        for _ in range(40):
            time.sleep(0.05)
        return views(problem, blocks=blocks)

    monkeypatch.setattr("streamcheck.run.prove.views", slow)
    n = stream(Word8, lambda n: [1] + +mux(n == 90, 1, n + 1))
    spec = Spec("counter")
    spec.prop("ok", n != 0)
    spec.prop("small", n < 91)
    return flatten(spec)


def test_encoding_keeps_to_the_time_limit(counter):
    began = time.monotonic()
    answer = prove(counter, Settings(timeout=0.2))
    assert time.monotonic() - began < 1.5
    assert answer.status == 3 and [r.name for r in answer.results] == ["ok", "small"]
    assert {r.reason for r in answer.results} == {"timed out after 0.2 s, before the proof began"}


def test_a_time_that_ends_as_soon_as_it_begins_is_reported():
    """On a slow machine the signal comes at the edges of the block, where no handler of the exception is."""
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(OutOfTime, match="encoding timed out"), time_limit(0.0, "encoding"):
        time.sleep(60)
    for i in range(600):
        end = time.perf_counter() + i % 60 * 4e-5  # around the millisecond after which the signal comes
        with suppress(OutOfTime), time_limit(0.0, "encoding"):
            while time.perf_counter() < end:
                pass
    assert signal.getsignal(signal.SIGALRM) is before


def test_encoding_is_finished_outside_the_main_thread(counter):
    """Signals end it, and no other thread gets any."""
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(prove, counter, Settings(timeout=20.0)).result()
    assert {r.name: r.verdict for r in answer.results} == {"ok": "proved", "small": "proved"}


ENDS = [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]
ENDLESS = """\
from streamcheck import *
def count(n):
    while True:
        n = n + 1
s = stream(Word8, lambda: count(3))
spec = Spec("s")
spec.prop("p", s > 2)
"""


@pytest.fixture
def endless(tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    return tmp_path


def line_shown(text):
    """The line of the loop that a message names, and its text."""
    found = re.search(r"endless\.py:(\d)\b.*\n    (.*)", text)
    return found and found[2] in ("while True:", "n = n + 1")


def test_a_loop_in_a_spec_is_named_at_the_end_of_the_time(endless):
    command = [sys.executable, "-m", "streamcheck", "prove", "endless.py", "--timeout", "1"]
    done = subprocess.run(command, cwd=endless, capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == ""
    assert "loading endless.py: timed out after 1 s" in done.stderr and line_shown(done.stderr)


@pytest.mark.parametrize(("number", "word", "status"), ENDS)
@pytest.mark.parametrize("command", ["prove", "run", "show"])
def test_a_loop_in_a_spec_is_named_after_a_signal(endless, command, number, word, status):
    text = ENDLESS.replace("while", "print('here', flush=True)\n    while")
    (endless / "endless.py").write_text(text)
    with subprocess.Popen(
        [sys.executable, "-m", "streamcheck", command, "endless.py"],
        cwd=endless,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stderr.readline() == "here\n"
        began = time.monotonic()
        process.send_signal(number)
        text = process.stderr.read()
        assert process.wait() == status and time.monotonic() - began < 1
    assert f"error: {word} while loading endless.py, at endless.py:" in text and "Traceback" not in text


def test_a_call_that_takes_long_does_not_keep_the_command(endless):
    """It cannot answer where it is, so the message is without a line."""
    (endless / "endless.py").write_text("sum(range(10**12))\n")
    began = time.monotonic()
    command = [sys.executable, "-m", "streamcheck", "prove", "endless.py", "--timeout", "1"]
    done = subprocess.run(command, cwd=endless, capture_output=True, text=True)
    assert time.monotonic() - began < 3
    assert done.returncode == 2 and done.stderr == "error: loading endless.py: timed out after 1 s\n"


def test_after_a_shortage_of_memory_no_engine_starts_again(monkeypatch):
    monkeypatch.setattr(MemoryLimit, "workers_to_end", lambda limit, workers, others: list(workers))
    started = []

    def watch(director):
        started[:] = [(worker.lane.title, worker.lane.claims) for worker in director.workers]

    audience = Nobody()
    audience.watch = watch
    x, y, z = (extern(name, Int) for name in "xyz")
    spec = Spec("s")
    spec.prop("cubes", x * x * x + y * y * y + z * z * z != 114)  # nobody knows
    (result,) = prove(flatten(spec), Settings(timeout=20.0, jobs=2, memory=10**9), audience).results
    assert "the memory limit of 1000 MB is too small" in str(result.reasons)
    assert len(started) > 3 and len(set(started)) == len(started)


def test_memory_is_bounded_before_the_limit_is_reached(monkeypatch):
    """What waits is ended first, then the largest; between exact looks the resident memory counts."""
    shares, residents = {1: 30, 2: 20, 3: 25, 9: 10}, dict.fromkeys((1, 2, 3, 9), 40)
    monkeypatch.setattr(workers_memory, "used_by", lambda pid: shares[pid])
    monkeypatch.setattr(workers_memory, "resident_in", lambda pid: residents[pid])
    workers = {11: (1, False), 12: (2, True), 13: (3, False)}
    limit = workers_memory.MemoryLimit(100)
    assert limit.workers_to_end(workers, [9]) == []
    shares[3] += 6
    assert limit.workers_to_end(workers, [9]) == []  # no look yet
    residents[3] += 6
    assert limit.workers_to_end(workers, [9]) == [12]  # a tenth is kept
    shares[1] += 60
    residents[1] += 60
    assert limit.workers_to_end(workers, [9]) == [12, 11]
    with pytest.raises(SpecError, match="checking proofs: the memory limit of 0 MB is too small"):
        workers_memory.MemoryLimit(9).workers_to_end(workers, [9])


def test_memory_is_that_of_processes():
    own = workers_memory.used_by(os.getpid())
    assert 1_000_000 < own <= workers_memory.resident_in(os.getpid()) * 1.5
    assert workers_memory.used_by(2**22 + 1) == workers_memory.resident_in(2**22 + 1) == 0


def test_the_time_limit_counts_from_the_start_of_the_command(endless):
    """What the command loads is a part of it."""
    code = "import time\nfrom streamcheck.cli import main\nmain(time.monotonic() - 30)"
    spec = 'from streamcheck import *\nspec = Spec("s")\nspec.prop("p", extern("x", Int) != 3)\n'
    (endless / "fast.py").write_text(spec)
    command = [sys.executable, "-c", code, "prove", "fast.py", "--timeout", "20"]
    done = subprocess.run(command, cwd=endless, capture_output=True, text=True)
    assert done.returncode == 3 and "unknown    p  timed out after 20 s" in done.stdout


def test_an_end_that_a_destructor_swallows_comes_again(monkeypatch):
    monkeypatch.setattr("sys.unraisablehook", lambda _lost: None)

    class Slow:
        def __del__(self):
            until = time.monotonic() + 0.2
            while time.monotonic() < until:
                pass

    with pytest.raises(OutOfTime), time_limit(0.05, "waiting"):
        Slow()
        until = time.monotonic() + 5
        while time.monotonic() < until:
            pass
