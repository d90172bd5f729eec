"""The lines of code that reports show."""

from __future__ import annotations

import linecache
import os

from streamcheck.core.printable import visible

CODE = (".py", ".c", ".h", ".i", ".aut", ".lus", ".vmt", ".btor2", ".btor")


def lines_of(file: str) -> list[str]:
    """The lines of a file of code, or of what Python has executed without a file. Nothing of any other file: a place
    may come from data, and reports, which are handed on, show the lines around it. Characters that command a terminal
    are shown by their numbers."""
    return [visible(line) for line in _lines(file)]


def line_of(file: str, number: int) -> str:
    """One of them; empty if there is none."""
    return visible("".join(_lines(file)[number - 1 : number] if number > 0 else []))


def _lines(file: str) -> list[str]:
    is_code = file.endswith(CODE) and (os.path.isfile(file) or not os.path.isabs(file))
    return linecache.getlines(file) if is_code or file in linecache.cache else []
