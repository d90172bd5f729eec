"""The log of a command: lines on standard error or in a file."""

from __future__ import annotations

import logging
import sys
import time

from streamcheck.core.errors import SpecError
from streamcheck.run.logs import PACKAGE

BEGAN = time.time()


class Line(logging.Formatter):
    """Seconds since the start, the module, the number of the worker, the message."""

    def format(self, record: logging.LogRecord) -> str:
        module = record.name.removeprefix(f"{PACKAGE.name}.")
        worker = getattr(record, "worker", "")
        return f"{record.created - BEGAN:9.4f}  {module:32}  {worker:2}  {record.getMessage()}"


def to_terminal(*, queries: bool) -> None:
    _add(logging.StreamHandler(sys.stderr), logging.DEBUG if queries else logging.INFO)


def to_file(path: str) -> None:
    try:
        _add(logging.FileHandler(path, mode="w", encoding="utf-8"), logging.INFO)
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None


def _add(handler: logging.Handler, level: int) -> None:
    """Add a handler. The log is as detailed as the most detailed handler needs."""
    handler.setFormatter(Line())
    PACKAGE.addHandler(handler)
    PACKAGE.setLevel(min(level, PACKAGE.level or level))
    PACKAGE.propagate = False
