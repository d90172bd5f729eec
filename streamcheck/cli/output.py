"""Lines to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable


class ReaderGone(Exception):
    """The reader of the output has gone (`| head`). This is success; click would report a failure."""


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
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still buffered
        raise ReaderGone from None
