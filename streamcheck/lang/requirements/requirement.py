"""`requirement(sentence)`: a Bool stream, true as long as the run so far satisfies the sentence."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here, user_frame
from streamcheck.lang.types import Bool

NAMED = re.compile(r"(?:\[(?P<bracketed>[^\]\s]+)\]|(?P<plain>[^\s:\[\]]+):)(?:\s+(?P<sentence>\S.*))?")


def requirement(sentence: str, streams: Mapping[str, object] | None = None, *, step: str | None = None) -> Bool:
    """True as long as the run so far satisfies the sentence, in FRET's restricted English. Its names are those of
    `streams`, else the names where the call stands. `step` is the time that a step takes, if sentences have times.

    >>> brake_in_time = requirement("when fast the controller shall within 3 ticks satisfy brake")
    """
    # Imported here: most specs have no sentences.
    from streamcheck.lang.requirements.meaning import stream_of
    from streamcheck.lang.requirements.sentence import read_sentence, seconds_of

    for what, given in (("a sentence", sentence), ("a time for step", step)):
        if not isinstance(given, str) and (given is not None or given is sentence):
            raise SpecError(f"requirement: expected {what}, found {given!r}", here())
    if streams is None:
        frame = user_frame()
        streams = ChainMap(frame.f_locals, frame.f_globals)
    return stream_of(read_sentence(sentence, None if step is None else seconds_of(step)), streams)


def requirements(text: str, streams: Mapping[str, object] | None = None, *, step: str | None = None) -> dict[str, Bool]:
    """The streams of several requirements by their names: `NAME: sentence` or `[NAME] sentence` on a line each. A line
    that begins with blanks, after more than the first line has, goes on with the sentence before; `#` is a comment.

    >>> for name, kept in requirements("R1: the pump shall never satisfy hot & running").items():
    ...     spec.prop(name, kept)
    """
    if not isinstance(text, str):
        raise SpecError(f"requirements: expected a text, found {text!r}", here())
    if streams is None:
        frame = user_frame()
        streams = ChainMap(frame.f_locals, frame.f_globals)
    found: dict[str, Bool] = {}
    for name, sentence in _sentences(text).items():
        try:
            found[name] = requirement(sentence, streams, step=step)
        except SpecError as why:
            raise SpecError(f"{name}: {why.message}", here(), write=why.write) from None
    return found


def _sentences(text: str) -> dict[str, str]:
    """The sentences by their names."""
    found: dict[str, str] = {}
    name, margin = "", None
    for row in text.expandtabs().splitlines():
        line = row.partition("#")[0].strip()
        if not line:
            continue
        indent = len(row) - len(row.lstrip())
        margin = indent if margin is None else margin
        named = NAMED.fullmatch(line) if indent <= margin else None
        if named is not None:
            name = named["bracketed"] or named["plain"]
            if name in found:
                raise SpecError(f"requirements: two sentences are called {name}", here())
            found[name] = named["sentence"] or ""
        elif indent > margin and name:
            found[name] = f"{found[name]} {line}".strip()
        else:
            write = "R1: when fast the controller shall within 3 ticks satisfy brake"
            raise SpecError(f'requirements: expected a name before the sentence "{line}"', here(), write=write)
    return found
