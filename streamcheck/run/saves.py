"""The files that a spec is read from, and the moment at which one of them is saved."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class Saves:
    """The files below one, as they are on disk now."""

    def __init__(self, path: str) -> None:
        self._stamps = {file: _stamp(file) for file in files_of(path)}

    @property
    def are_outdated(self) -> bool:
        """True if a file has been saved or removed since."""
        return any(_stamp(file) != stamp for file, stamp in self._stamps.items())


def _stamp(file: str) -> tuple[int, int, int] | None:
    try:
        stat = os.stat(file)
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def files_of(path: str) -> list[str]:
    """The file, and those that it imports or includes from folders beside it, and so on. (Not what it opens itself.)"""
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    found, pending = dict[str, None](), [path]
    while pending:
        file = pending.pop()
        if file not in found:
            found[file] = None
            pending += _modules(file, folder) if file.endswith(".py") else _headers(file)
    return list(found)


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            return source.read()
    except OSError:
        return ""


def _modules(file: str, folder: str) -> Iterator[str]:
    """The files of the modules in this folder, or beside the file, that the file imports."""
    try:
        tree = ast.parse(_text(file))
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom():
                start = f"{node.module}." if node.module else ""
                names = [start.rstrip("."), *(start + alias.name for alias in node.names)]
            case _:
                continue
        for name in filter(None, names):
            for base in {folder, os.path.dirname(file)}:
                stem = os.path.join(base, *name.split("."))
                yield from filter(os.path.isfile, (f"{stem}.py", os.path.join(stem, "__init__.py")))


def _headers(file: str) -> Iterator[str]:
    for name in INCLUDE.findall(_text(file)):
        header = os.path.join(os.path.dirname(file), name)
        if os.path.isfile(header):
            yield header
