"""Mistakes as an editor shows them: at their line, without the line in the text."""

from __future__ import annotations

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location


class WordedError(SpecError):
    """A mistake whose text has its lines already: it was put into words where they are, perhaps in another process."""

    def __init__(self, text: str, brief: str, place: Location | None) -> None:
        super().__init__(text)
        self.brief, self.place = brief, place


def place_of(mistake: SpecError) -> Location | None:
    """The user's line."""
    return mistake.place if isinstance(mistake, WordedError) else mistake.where


def brief(mistake: SpecError) -> str:
    """The text without its own line."""
    if isinstance(mistake, WordedError):
        return mistake.brief
    return str(SpecError(mistake.message, write=mistake.write, also=mistake.also))
