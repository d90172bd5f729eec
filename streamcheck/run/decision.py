"""The verdict on one claim, as the director has it, and the work on those that are open."""

from __future__ import annotations

from dataclasses import dataclass

from streamcheck.problem.result import PathReplay, Replay, Word
from streamcheck.problem.verdict import Evidence, Falsified, Proved, Unknown


class Alarm(Exception):
    """Two checked verdicts contradict each other."""


@dataclass(frozen=True, slots=True)
class Work:
    """An engine at work: over which integer model, and how far it is."""

    engine: str
    model: str
    depth: int | None


@dataclass(slots=True)
class Decision:
    """The verdict on one claim."""

    name: str
    verdict: Word
    engine: str = ""
    model: str = ""
    seconds: float = 0.0
    unknown: Unknown | None = None
    k: int = 0  # of a proof; the step of a violation
    kind: str = ""  # of a certificate
    evidence: Evidence | None = None
    replay: Replay | PathReplay | None = None
    shortest: bool = True  # of a violation: every shorter run is known to be none
    found: Proved | Falsified | None = None  # the engine's verdict, about the system of its view
    kept: bool = False  # from an earlier run, and checked or replayed again
    simplified: bool = False  # a violation: the values are the simplest that were found
