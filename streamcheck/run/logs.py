"""Log records of all processes of a run, handed to `logging` in the order in which they were made.

A child sends its records on its channel (`Sender`); the director collects them, and its own, in a `Timeline`, and
releases those that no older one can precede any more. The clock is the machine's monotonic one, which all processes
share. A message is formatted in the process that makes it, and only if its level is enabled.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from streamcheck.core.printable import visible

LogRow: TypeAlias = tuple[str, int, float, str]  # logger, level, time, message
PACKAGE = logging.getLogger("streamcheck")
ON_ITS_WAY = 0.25  # seconds between the making of a record and its being in the pipe, on a busy machine
BEGAN = time.time() - time.monotonic()  # read once: between two readings a process may be put aside


class Sender(logging.Handler):
    """Sends records instead of writing them."""

    def __init__(self, send: Callable[[Any], None]) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        row: LogRow = (record.name, record.levelno, time.monotonic(), record.getMessage())
        self._send({"log": row})


def send_records(send: Callable[[Any], None]) -> None:
    """From now on, this process sends the records of the package: the files of the command's handlers are closed."""
    PACKAGE.handlers[:] = [Sender(send)]
    PACKAGE.propagate = False


class Timeline:
    """Records in the order of their times."""

    def __init__(self, log: logging.Logger) -> None:
        self._own = log
        self._pending: list[tuple[LogRow, str]] = []

    def info(self, message: str, *args: object) -> None:
        """A record of this process."""
        if self._own.isEnabledFor(logging.INFO):
            row = self._own.name, logging.INFO, time.monotonic(), message % args
            self._pending.append((row, ""))

    def add(self, rows: Iterable[LogRow], worker: str = "") -> None:
        """Records of another process."""
        self._pending += [(row, worker) for row in rows]

    def release(self, before: float) -> None:
        """Hand out the records from before that time."""
        if self._pending:
            self._pending.sort(key=lambda entry: entry[0][2])
            ready = [entry for entry in self._pending if entry[0][2] < before]
            del self._pending[: len(ready)]
            for row, worker in ready:
                hand_out(row, worker)


def hand_out(row: LogRow, worker: str = "") -> None:
    """One record to the loggers of this process. Code of a spec may have sent it: it becomes text, of this package, of
    a time that has been."""
    name, level, at, message = visible(row[0]), row[1], max(0.0, min(row[2], time.monotonic())), visible(row[3])
    log = logging.getLogger(name)
    if name.partition(".")[0] == PACKAGE.name and log.isEnabledFor(level):
        created = BEGAN + at
        record = log.makeRecord(name, level, "", 0, message, (), None, extra={"worker": worker})
        record.created, record.msecs = created, created % 1 * 1000
        log.handle(record)
