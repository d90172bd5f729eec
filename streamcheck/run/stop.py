"""Ctrl-C and SIGTERM as an exception: every process is ended, and every verdict told, on the way out."""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LATER = 0.002  # seconds, when the destructor has ended
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


def _stop(number: int, frame: FrameType | None) -> None:
    while frame is not None:
        if frame.f_code is _signal_again.__code__:  # an exception in it would be dropped too
            start_new_thread(_signal_later, (number,))
            return
        frame = frame.f_back
    sys.unraisablehook = _signal_again
    raise Stopped(*SIGNALS[signal.Signals(number)])


def _signal_again(lost: sys.UnraisableHookArgs) -> None:
    """Python drops exceptions in destructors and in callbacks of weak references: the signal comes once more."""
    if not isinstance(lost.exc_value, Stopped):
        sys.__unraisablehook__(lost)
        return
    number = next(n for n, (_, status) in SIGNALS.items() if status == lost.exc_value.status)
    start_new_thread(_signal_later, (number,))  # not by `threading`, whose locks the signal may have interrupted


def _signal_later(number: int) -> None:
    time.sleep(LATER)
    os.kill(os.getpid(), number)


@contextmanager
def postpone_signals() -> Iterator[None]:
    """Signals that come in this block have their effect at its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
