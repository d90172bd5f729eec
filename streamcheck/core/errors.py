"""The user's mistakes. A message gives the line, what is wrong there, and what to write instead.

    engine.py:12: Word8 + Word16: the two sides have different types
        total = a + b
      write: cast(Word16, a) + b

Solver failures are values (`Unknown`); mistakes of this package are ordinary Python exceptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamcheck.core.location import Location

LONGEST_LINE = 400  # of the source, in a message: generated code may have all of it on one


class SpecError(Exception):
    """A mistake in a spec, or in data given to one."""

    def __init__(
        self,
        message: str,
        where: Location | None = None,
        *,
        write: str = "",
        also: tuple[tuple[str, Location | None], ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.write = write
        self.also = also

    @property
    def place(self) -> Location | None:
        """The user's line, for an editor; `where` is the one that the text is to begin with."""
        return self.where

    def __str__(self) -> str:
        return self._text(_at(self.message, self.where))

    @property
    def brief(self) -> str:
        """The text without its own line, for an editor that shows it there."""
        return self._text(self.message)

    def _text(self, head: str) -> str:
        lines = [head]
        for text, where in self.also:
            lines.append("  " + _at(text, where).replace("\n", "\n  "))
        if self.write:
            lines.append(f"  write: {self.write}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """The lines that a notebook shows: the message has the user's line, and no other is the user's."""
        return f"SpecError: {self}".splitlines()


class WordedError(SpecError):
    """A mistake whose text has its lines already: it was put into words where they are, perhaps in another process."""

    def __init__(self, text: str, brief: str, place: Location | None) -> None:
        super().__init__(text)
        self._brief, self._place = brief, place

    @property
    def place(self) -> Location | None:
        return self._place

    @property
    def brief(self) -> str:
        return self._brief


@contextmanager
def refuse_unwritable(path: str) -> Iterator[None]:
    """SpecError if what is written there cannot be written."""
    try:
        yield
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None


def _at(text: str, where: Location | None) -> str:
    if where is None:
        return text
    source = where.text
    if len(source) > LONGEST_LINE:
        source = source[:LONGEST_LINE] + " …"
    return f"{where}: {text}" + (f"\n    {source}" if source else "")
