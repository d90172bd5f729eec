"""Lines of the user's code: file, line and its text."""

from __future__ import annotations

import linecache
import os
import sys
from dataclasses import dataclass
from types import FrameType

PACKAGE = "streamcheck"
CODE = (".py", ".c", ".h", ".i", ".aut", ".lus", ".vmt", ".btor2", ".btor")


def lines_of(file: str) -> list[str]:
    """The lines of a file of code, or of what Python has executed without a file. Nothing of any other file: a place
    may come from data, and reports, which are handed on, show the lines around it."""
    is_code = file.endswith(CODE) and (os.path.isfile(file) or not os.path.isabs(file))
    return linecache.getlines(file) if is_code or file in linecache.cache else []


def is_below(file: str, folder: str) -> bool:
    """True if the file is in the folder or below, and nothing on the way to it is hidden."""
    way = os.path.relpath(os.path.realpath(file), os.path.realpath(folder)).split(os.sep)
    return not any(part.startswith(".") for part in way)


@dataclass(frozen=True, slots=True)
class Location:
    file: str
    line: int

    @property
    def text(self) -> str:
        lines = lines_of(self.file)
        return lines[self.line - 1].strip() if 1 <= self.line <= len(lines) else ""

    @property
    def short(self) -> str:
        """The file's name and the line, independent of the working directory."""
        return f"{os.path.basename(self.file)}:{self.line}"

    def __str__(self) -> str:
        """`path:line` as editors understand it; the path is relative if the file is below the working directory."""
        path = os.path.relpath(self.file) if os.path.isabs(self.file) else self.file
        return f"{self.file if path.startswith('..') else path}:{self.line}"


def is_ours(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__", ""))
    return name == PACKAGE or name.startswith(PACKAGE + ".")


def user_frame() -> FrameType:
    """The nearest frame outside streamcheck. The library is inside, so an error in it points to the line that called
    it."""
    frame: FrameType | None = sys._getframe(1)
    outermost = frame
    while frame is not None:
        if not is_ours(frame):
            return frame
        outermost, frame = frame, frame.f_back
    assert outermost is not None
    return outermost


def here() -> Location:
    frame = user_frame()
    return Location(frame.f_code.co_filename, frame.f_lineno)
