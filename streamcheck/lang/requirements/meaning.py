"""The meaning of a sentence as a stream."""

from __future__ import annotations

from collections.abc import Mapping

from streamcheck.lang.lib.parts import bool_stream
from streamcheck.lang.requirements.expressions import Streams
from streamcheck.lang.requirements.sentence import Condition, Sentence
from streamcheck.lang.requirements.timing import Parts, active, begins
from streamcheck.lang.stream import Stream


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
