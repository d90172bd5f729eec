"""The files that a page shows: the lines of those that its streams and properties come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from streamcheck.core.code_lines import lines_of
from streamcheck.core.location import Location

WHOLE = 1500  # lines of a file that is shown from end to end
AROUND = 8  # lines around one that is needed of a longer file


@dataclass(slots=True)
class Source:
    """A file, by the name that locations print."""

    name: str
    lines: list[str]
    needed: set[int] = field(default_factory=set)  # numbers of lines, from 1

    def visible_lines(self) -> list[list[int | str]]:
        """The lines that are shown, each with its number."""
        numbers = range(1, len(self.lines) + 1)
        if len(self.lines) > WHOLE:
            near = {n for line in self.needed for n in range(line - AROUND, line + AROUND + 1)}
            numbers = [n for n in numbers if n in near]  # type: ignore[assignment]
        return [[n, self.lines[n - 1].rstrip("\n")] for n in numbers]


@dataclass(slots=True)
class Sources:
    _files: dict[str, Source] = field(default_factory=dict)

    def place(self, where: Location | None) -> list[int] | None:
        """The number of the file and the line. None if the file cannot be read."""
        if where is None:
            return None
        if where.file not in self._files:
            self._files[where.file] = Source(str(where).rpartition(":")[0], lines_of(where.file))
        source = self._files[where.file]
        if not 1 <= where.line <= len(source.lines):
            return None
        source.needed.add(where.line)
        return [list(self._files).index(where.file), where.line]

    def to_plain(self) -> list[dict[str, Any]]:
        return [{"name": s.name, "lines": s.visible_lines()} for s in self._files.values()]


def hash_of(path: str) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return sha256(file.read()).hexdigest()
    except OSError:
        return None
