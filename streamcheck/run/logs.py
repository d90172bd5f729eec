"""Log records of a child, which it sends on its channel, and which the command hands to `logging`.

The clock is the machine's monotonic one, which all processes share. A message is formatted in the process that makes
it, and only if its level is enabled.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from streamcheck.core.printable import visible

LogRow: TypeAlias = tuple[str, int, float, str]  # logger, level, time, message
PACKAGE = logging.getLogger("streamcheck")
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
