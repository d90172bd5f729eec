"""The places of equations that others have made: the lines of streams and properties, which reports show."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

WITHOUT_PLACES = ("types", "terms")  # of equations, and they are long


def with_places_of(path: str, rows: list[Any]) -> list[Any]:
    """The equations of a spec in Python: it reads its folder, and the modules that Python finds."""
    return with_known_places(rows, [os.path.dirname(path), *sys.path])


def with_known_places(rows: list[Any], folders: Sequence[str]) -> list[Any]:
    """Equations as JSON has them, which forget the places in files that are not below these folders: who wrote them
    might name the files of somebody else, whose lines a report would show."""

    @cache
    def is_known(file: str) -> bool:
        return any(_is_below(file, folder or os.curdir) for folder in folders)

    for row in rows:
        _forget(row, is_known)
    return rows


def _forget(row: Any, is_known: Callable[[str], bool]) -> None:
    match row:
        case dict():
            if "at" in row and not _is_place(row["at"], is_known):
                row["at"] = None
            for key, inner in row.items():
                if key not in WITHOUT_PLACES:
                    _forget(inner, is_known)
        case list():
            for inner in row:
                _forget(inner, is_known)


def _is_place(at: Any, is_known: Callable[[str], bool]) -> bool:
    match at:
        case [str(file), int()]:
            return is_known(file)
    return False


def _is_below(file: str, folder: str) -> bool:
    """True if the file is in the folder or below, and nothing on the way to it is hidden."""
    try:
        way = os.path.relpath(os.path.realpath(file), os.path.realpath(folder)).split(os.sep)
    except ValueError:  # no file has such a name
        return False
    return not any(part.startswith(".") for part in way)
