"""Lines to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable


class ReaderGone(Exception):
    """Nobody reads our output any more (`| head`): a good end, which click would call a failure."""


def emit(lines: Iterable[str], *, flush: bool = False) -> None:
    out = sys.stdout
    try:
        for line in lines:
            out.write(line)
            out.write("\n")
            if flush:
                out.flush()
        out.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still buffered goes nowhere
        raise ReaderGone from None
