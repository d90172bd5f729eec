"""A limit on the time of what runs in the command's own process."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from streamcheck.core.errors import SpecError

SHORTEST = 0.001  # seconds: a timer of 0 never ends


@contextmanager
def time_limit(seconds: float | None, doing: str) -> Iterator[None]:
    """End the block with a SpecError after so many seconds, at the next instruction of Python. None is no limit."""
    if seconds is None:
        yield
        return

    def end(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise SpecError(f"{doing} timed out after {seconds:g} s", write="a longer --timeout")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, SHORTEST))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
