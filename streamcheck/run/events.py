"""Engines' events as plain records, and back, checked."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from streamcheck.core.types import Type
from streamcheck.engines.protocol import Event, Finished, Guesses, Invariants, Progress, Settled, TrueUpTo, Waiting
from streamcheck.problem.certificate_json import (
    certificate_from_plain,
    certificate_to_plain,
    path_from_plain,
    path_to_plain,
    trace_from_plain,
    trace_to_plain,
)
from streamcheck.problem.verdict import EdgePath, Falsified, Proved, Unknown
from streamcheck.run.child import Forged

LOG = logging.getLogger(__name__)
Message: TypeAlias = tuple[str, Event]  # with the name of the engine


def event_to_plain(event: Event) -> dict[str, Any]:
    match event:
        case TrueUpTo(prop, k):
            return {"true up to": k, "prop": prop}
        case Invariants(certificate):
            return {"invariants": certificate_to_plain(certificate)}
        case Guesses(certificate):
            return {"guesses": certificate_to_plain(certificate)}
        case Progress(depth):
            return {"depth": depth}
        case Waiting():
            return {"waiting": True}
        case Settled(prop):
            return {"settled": prop}
        case Proved(prop, certificate):
            return {"proved": certificate_to_plain(certificate), "prop": prop}
        case Falsified(prop, trace):
            if isinstance(trace, EdgePath):
                return {"falsified along": path_to_plain(trace), "prop": prop}
            return {"falsified": trace_to_plain(trace), "prop": prop}
        case Unknown(prop, reason):
            return {"unknown": reason, "prop": prop}
        case Finished(props):
            return {"finished": props}
        case _:
            assert_never(event)


def message_of(record: Any, types: Mapping[str, Type]) -> Message | int | None:
    """An event of a worker, with its engine; or, if it is idle, how many facts it has had; or None at its end. Forged
    if it is none of these."""
    try:
        match record:
            case {"ended": True}:
                return None
            case {"idle": int(facts)}:
                return facts
            case {"engine": str(engine)}:
                return engine, event_from_plain(record, types)
    except Exception as why:  # anything may be in a record
        LOG.info("a worker's record is damaged: %s", why)
    raise Forged


def event_from_plain(row: dict[str, Any], types: Mapping[str, Type]) -> Event:
    """The event; `types` are those of the problem's variables by name."""
    match row:
        case {"true up to": int(k), "prop": str(prop)}:
            return TrueUpTo(prop, k)
        case {"invariants": certificate}:
            return Invariants(certificate_from_plain(certificate))
        case {"guesses": certificate}:
            return Guesses(certificate_from_plain(certificate))
        case {"depth": int(depth)}:
            return Progress(depth)
        case {"waiting": True}:
            return Waiting()
        case {"settled": str(prop)}:
            return Settled(prop)
        case {"proved": certificate, "prop": str(prop)}:
            return Proved(prop, certificate_from_plain(certificate))
        case {"falsified": trace, "prop": str(prop)}:
            return Falsified(prop, trace_from_plain(trace, types))
        case {"falsified along": path, "prop": str(prop)}:
            return Falsified(prop, path_from_plain(path, types))
        case {"unknown": str(reason), "prop": str(prop)}:
            return Unknown(prop, reason)
        case {"finished": [*props]}:
            return Finished(tuple(map(str, props)))
    raise ValueError(f"not an event: {row}")
