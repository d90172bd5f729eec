"""Log records of all processes of a run, handed to `logging` in the order in which they were made.

The director collects those of its children, and its own, and releases those that no older one can precede any more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from streamcheck.run.logs import LogRow, hand_out

ON_ITS_WAY = 0.25  # seconds between the making of a record and its being in the pipe, on a busy machine


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
