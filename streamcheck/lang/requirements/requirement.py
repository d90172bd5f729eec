"""`requirement(sentence)`: a Bool stream, true as long as the run so far satisfies the sentence."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here, user_frame
from streamcheck.lang.types import Bool


def requirement(sentence: str, streams: Mapping[str, object] | None = None) -> Bool:
    """True as long as the run so far satisfies the sentence, in FRET's restricted English. Its names are those of
    `streams`, else the names where the call stands.

    >>> brake_in_time = requirement("when fast the controller shall within 3 ticks satisfy brake")
    """
    # Imported here: most specs have no sentences.
    from streamcheck.lang.requirements.meaning import stream_of
    from streamcheck.lang.requirements.sentence import read_sentence

    if not isinstance(sentence, str):
        raise SpecError(f"requirement: expected a sentence, found {sentence!r}", here())
    frame = user_frame()
    names = streams if streams is not None else ChainMap(frame.f_locals, frame.f_globals)
    return stream_of(read_sentence(sentence), names)
