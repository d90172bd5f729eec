"""Lines to standard output."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from itertools import islice

import click

from streamcheck.core.printable import visible


class ReaderGone(Exception):
    """The reader of the output has gone (`| head`). This is success; click would report a failure."""


COLOUR = re.compile("(\x1b\\[[0-9;]*m)")
BATCH = 4096  # lines


def terminal_width() -> int | None:
    """The columns of the terminal that standard output is, whatever `COLUMNS` says. None if it is none."""
    if not sys.stdout.isatty():
        return None
    return os.get_terminal_size(sys.stdout.fileno()).columns or 80


def fold(line: str, width: int) -> str:
    """The line with breaks between words where it is wider, and what follows a break indented."""
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
    lines, used = [""], 0
    for part in re.findall(r" +|[^ ]+", line):
        cells = len(click.unstyle(part))
        if used + cells > width and lines[-1].strip() and part.strip():
            lines[-1] = lines[-1].rstrip(" ")
            lines.append(indent)
            used = len(indent)
        lines[-1] += part
        used += cells
    return "\n".join(lines)


def _text_of(lines: list[str]) -> str:
    """The lines. On a terminal no value, such as one from a log, can be a command to it; colours are ours."""
    text = "\n".join(lines) + "\n"
    if not sys.stdout.isatty():
        return text
    return "".join(part if i % 2 else visible(part) for i, part in enumerate(COLOUR.split(text)))


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
                sys.stdout.write(_text_of(some))
            if flush or not some:
                sys.stdout.flush()
            if not some:
                break
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still buffered
        raise ReaderGone from None
    if failed is not None:
        raise failed
