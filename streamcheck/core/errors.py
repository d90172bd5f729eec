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

    def __str__(self) -> str:
        lines = [_at(self.message, self.where)]
        for text, where in self.also:
            lines.append("  " + _at(text, where).replace("\n", "\n  "))
        if self.write:
            lines.append(f"  write: {self.write}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """The lines that a notebook shows: the message has the user's line, and no other is the user's."""
        return f"SpecError: {self}".splitlines()


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
