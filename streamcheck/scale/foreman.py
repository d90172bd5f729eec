"""One spec's turn in a suite, in a process of its own: what happens to it happens to no other spec.

It reads the file (the first time) or the equations that a former turn has sent, proves for the time that it is given,
and sends verdicts as they fall. If the suite has workers elsewhere, it gets them through the suite (`Relay`).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.problem.problem import Problem, problem_from_plain, problem_to_plain
from streamcheck.problem.result import Result, Verdicts
from streamcheck.report.verdicts_json import result_json, verdicts_json
from streamcheck.run.cache import Cache
from streamcheck.run.child import Channel, Ended
from streamcheck.run.decision import Alarm
from streamcheck.run.prove import Nobody, Settings, select
from streamcheck.run.source import AS_EVER, SourceOptions, Target, read
from streamcheck.run.ways import way_of_proving
from streamcheck.scale.broker import Wanted
from streamcheck.scale.crew import with_crew
from streamcheck.scale.units import digest_of, open_sealed, seal


@dataclass(frozen=True, slots=True)
class ProofWay:
    """How the specs of a file are read and proved."""

    settings: Settings
    reading: SourceOptions = AS_EVER
    cache: str | None = None
    certificates: str | None = None
    confined: bool = False
    compositional: bool = False
    reachable: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """A budget for a file, or for one of its specs: `problem` is what an earlier turn has sent, `decided` the verdicts
    that are known already."""

    target: str
    way: ProofWay
    seconds: float
    problem: bytes | None = None
    decided: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by spec
    distant: bool = False  # the workers are elsewhere


def take_turn(turn: Turn, channel: Channel) -> None:
    """Read and prove; send records to the suite."""
    target = Target.parse(turn.target, confined=turn.way.confined)
    try:
        if turn.problem is None:
            problems = list(read(target, turn.seconds + 60, turn.way.reading, turn.way.settings.memory))
        else:
            problems = [problem_from_plain(open_sealed(turn.problem))]
        problems = [select(problem, turn.way.settings.props) for problem in problems]
    except SpecError as why:
        channel.send({"error": str(why)})
        return
    if turn.problem is None:
        channel.send({"specs": [_spec_row(problem) for problem in problems]})
    relay = Relay(channel) if turn.distant else None
    for problem in problems:  # each for the seconds of the turn
        try:
            _prove(problem, turn, channel, relay)
        except SpecError as why:
            channel.send({"error": str(why), "spec": problem.name})
        except Alarm as why:
            channel.send({"alarm": str(why), "spec": problem.name})


def _spec_row(problem: Problem) -> dict[str, Any]:
    data = base64.b64encode(seal(problem_to_plain(problem))).decode()
    return {"spec": problem.name, "properties": [p.name for p in problem.properties], "problem": data}


def _prove(problem: Problem, turn: Turn, channel: Channel, relay: Relay | None) -> None:
    way = turn.way
    cache = None if way.cache is None else Cache(way.cache)
    decided = turn.decided.get(problem.name, {})
    props = _left(problem, decided, with_lemmas=cache is not None)
    if decided and not props:
        return
    settings = replace(way.settings, timeout=turn.seconds, cache=cache, props=props)
    if relay is not None:
        settings = with_crew(settings, relay, problem.name)
    prove = way_of_proving(compositional=way.compositional, reachable=way.reachable)
    verdicts = prove(problem, settings, Reporter(channel, decided))
    saved = {}
    if way.certificates is not None:
        from streamcheck.run.evidence_files import save

        saved = save(verdicts, Target.parse(turn.target).path, way.certificates)
    row = verdicts_json(_new(verdicts, decided), Target.parse(turn.target).path, saved)
    channel.send({"done": row, "status": verdicts.status, "stopped": verdicts.stopped})


def _left(problem: Problem, decided: Mapping[str, str], *, with_lemmas: bool) -> Sequence[str]:
    """The properties that are open, and those that are proved, whose proofs are kept: they may be lemmas. All, if
    nothing is known yet."""
    wanted = [p.name for p in problem.properties if p.name not in decided] if decided else []
    lemmas = [name for name, verdict in decided.items() if verdict == "proved"] if with_lemmas and wanted else []
    return [*wanted, *lemmas]


def _new(verdicts: Verdicts, decided: Mapping[str, str]) -> Verdicts:
    return replace(verdicts, results=[r for r in verdicts.results if r.name not in decided])


@dataclass(slots=True)
class Reporter(Nobody):
    """Sends verdicts as they fall."""

    channel: Channel
    decided: Mapping[str, str]
    problem: Problem | None = None
    machine: bool = False

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None:
        self.problem, self.machine = problem, machine

    def hear(self, result: Result) -> None:
        if self.problem is not None and result.verdict != "unknown" and result.name not in self.decided:
            row = result_json(self.problem, result, None, machine=self.machine)
            self.channel.send({"verdict": row, "spec": self.problem.name})


class Relay:
    """The suite's broker, at the other end of the channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._sent: dict[bytes, str] = {}

    @property
    def read(self) -> int:
        return self._channel.read

    def want(self, wanted: Wanted) -> None:
        row = {
            "key": wanted.key,
            "share": wanted.share,
            "kind": wanted.kind,
            "claims": wanted.claims,
            "after": wanted.after,
            "label": wanted.label,
            "row": wanted.row,
        }
        if wanted.problem not in self._sent:
            self._sent[wanted.problem] = digest_of(wanted.problem).hex()
            row["new"] = base64.b64encode(wanted.problem).decode()
        self._channel.send({"want": {**row, "problem": self._sent[wanted.problem]}})

    def drop(self, key: str) -> None:
        self._channel.send({"drop": key})

    def pump(self) -> list[tuple[str, dict[str, Any]]]:
        try:
            return [(row["key"], row["answer"]) for row in self._channel.available()]
        except Ended:
            raise SystemExit(1) from None
