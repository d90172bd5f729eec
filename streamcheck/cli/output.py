"""Lines to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import islice


class ReaderGone(Exception):
    """The reader of the output has gone (`| head`). This is success; click would report a failure."""


BATCH = 4096  # lines


def emit(lines: Iterable[str], *, flush: bool = False) -> None:
    """Write the lines; with `flush` each as it comes."""
    source = iter(lines)
    failed = None
    try:
        while failed is None:
            some: list[str] = []
            try:
                some.extend(islice(source, 1 if flush else BATCH))
            except Exception as error:  # the lines before it are written
                failed = error
            if some:
                sys.stdout.write("\n".join(some) + "\n")
            if flush or not some:
                sys.stdout.flush()
            if not some:
                break
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still buffered
        raise ReaderGone from None
    if failed is not None:
        raise failed
