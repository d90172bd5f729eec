"""`requirement(sentence)`: a Bool stream, true as long as the run so far satisfies the sentence."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here, user_frame
from streamcheck.lang.lib.parts import bool_stream
from streamcheck.lang.requirements.expressions import Streams
from streamcheck.lang.requirements.sentence import Condition, Sentence, read_sentence
from streamcheck.lang.requirements.timing import Parts, active, begins
from streamcheck.lang.stream import Stream
from streamcheck.lang.types import Bool


def requirement(sentence: str, streams: Mapping[str, object] | None = None) -> Bool:
    """True as long as the run so far satisfies the sentence, in FRET's restricted English. Its names are those of
    `streams`, else the names where the call stands.

    >>> brake_in_time = requirement("when fast the controller shall within 3 ticks satisfy brake")
    """
    if not isinstance(sentence, str):
        raise SpecError(f"requirement: expected a sentence, found {sentence!r}", here())
    frame = user_frame()
    names = streams if streams is not None else ChainMap(frame.f_locals, frame.f_globals)
    return stream_of(read_sentence(sentence), names)


def stream_of(sentence: Sentence, names: Mapping[str, object]) -> Stream:
    """The meaning of a sentence."""
    mode = None if sentence.mode is None else Streams(names, None).condition(sentence.mode)
    inside = active(sentence.scope, mode)
    found = Streams(names, begins(inside))
    no_stop = bool_stream(False, "")
    parts = Parts(
        sentence.scope,
        inside,
        sentence.condition,
        bool_stream(True, "") if sentence.trigger is None else found.condition(sentence.trigger),
        found.condition(sentence.response),
        sentence.duration,
        no_stop if sentence.stop is None else found.condition(sentence.stop),
    )
    assert (sentence.trigger is None) == (sentence.condition is Condition.NONE)
    return parts.meaning(sentence.timing)
