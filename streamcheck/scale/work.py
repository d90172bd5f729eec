"""The function that executors call: a unit in, an answer out. It needs nothing but this module and two messages."""

from __future__ import annotations

import base64
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from streamcheck.run.child import Channel, Ended, Forged, TooLate
from streamcheck.scale.host import SLACK, wall_seconds
from streamcheck.scale.units import FORMAT, Damaged, Recent, digest_of, open_sealed, seal

LOOK = 0.1  # seconds between two questions if a unit is still wanted
SHARE = 0.8  # of the machine's memory, for the solvers of a worker that has no limit


def run_unit(problem: bytes, unit: bytes) -> bytes:
    """The answer to a unit of this problem."""
    return answer(problem, unit, lambda: True, None)


def format_here() -> str:
    """The version that this worker has."""
    return FORMAT


def answer(problem: bytes, unit: bytes, is_wanted: Callable[[], bool], memory: int | None) -> bytes:
    """The same, ended early if it is not wanted any more. `memory` is the most that its solver may use, in bytes."""
    try:
        row = open_sealed(unit)
        key = row["key"]
    except (Damaged, LookupError, TypeError) as why:
        return _without_result("", "failed", str(why))
    if row.get("format") != FORMAT:
        return _without_result(key, "refused", f"it has {FORMAT}, the task is of {row.get('format')}")
    row["memory"] = min(filter(None, (row["memory"], memory or int(SHARE * _machine_memory()))))
    try:
        return seal(HOSTS.answer(row, problem, is_wanted))
    except Damaged as why:
        return _without_result(key, "failed", str(why))


def _without_result(key: str, state: str, why: str) -> bytes:
    blank = {"format": FORMAT, "key": key, "rows": [], "spent": 0.0, "heard": 0}
    return seal({**blank, "state": state, "why": why})


def _machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@dataclass(eq=False, slots=True)
class HostProcess:
    """A host, as its worker sees it."""

    process: subprocess.Popen[bytes]
    channel: Channel
    known: Recent[None] = field(default_factory=Recent)  # the digests of the problems that it has
    units: dict[str, None] = field(default_factory=dict)  # that it may have a paused solver of, the latest last

    @staticmethod
    def start() -> HostProcess:
        token = os.urandom(16)
        command = [sys.executable, "-m", "streamcheck.scale.host", token.hex()]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        assert process.stdin is not None and process.stdout is not None
        return HostProcess(process, Channel(process.stdout.fileno(), process.stdin.fileno(), token))

    def ask(self, row: dict[str, Any], problem: bytes, is_wanted: Callable[[], bool]) -> dict[str, Any]:
        digest = digest_of(problem).hex()
        request = {**row, "problem digest": digest}
        if digest not in self.known:
            request["problem"] = base64.b64encode(problem).decode()
        self.known.use(digest, None)  # as the host does with the problem
        self.channel.send(request)
        self.units[row["key"]] = None
        left = wall_seconds(row["budget"]) + 4 * SLACK
        is_cancelled = False
        while left > 0:
            left -= LOOK
            try:
                reply: dict[str, Any] = self.channel.receive(LOOK)
                return reply
            except TooLate:
                if not is_cancelled and not is_wanted():
                    is_cancelled = True
                    self.channel.send({"cancel": True})
        raise Ended

    def end(self) -> None:
        self.process.kill()  # its solvers end with it
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


class Hosts:
    """The hosts of this worker: one for each unit that it runs at the same time."""

    def __init__(self) -> None:
        self._free: list[HostProcess] = []
        self._lock = threading.Lock()

    def answer(self, row: dict[str, Any], problem: bytes, is_wanted: Callable[[], bool]) -> dict[str, Any]:
        for _ in range(2):  # one that had nothing to do may just have ended
            host = self._take(row["key"])
            try:
                reply = host.ask(row, problem, is_wanted)
            except (Ended, Forged, BrokenPipeError):
                host.end()
                continue
            except BaseException:
                host.end()
                raise
            with self._lock:
                self._free.append(host)
            return reply
        raise Damaged("the process beside this worker died twice")

    def end(self) -> None:
        with self._lock:
            free, self._free = self._free, []
        for host in free:
            host.end()

    def _take(self, key: str) -> HostProcess:
        """One that may have this unit's solver, else the one that was used last, else a new one."""
        with self._lock:
            gone = [host for host in self._free if host.process.poll() is not None]
            self._free = [host for host in self._free if host not in gone]
            fitting = [host for host in self._free if key in host.units] or self._free
            host = fitting[-1] if fitting else None
            if host is not None:
                self._free.remove(host)
        for other in gone:
            other.end()
        return host or HostProcess.start()


HOSTS = Hosts()  # of this process: an executor gives a task no other place for what outlives it
