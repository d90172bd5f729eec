"""Lines of the user's code: file, line and its text."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from types import FrameType

from streamcheck.core.code_lines import line_of

PACKAGE = "streamcheck"


@dataclass(frozen=True, slots=True)
class Location:
    file: str
    line: int

    @property
    def text(self) -> str:
        return line_of(self.file, self.line).strip()

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
