"""Texts of files as an editor has them, before they are saved.

They are kept by `linecache`, from which messages take the user's lines: a text and its lines cannot differ. Reading is
by absolute path, as editors name files.
"""

from __future__ import annotations

import io
import linecache


def replace_text(path: str, text: str) -> None:
    """From now on, in this process and those that it forks, this is the text of the file."""
    linecache.cache[path] = (len(text), None, io.StringIO(text).readlines(), path)


def unsaved_text(path: str) -> str | None:
    """The text in place of the one on disk, if there is one."""
    match linecache.cache.get(path):
        case (int(), None, list() as lines, str()):
            return "".join(lines)
    return None


def read_text(path: str, encoding: str = "utf-8") -> str:
    """The text of a file, unsaved or on disk."""
    unsaved = unsaved_text(path)
    if unsaved is not None:
        return unsaved
    with open(path, encoding=encoding, errors="replace") as file:
        return file.read()
