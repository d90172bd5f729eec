"""The supervisor: starts workers, passes facts between them, has every claim checked, and ends them.

Nothing is solved here. A proof counts when the checker's process has accepted its certificate, a counterexample when
it has been replayed; what cannot be checked is reported as unknown, and what an independent check refutes, or two
verdicts that contradict each other, is an `Alarm`.

Order: one worker with bounded model checking, the induction step and the completeness test in turns, and the checker
beside it. What that has not decided after `QUICK` seconds goes to processes of their own (`strategy.lanes`).
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from streamcheck.certify.replay import Replay
from streamcheck.certify.replay import replay as replayed
from streamcheck.core.evaluate import is_unknown_function
from streamcheck.core.term import walk
from streamcheck.formats.certificate_json import certificate_to_plain
from streamcheck.program.equations import Equations
from streamcheck.run import checking, workers
from streamcheck.run.child import Channel, Child, Ended, Forged
from streamcheck.run.events import event_from_plain, event_to_plain
from streamcheck.run.problems import Modelled, claim_term, is_extra
from streamcheck.run.strategy import QUICK, Lane, build, groups, lanes, quick_lane
from streamcheck.system.protocol import Fact, Invariants, Problem, Progress, TrueUpTo
from streamcheck.system.verdict import Certificate, Falsified, Proved, Trace, Unknown

PATIENCE = 2000  # milliseconds for a query, where several properties share a worker
GRACE = 0.2  # seconds that vacuity may take once every property is decided


class Alarm(Exception):
    """Two parts disagree: a contradiction inside, never a verdict."""


@dataclass(slots=True)
class Decision:
    """What became of one claim."""

    name: str
    verdict: str  # "proved", "falsified" or "unknown"
    engine: str = ""
    model: str = ""
    seconds: float = 0.0
    reason: str = ""
    certificate: Certificate | None = None
    trace: Trace | None = None
    replay: Replay | None = None


@dataclass(slots=True)
class Worker:
    lane: Lane
    model: Modelled
    child: Child
    depths: dict[str, int] = field(default_factory=dict)
    idle: bool = False  # every engine waits for facts


@dataclass(frozen=True, slots=True)
class Request:
    """A certificate that the checker is looking at."""

    worker: Worker
    engine: str
    proved: Proved


@dataclass(slots=True)
class Director:
    equations: Equations  # its properties are the claims
    models: Sequence[Modelled]
    timeout: float
    jobs: int
    engines: Sequence[str] = ()
    memory: int | None = None
    options: Mapping[str, bool] = field(default_factory=dict)
    watch: Callable[[Director], None] = lambda _: None
    decisions: dict[str, Decision] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    workers: list[Worker] = field(default_factory=list)
    _began: float = field(default_factory=time.monotonic)
    _facts: dict[str, list[Fact]] = field(default_factory=dict)
    _asked: dict[int, Request] = field(default_factory=dict)
    _requests: int = 0
    _reasons: dict[str, str] = field(default_factory=dict)
    _checker: Child | None = None
    _groups: list[set[str]] = field(default_factory=list)

    def run(self) -> dict[str, Decision]:
        try:
            self._start_checker()
            self._groups = groups(self.models[0])
            for group in self._groups:
                self._start(quick_lane(self.models[0].model, self.engines), group)
            self._loop()
        finally:
            self._end()
        for name in self._claims():
            self._decide(Decision(name, "unknown", reason=self._why_unknown(name)))
        return self.decisions

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def _claims(self) -> list[str]:
        return [p.name for p in self.equations.properties if p.name not in self.decisions]

    def open_properties(self) -> list[str]:
        return [name for name in self._claims() if not is_extra(name)]

    # Processes

    def _start_checker(self) -> None:
        models: dict[str, Modelled] = {m.model: m for m in self.models}

        def serve(channel: Channel) -> None:
            checking.serve(models, channel)

        self._checker = Child(serve)

    def _start(self, lane: Lane, group: set[str], *, patient: bool = False) -> None:
        model = next(m for m in self.models if m.model == lane.model)
        system = model.reduced.system
        undecided = tuple(p for p in system.properties if p.name in group and p.name not in self.decisions)
        if not undecided:
            return
        limit = None if patient or len(undecided) == 1 else PATIENCE
        problem = Problem(replace(system, properties=undecided), self.options, limit)
        known = self._facts.get(lane.model, [])

        def run(channel: Channel) -> None:
            workers.work(lambda: build(lane.engines), problem, channel, known)

        share = None if self.memory is None else self.memory // (len(self.workers) + 2)
        self.workers.append(Worker(lane, model, Child(run, memory=share)))

    def _end(self) -> None:
        for worker in self.workers:
            worker.child.end()
        if self._checker is not None:
            self._checker.end()

    # The loop

    def _loop(self) -> None:
        quick, last, decided_at = True, False, 0.0
        while self._claims():
            now = self.elapsed
            if not self.open_properties():
                decided_at = decided_at or now
            limit = min(self.timeout, decided_at + GRACE if decided_at else self.timeout)
            if now >= limit:
                return
            if quick and (now >= QUICK or not self._alive()) and not decided_at:
                quick = False
                self._widen(patient=False)
            if all(w.idle for w in self._alive()) and not self._asked:
                if last or quick:
                    return
                last = True  # what others were in the way of, or queries with a limit left open
                self._widen(patient=True)
            self.watch(self)
            self._listen(min(limit, QUICK if quick else limit, now + 0.1) - now)

    def _alive(self) -> list[Worker]:
        return [w for w in self.workers if w.child.alive]

    def _widen(self, *, patient: bool) -> None:
        """From the quick worker to lanes of their own; from queries with a limit to queries without."""
        chosen = lanes(self.models, self.jobs, self.engines)
        if len(chosen) <= 1 and self._alive() and not patient:
            return
        for worker in self._alive():
            self._drain(worker)
            worker.child.end()
        for lane in chosen:
            for group in self._groups:
                self._start(lane, group, patient=patient)

    def _listen(self, seconds: float) -> None:
        sources: dict[int, Worker | None] = {w.child.channel.read: w for w in self._alive()}
        if self._checker is not None and self._checker.alive:
            sources[self._checker.channel.read] = None
        for child in [w.child for w in self._alive()] + [c for c in (self._checker,) if c is not None and c.alive]:
            child.channel.flush()
        ready, _, _ = select.select(list(sources), [], [], max(0.0, seconds))
        for fd in ready:
            worker = sources[fd]
            if worker is None:
                self._checked()
            elif worker.child.alive:
                self._drain(worker)

    def _drain(self, worker: Worker) -> None:
        try:
            records = worker.child.channel.available()
        except (Ended, Forged):
            how = worker.child.end()
            self.warnings.append(f"worker {worker.lane.title} died ({how or 'it wrote no record'})")
            return
        for record in records:
            if record == {"ended": True}:
                worker.child.end()
                return
            worker.idle = record == {"idle": True}
            if not worker.idle:
                self._event(worker, record)

    # Events

    def _event(self, worker: Worker, record: dict[str, Any]) -> None:
        engine = record.pop("engine")
        event = event_from_plain(record, worker.model.reduced.system)
        match event:
            case Progress(depth):
                worker.depths[engine] = depth
            case TrueUpTo() | Invariants():
                self._share(worker, event)
            case Unknown(prop, reason):
                self._reasons.setdefault(prop, f"{engine}: {reason}")
            case Proved():
                self._ask(worker, engine, event)
            case Falsified():
                self._falsified(worker, engine, event)

    def _share(self, source: Worker, fact: Fact) -> None:
        """Facts reach the other workers over the same system, and those that start later."""
        self._facts.setdefault(source.lane.model, []).append(fact)
        for worker in self._alive():
            if worker is not source and worker.lane.model == source.lane.model:
                worker.child.channel.post(event_to_plain(fact))
                worker.idle = False

    def _ask(self, worker: Worker, engine: str, proved: Proved) -> None:
        """The certificate, with what the reduction used, goes to the checker."""
        earlier = self.decisions.get(proved.prop)
        if earlier is not None:
            if earlier.verdict == "falsified":
                raise Alarm(f"{proved.prop}: {earlier.engine} falsified it, and {engine} proved it")
            return
        assert self._checker is not None
        if not self._checker.alive:
            self._uncheckable(engine, proved.prop, "the checker died")
            return
        whole = replace(proved.certificate, equalities=worker.model.reduced.equalities)
        full = Proved(proved.prop, whole)
        number = self._requests = self._requests + 1
        self._asked[number] = Request(worker, engine, full)
        certificate = certificate_to_plain(full.certificate)
        request = {"id": number, "model": worker.lane.model, "prop": proved.prop, "certificate": certificate}
        self._checker.channel.post(request)

    def _checked(self) -> None:
        assert self._checker is not None
        try:
            answers = self._checker.channel.available()
        except (Ended, Forged):
            how = self._checker.end()
            self.warnings.append(f"the checker died ({how})")
            for request in self._asked.values():
                self._uncheckable(request.engine, request.proved.prop, "the checker died")
            self._asked.clear()
            return
        for answer in answers:
            request = self._asked.pop(answer["id"])
            prop = request.proved.prop
            if answer["accepted"]:
                self._accepted(request)
            elif answer["undecided"] or _guesses(request.worker.model):
                self._reasons[prop] = f"{request.engine} has a proof that could not be checked: {answer['why']}"
            else:
                raise Alarm(f"{prop}: the certificate of {request.engine} is rejected: {answer['why']}")

    def _uncheckable(self, engine: str, prop: str, why: str) -> None:
        if prop not in self.decisions:
            reason = f"{engine} has a proof that could not be checked: {why}"
            self._decide(Decision(prop, "unknown", reason=reason))

    def _accepted(self, request: Request) -> None:
        worker, proved = request.worker, request.proved
        if proved.prop not in self.decisions:
            decision = Decision(proved.prop, "proved", request.engine, worker.lane.model)
            decision.certificate = proved.certificate
            self._decide(decision)
            self._share(worker, proved)
        elif self.decisions[proved.prop].verdict == "falsified":
            raise Alarm(f"{proved.prop}: falsified, and a certificate that it holds is accepted")

    def _falsified(self, worker: Worker, engine: str, falsified: Falsified) -> None:
        earlier = self.decisions.get(falsified.prop)
        if earlier is not None and earlier.verdict == "falsified":
            return
        shown = replayed(self.equations, claim_term(self.equations, falsified.prop), falsified.trace)
        if isinstance(shown, str):
            if not _guesses(worker.model):
                raise Alarm(f"{falsified.prop}: the counterexample of {engine} does not replay: {shown}")
            self._reasons[falsified.prop] = (
                f"{engine} found a counterexample only for other functions than those of math.h: {shown}"
            )
            return
        if earlier is not None:
            raise Alarm(f"{falsified.prop}: {earlier.engine} proved it, and {engine} falsified it")
        decision = Decision(falsified.prop, "falsified", engine, worker.lane.model)
        decision.trace, decision.replay = falsified.trace, shown
        self._decide(decision)
        self._share(worker, falsified)

    def _decide(self, decision: Decision) -> None:
        decision.seconds = self.elapsed
        self.decisions[decision.name] = decision

    def _why_unknown(self, name: str) -> str:
        if name in self._reasons:
            return self._reasons[name]
        if self.elapsed >= self.timeout:
            return "timeout"
        return self.warnings[-1] if self.warnings else "no engine decided it"


def _guesses(model: Modelled) -> bool:
    """Whether the system uses functions the solver knows by name only."""
    return any(is_unknown_function(node) for node in walk(model.system.roots()))
