"""A log as bytes, read as it comes: its lines as text, one by one, and all that is there for code that reads rows
itself."""

from __future__ import annotations

from collections.abc import Callable

MARK = b"\xef\xbb\xbf"  # of UTF-8, at the beginning of a file


class LogText:
    """`buffer` holds what has been read and not been used: from `at` on, or from the start of what is recorded."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._recorded: int | None = None
        self.buffer = b""
        self.at = 0
        self.lines = 0  # before `at`
        while len(self.buffer) < len(MARK) and self.refill():
            pass
        self.at = len(MARK) if self.buffer.startswith(MARK) else 0

    def refill(self) -> bool:
        """Read more. False at the end."""
        more = self._read()
        used = self.at if self._recorded is None else self._recorded
        self.buffer = self.buffer[used:] + more
        self.at -= used
        if self._recorded is not None:
            self._recorded = 0
        return bool(more)

    def begins_with(self, text: str) -> bool:
        """True if that comes first, after blanks."""
        while not self.buffer[self.at :].strip() and self.refill():
            pass
        return self.buffer[self.at :].lstrip().startswith(text.encode())

    def __iter__(self) -> LogText:
        return self

    def __next__(self) -> str:
        while not (end := self._end_of_line()) and self.refill():
            pass
        line = self.buffer[self.at : end or len(self.buffer)]
        if not line:
            raise StopIteration
        self.use(len(line), 1)
        return line.decode()

    def _end_of_line(self) -> int:
        """The place after the next line; 0 if its end has not been read. A carriage return alone ends a line."""
        end = self.buffer.find(b"\n", self.at) + 1
        carriage = self.buffer.find(b"\r", self.at, end or len(self.buffer))
        if carriage < 0 or carriage + 2 == end:
            return end
        is_known = end or carriage + 1 < len(self.buffer)
        return carriage + 1 if is_known else 0

    def use(self, length: int, lines: int) -> None:
        """The next bytes are used, which have so many lines."""
        self.at += length
        self.lines += lines

    def record(self) -> None:
        """From here on, keep what is used."""
        self._recorded = self.at

    def take_record(self) -> str:
        """The text since then, which is kept no longer."""
        start, self._recorded = self._recorded, None
        return self.buffer[start : self.at].decode()
