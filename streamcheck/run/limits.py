"""A limit on the time of what runs in the command's own process."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from streamcheck.core.errors import SpecError

SHORTEST = 0.001  # seconds: a timer of 0 never ends
AGAIN = 0.25  # seconds: what is raised in a callback of the collector or in a `__del__` is lost, and then comes again


class OutOfTime(SpecError):
    """The limit is over."""


class _Interruption(BaseException):
    """The end of the time, inside the block: no handler of errors there takes it for one of its own."""


@contextmanager
def time_limit(seconds: float | None, doing: str) -> Iterator[None]:
    """End the block with OutOfTime after so many seconds, at the next instruction of Python. None is no limit, and
    there is none outside the main thread, which alone gets signals."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    waiting = True

    def end(_signal: int, frame: FrameType | None) -> None:
        if waiting and frame is not None and frame.f_globals.get("__name__") in (__name__, "contextlib"):
            signal.setitimer(signal.ITIMER_REAL, SHORTEST, AGAIN)  # at the edge of the block nobody hears it
        elif waiting:
            raise _Interruption

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, SHORTEST), AGAIN)
        yield
    except _Interruption:
        raise OutOfTime(f"{doing} timed out after {seconds:.3g} s", write="a longer --timeout") from None
    finally:
        waiting = False  # from here on the end cannot come any more
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
