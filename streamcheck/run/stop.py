"""Ctrl-C and SIGTERM as an exception: every process is ended, and every verdict told, on the way out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

SIGNALS = {signal.SIGINT: ("interrupted", 130), signal.SIGTERM: ("terminated", 143)}


class Stopped(BaseException):
    """The command was asked to end. `word` says how, `status` is its exit status."""

    def __init__(self, word: str, status: int) -> None:
        super().__init__(word)
        self.word, self.status = word, status


def raise_on_signals() -> None:
    """From now on these signals raise `Stopped`, in the main thread."""
    for number in SIGNALS:
        signal.signal(number, _stop)


def _stop(number: int, _frame: FrameType | None) -> NoReturn:
    raise Stopped(*SIGNALS[signal.Signals(number)])


@contextmanager
def postpone_signals() -> Iterator[None]:
    """Signals that come in this block have their effect at its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
