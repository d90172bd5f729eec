"""PlaceCount where units run. A pool takes sealed units and says what became of them; it decides nothing.

`ExecutorPool` is for any executor of `concurrent.futures` (ray and slurm have such too); `dask_pool.DaskPool` for a
scheduler of Dask.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from streamcheck.run.strategy import processors
from streamcheck.scale.work import HOSTS, run_unit


@dataclass(frozen=True, slots=True)
class Answered:
    key: str
    data: bytes


@dataclass(frozen=True, slots=True)
class LostUnit:
    """The worker of this unit has gone, or the unit never came to one."""

    key: str
    why: str
    blame: bool = True  # the unit itself may be the reason


AWAY = -1  # places: nobody takes units now


@dataclass(frozen=True, slots=True)
class PlaceCount:
    """The number of units that run side by side, from now on."""

    number: int


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the user should know, in words."""

    text: str


@dataclass(frozen=True, slots=True)
class Gone:
    """There is nothing that runs units any more."""

    why: str


PoolMessage: TypeAlias = Answered | LostUnit | PlaceCount | Note | Gone


class Pool(Protocol):
    @property
    def read(self) -> int:
        """The descriptor that can be read if there are messages."""

    def submit(self, key: str, label: str, problem: bytes, unit: bytes, urgency: int) -> None: ...

    def cancel(self, key: str, *, overdue: bool = False) -> None:
        """Nobody waits for this unit any more; `overdue`: because no answer came."""

    def messages(self) -> Sequence[PoolMessage]:
        """Those that have come, without waiting."""

    def close(self) -> None: ...


class Bell:
    """A descriptor that other threads make readable."""

    def __init__(self) -> None:
        self.read, self._write = os.pipe()
        os.set_blocking(self.read, False)
        os.set_blocking(self._write, False)

    def ring(self) -> None:
        try:
            os.write(self._write, b".")
        except BlockingIOError:  # it rings already
            return

    def quiet(self) -> None:
        try:
            os.read(self.read, 1 << 16)
        except BlockingIOError:
            return

    def close(self) -> None:
        os.close(self.read)
        os.close(self._write)


class ExecutorPool:
    """An executor that somebody else has made, and will shut down."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._futures: dict[str, Future[bytes]] = {}
        self._lock = threading.Lock()
        self._bell = Bell()
        self._is_closed = False
        self._messages: deque[PoolMessage] = deque([PlaceCount(_width(executor))])
        self._bell.ring()

    @property
    def read(self) -> int:
        return self._bell.read

    def submit(self, key: str, label: str, problem: bytes, unit: bytes, urgency: int) -> None:
        try:
            future = self._executor.submit(run_unit, problem, unit)
        except RuntimeError as why:  # it was shut down, or its processes have died
            self._add(Gone(f"the executor takes no work: {why}"))
            return
        self._futures[key] = future
        future.add_done_callback(lambda done: self._note(key, done))

    def cancel(self, key: str, *, overdue: bool = False) -> None:
        future = self._futures.pop(key, None)
        if future is not None:
            future.cancel()  # one that runs is over when its budget is

    def messages(self) -> Sequence[PoolMessage]:
        self._bell.quiet()
        with self._lock:
            messages, self._messages = list(self._messages), deque()
        return messages

    def close(self) -> None:
        for key in list(self._futures):
            self.cancel(key)
        HOSTS.end()  # those of this process, if the executor has threads
        with self._lock:
            self._is_closed = True
            self._bell.close()

    def _note(self, key: str, future: Future[bytes]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        self._futures.pop(key, None)
        self._add(
            Answered(key, future.result()) if error is None else LostUnit(key, f"{type(error).__name__}: {error}")
        )

    def _add(self, message: PoolMessage) -> None:
        with self._lock:
            self._messages.append(message)
            if not self._is_closed:
                self._bell.ring()


def _width(executor: Executor) -> int:
    """The workers of the executor, as far as it says so."""
    width = getattr(executor, "_max_workers", None)
    return width if isinstance(width, int) and width > 0 else processors()
