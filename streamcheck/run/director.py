"""The supervisor: starts workers, passes facts between them, has every claim checked, and ends them.

Nothing is solved here. A proof counts when the checker's process has accepted its certificate, a counterexample when
it has been replayed. A verdict that cannot be checked is reported as `unknown`. A claim that the checker or the replay
refutes is among the `alarms`, and its engine's alone: other engines go on with the property. Two verdicts that
contradict each other end the run with an `Alarm`.

Order: one worker with bounded model checking, the induction step and the completeness test in turns, and the checker
beside it. Properties that are still open get further workers (`strategy.Schedule`), of which at most as many run as
there are processors: the others are paused. A property with a proof that is cheap to check is held: nobody works on it
while the proof waits (`run.checks`).

Logs the starts and ends of workers and all decisions, at level INFO, in one order with the workers' own records.
"""

from __future__ import annotations

import contextlib
import logging
import math
import select
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from streamcheck.core.term import walk
from streamcheck.core.types import plural
from streamcheck.engines.protocol import Fact, Finished, Guesses, Invariants, Progress, Settled, Task, TrueUpTo, Waiting
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Inconsistent
from streamcheck.problem.verdict import (
    Certificate,
    Falsified,
    ProofEvidence,
    Proved,
    Unknown,
)
from streamcheck.run import checking, workers
from streamcheck.run.checks import CheckerProcess, Checks, Proof
from streamcheck.run.child import Channel, Child, Ended, Forged, json_bytes
from streamcheck.run.crew import AtWork, Crew
from streamcheck.run.decision import Alarm, Decision, Work
from streamcheck.run.events import Message, event_to_plain, message_of
from streamcheck.run.kept import Offers, is_about, replay_in
from streamcheck.run.longer_runs import LongerRuns
from streamcheck.run.memory import MEGABYTE
from streamcheck.run.registry import ENGINES, build
from streamcheck.run.spent import Spent
from streamcheck.run.standby import Standby
from streamcheck.run.stop import Stopped
from streamcheck.run.strategy import ALONE, FIRST, INDUCTION, ON_BITS, QUICK, SLICE, STUCK, Lane, Schedule, apart
from streamcheck.run.timeline import ON_ITS_WAY, Timeline
from streamcheck.run.undecided import FINISHED, WAITING, Undecided
from streamcheck.run.worker import Worker
from streamcheck.run.workers_memory import LOOK, MemoryLimit
from streamcheck.transform.views import View

if TYPE_CHECKING:
    from streamcheck.engines.options import Options

PATIENCE = 5_000_000  # the solver's work for a query (about half a second), if several properties share a worker
LONG_PATIENCE = 50 * PATIENCE  # if only engines share a worker
MOST_CHECKERS = 3  # processes that check proofs at the same time
GRACE = 0.2  # seconds of a worker's processor time that vacuity may take once every property is decided
LONGEST_GRACE = 2.0  # the same by the clock, on a machine that has other work
REFUTED = "its claim was refuted, which is a fault of streamcheck"
LOG = logging.getLogger(__name__)


@dataclass(slots=True, eq=False, repr=False)
class Director:
    problem: Problem
    models: Sequence[View]
    timeout: float
    jobs: int
    engines: Sequence[str] = ()
    memory: int | None = None
    deterministic: bool = False
    options: Mapping[str, Options] = field(default_factory=dict)  # of engines, if not their defaults
    watch: Callable[[Director], None] = lambda _: None
    standby: Standby | None = None
    promised: float | None = None  # the timeout that the user gave, if it is longer
    thorough: bool = False  # vacuity tests have as much time as properties
    offers: Callable[[], Offers] = Offers  # evidence of earlier runs, looked up while the checker starts
    crew: Crew | None = None  # workers on other machines, instead of processes of this one
    grace: float = LONGEST_GRACE
    decisions: dict[str, Decision] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)  # engines' claims that the checker or replay refutes
    deaths: list[str] = field(default_factory=list)  # of workers, if that left something undecided
    rejected: dict[str, int] = field(default_factory=dict)  # the lengths of counterexamples that are none
    workers: list[Worker] = field(default_factory=list)
    stopped: Stopped | None = None  # by a signal, before everything was decided
    _began: float = field(default_factory=time.monotonic)
    facts: dict[str, list[Fact]] = field(default_factory=dict)  # by model
    candidates: list[tuple[View, Certificate]] = field(default_factory=list)  # not inductive, of random runs
    _spent: Spent = field(default_factory=Spent)
    _evidence: dict[tuple[str, Certificate], ProofEvidence] = field(default_factory=dict)  # by view
    _held: set[str] = field(default_factory=set)  # with a proof that is cheap to check: nobody works on them
    _released: set[str] = field(default_factory=set)  # were held once, and are not again
    _undecided: Undecided = field(default_factory=Undecided)
    _timeline: Timeline = field(default_factory=lambda: Timeline(LOG))
    _checks: Checks = field(init=False)
    _last_proof: float = -math.inf
    _work_then: float = 0.0  # of all workers, at the last proof
    _plan: Schedule = field(init=False)
    _memory: MemoryLimit | None = None
    _longer: LongerRuns = field(init=False)
    _open: dict[str, None] = field(init=False)  # the claims without a decision, vacuity tests too, in order
    _open_asked: dict[str, None] = field(init=False)  # those that are no vacuity tests
    _wanted: set[str] = field(init=False)  # those of the asked that are not held

    def __post_init__(self) -> None:
        most = 1 if self.deterministic else min(self.jobs, MOST_CHECKERS)
        self._checks = Checks(self._new_checker, most, self.deaths)
        tests = frozenset(p.name for p in self.problem.properties if p.is_vacuity_test)
        self._longer = LongerRuns(self._undecided.true_up_to, tests, for_ever=self.deterministic)
        self._open = dict.fromkeys(p.name for p in self.problem.properties)
        self._open_asked = dict.fromkeys(p.name for p in self.problem.properties if not p.is_vacuity_test)
        self._wanted = {*self._open_asked}
        self._memory = None if self.memory is None else MemoryLimit(self.memory)

    def run(self) -> dict[str, Decision]:
        try:
            self._checks.begin(self.standby.checker(self.problem) if self.standby else None)
            self._plan = Schedule(self.models, self.jobs, self.engines, self.deterministic)
            self._begin_with(self.offers())
            try:
                self._loop()
            except Stopped as stopped:
                self.stopped = stopped
            at_work = self._at_work()
            for name in [*self._open]:
                self._record(self._longer.decisions.get(name) or self._unknown(name, at_work))
        finally:
            self._end()
        if all(d.verdict != "unknown" for d in self.decisions.values()):
            self.deaths.clear()
        return self.decisions

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._began

    def depth_of(self, prop: str) -> int | None:
        """The last step up to which the property is known to hold."""
        return self._undecided.true_up_to.get(prop)

    def work_on(self, prop: str) -> list[Work]:
        """The engines that are at work on the property."""
        busy = [w for w in self._alive() if prop in w.lane.claims and not (w.idle or w.paused)]
        return [Work(engine, w.model.model, w.depths.get(engine)) for w in busy for engine in w.lane.engines]

    def is_being_checked(self, prop: str) -> bool:
        """True if there is a proof of it, which nobody has judged yet."""
        return any(self._checks.proofs_of(prop))

    def open_properties(self) -> list[str]:
        return [*self._open_asked]

    def _begin_with(self, kept: Offers) -> None:
        """Have proofs of earlier runs checked; violations have been replayed, and shorter ones are looked for."""
        for decision in kept.runs:
            decision.seconds = self.elapsed
            if decision.shortest:
                self._decide([decision])
            else:
                self._longer.add(decision)
        for proof in kept.proofs:
            self._submit(proof)
        while kept and self._plan.has_first:  # for what is left, vacuity tests too
            self._start(self._plan.waiting.pop(0))

    # Processes

    def _new_checker(self) -> Child:
        return Child(lambda channel: checking.serve(lambda: self.problem, channel))

    def _start(self, lane: Lane, *, patient: bool = False) -> None:
        model = next(m for m in self.models if m.model == lane.model)
        system = model.system
        decided = {*self.decisions, *self._held, *(name for name, d in self._longer.decisions.items() if not d.kept)}
        undecided = tuple(p for p in system.properties if p.name in lane.claims and p.name not in decided)
        if not undecided:
            return
        alone = patient or len(undecided) == 1
        limit = (LONG_PATIENCE if len(lane.engines) > len(FIRST) else None) if alone else PATIENCE
        if lane.engines == ALONE and not self.engines and not self._split(lane):
            return
        if lane.engines in (FIRST, ALONE, ON_BITS) and not self.engines and not patient:
            limit = PATIENCE  # which these engines double where it was too little
        whole = len(undecided) == len(system.properties)
        problem = Task(system if whole else replace(system, properties=undecided), patience=limit)
        if model.automaton is not None:
            problem = replace(problem, program=model.automaton, predicates=model.predicates)
        known = self.facts.get(lane.model, [])

        def run(channel: Channel) -> None:
            workers.work(lambda: build(lane.engines, self.options), problem, channel, known)

        usual = self.options.keys().isdisjoint(lane.engines)
        ready: AtWork | None = self.standby.worker(lane.engines, problem) if self.standby and usual else None
        child = ready or (self.crew.hire(lane, problem, self.options, known) if self.crew else Child(run))
        number = len(self.workers) + 1
        before = child.processor_time()
        priced = replace(lane, floats=any(node.type.kind == "float" for node in walk(p.term for p in undecided)))
        unsettled = {p.name for p in undecided}
        self.workers.append(Worker(number, priced, model, child, self.elapsed, before, unsettled))
        self._timeline.info("worker %d starts: %s, %s", number, lane.title, plural(len(undecided), "property"))

    def _split(self, lane: Lane) -> bool:
        """The first worker goes on without the engines that have one of their own now. False if it has ended."""
        same = lane.model, lane.claims, FIRST
        firsts = [w for w in self._alive() if (w.lane.model, w.lane.claims, w.lane.engines) == same]
        for worker in firsts:
            worker.take_over(replace(worker.lane, engines=INDUCTION))
            self._post(worker, json_bytes({"leave": ALONE[0]}))
        return bool(firsts)

    def _end(self) -> None:
        children: list[AtWork] = [*(w.child for w in self.workers), *(c.child for c in self._checks.checkers)]
        for child in children:
            child.kill()
        for worker in self._alive():
            self._last_records(worker)
        for child in children:  # they go down side by side
            child.end()
        used = {w.number: w.child.processor_time() for w in self.workers}
        self._timeline.info("processor time: %s", self._spent.text(self._checks.processor_time(), used))
        self._timeline.release(math.inf)

    def _last_records(self, worker: Worker) -> None:
        """Log the last records of a worker that was killed."""
        if LOG.isEnabledFor(logging.INFO):
            with contextlib.suppress(Ended, Forged):
                worker.child.channel.available()
            self._collect_log(worker)

    def _collect_log(self, worker: Worker) -> None:
        self._timeline.add(worker.child.channel.logged, str(worker.number))
        worker.child.channel.logged.clear()

    # The loop

    def _loop(self) -> None:
        last, decided_at = False, 0.0
        used: dict[int, float] = {}  # processor time by worker, when every property was decided
        while self._open:
            now = self.elapsed
            if not (self._open_asked or decided_at or self.thorough):
                decided_at = now
                used = {w.number: w.child.processor_time() for w in self._alive()}
            limit = min(self.timeout, decided_at + self.grace if decided_at else self.timeout)
            if now >= limit or any(
                w.child.processor_time() - used.get(w.number, 0.0) > GRACE for w in self._alive() if used
            ):
                return
            if not decided_at:
                if slow := self._checks.slow(self._held & self._open.keys()):
                    self._release(slow)
                self._start_due(now)
                self._decide(self._longer.due(now))
            if self._is_idle() and (decided_at or self._plan.is_over):
                if last or decided_at:
                    return
                last = True  # properties that others delayed, or that queries with a limit left open
                self._begin_again()
            self._share_processors()
            if self._memory is not None:
                self._bound_memory(self._memory)
            with self._spent.on_results():
                self.watch(self)
            longest = min(limit - now, LOOK if self._memory else 0.02 if decided_at else SLICE)
            start = self._next_start() - now  # in the past: the lane waits for its turn
            self._listen(min(longest, max(start, 0.01)) if start > 0 else longest)

    def _alive(self) -> list[Worker]:
        return [w for w in self.workers if w.child.alive]

    def _start_due(self, now: float) -> None:
        """Start the lanes whose turn has come, if no proofs are coming in; the next one at once if nobody is busy."""
        plan = self._plan
        if not plan.waiting and (self._next_start() <= now or self._is_idle()):
            plan.complete()
        while plan.waiting and (
            (self._next_start() <= now and plan.waiting[0].after <= self._last_turn()) or self._is_idle()
        ):
            self._start(plan.waiting.pop(0))
        for worker in self._alive():
            silent = worker.child.processor_time() - worker.last_record
            if worker.lane.engines in (FIRST, INDUCTION) and not worker.idle and silent > STUCK:
                self._stop(worker)
                for lane in apart(worker.lane):
                    self._start(lane)

    def _is_idle(self) -> bool:
        return not self._checks.are_pending and all(w.idle for w in self._alive())

    def _next_start(self) -> float:
        """The earliest time of the next lane: not while proofs come in, nor while all that is open has one."""
        if not self._wanted or self._plan.is_over:
            return math.inf
        if self._plan.has_first:
            return 0.0
        if all(w.idle for w in self._alive()):
            return self._last_proof + QUICK
        left = QUICK - (self._work() - self._work_then)
        return self.elapsed + left if left > 0 else 0.0

    def _work(self) -> float:  # the clock of what starts, so that a busy machine does not start more
        return sum(w.work for w in self.workers)

    def _in_turn(self) -> list[Worker]:
        """The workers that have something to do, in the order of their turns. One that runs goes on for a while."""
        busy = [w for w in self._alive() if not w.idle]
        return sorted(busy, key=lambda w: w.due if w.paused else w.due - SLICE)

    def _places(self) -> int:
        """The number of workers that may run beside the checkers."""
        return max(1, self.jobs - self._checks.busy)

    def _last_turn(self) -> float:
        """A lane up to here has a place."""
        busy, places = self._in_turn(), self._places()
        return busy[places - 1].due if len(busy) >= places else math.inf

    def _share_processors(self) -> None:
        """Let those run whose turn it is, and pause the others."""
        for place, worker in enumerate(self._in_turn()):
            waits = place >= self._places()
            if waits and not worker.paused:
                worker.paused = worker.child.pause()
            elif worker.paused and not waits:
                worker.paused = False
                worker.child.resume()

    def _bound_memory(self, limit: MemoryLimit) -> None:
        """End workers if all processes together use more than that."""
        workers = {w.number: (w.child.pid, w.paused) for w in self._alive()}
        for number in limit.workers_to_end(workers, [c.child.pid for c in self._checks.checkers]):
            worker = self.workers[number - 1]
            self._stop(worker)
            self._plan.end_restarts()
            for engine in worker.lane.engines:
                reason = f"the memory limit of {limit.most // MEGABYTE} MB is too small"
                self._undecided.add_reason(worker.lane.claims, self._title(worker.model, engine), reason)

    def _begin_again(self) -> None:
        """Every lane at once, its queries without a limit."""
        self._timeline.info("all engines restart, without limits on queries")
        for worker in self._alive():
            self._stop(worker)
        for lane in self._plan.every:
            self._start(lane, patient=True)

    def _stop(self, worker: Worker) -> None:
        """End the worker, once what it has found is known: that may end it, or others, by itself."""
        if worker.child.alive:
            self._drain(worker)
            self._close(worker)

    def _close(self, worker: Worker) -> None:
        if worker.child.alive:
            worker.child.end()
            self._timeline.info("worker %d ends", worker.number)

    def _listen(self, seconds: float) -> None:
        sources = {w.child.channel.read: w for w in self._alive()}
        checkers = {c.child.channel.read: c for c in self._checks.checkers}
        children = [*(w.child for w in sources.values()), *(c.child for c in checkers.values())]
        unsent = {c.channel.write: c.channel for c in children if c.channel.unsent}
        began = time.monotonic()
        crew = [self.crew.read] if self.crew else []
        ready, room, _ = select.select([*sources, *checkers, *crew], list(unsent), [], max(0.0, seconds))
        for fd in room:
            unsent[fd].flush()
        for fd in ready:
            if fd in checkers:
                self._on_checked(checkers[fd])
            elif fd in sources and sources[fd].child.alive:
                self._drain(sources[fd])
        if self.crew:
            self.crew.pump()
        self._checks.dispatch()
        self._timeline.release(began - ON_ITS_WAY)

    def _drain(self, worker: Worker) -> None:
        types = worker.model.variable_types
        try:
            messages = [message_of(record, types) for record in worker.child.channel.available()]
        except (Ended, Forged) as failure:
            self._collect_log(worker)
            how = worker.child.end(silent=True) if isinstance(failure, Ended) else ""
            if how == "ended with status 0":  # as its last record says, which is being read
                self._timeline.info("worker %d ends", worker.number)
                return
            worker.child.end()
            died = f"died ({how or 'it wrote no record'})"
            self.deaths.append(f"worker {worker.lane.title} {died}")
            self._timeline.info("worker %d %s", worker.number, died)
            for engine in worker.lane.engines:
                self._undecided.add_reason(worker.lane.claims, self._title(worker.model, engine), f"its worker {died}")
            return
        self._collect_log(worker)
        worker.last_record = worker.child.processor_time() if messages else worker.last_record
        for message in messages:
            if message is None:
                self._close(worker)
                return
            if self.elapsed >= self.timeout:
                return  # thousands of counterexamples may have come at once, and each is replayed
            worker.idle = message == worker.posted  # after so many facts: others may be on their way
            if not isinstance(message, int):
                self._event(worker, message)

    # Events

    def _event(self, worker: Worker, message: Message) -> None:
        engine, event = message
        match event:
            case Progress(depth):
                worker.depths[engine] = depth
            case TrueUpTo(prop, k):
                self._undecided.holds_up_to(prop, k)
                if ENGINES[engine].family == "z3":  # bitwuzla's answers enter no proof that it may check
                    self._share(worker.model, event, worker)
                self._decide(self._longer.due_of(prop, self.elapsed))
            case Invariants():
                self._share(worker.model, event, worker)
            case Unknown(prop, reason):
                self._undecided.add_reason([prop], self._title(worker.model, engine), reason)
            case Finished(props):
                self._undecided.add_reason(props, self._title(worker.model, engine), FINISHED)
            case Proved():
                self._ask(worker, engine, event)
            case Falsified():
                self._falsify(worker, engine, event)
            case Guesses(certificate):
                self.candidates.append((worker.model, certificate))
            case Waiting() | Settled():
                pass
            case _:
                assert_never(event)

    def _title(self, model: View, engine: str) -> str:
        """The engine, with its integer model if that is not the first."""
        return engine if model is self.models[0] else f"{engine} ({model.model})"

    def _share(self, model: View, fact: Fact, source: Worker | None) -> None:
        """Facts reach the other workers over the same system, and those that start later."""
        self.facts.setdefault(model.model, []).append(fact)
        self._tell([w for w in self._alive() if w is not source and w.model is model], fact)

    def _tell(self, listeners: Sequence[Worker], fact: Fact) -> None:
        record = json_bytes(event_to_plain(fact)) if listeners else b""
        for worker in listeners:
            self._post(worker, record)

    def _post(self, worker: Worker, record: bytes) -> None:
        if not worker.child.alive:
            return
        worker.child.channel.post_encoded(record)
        worker.posted += 1
        worker.idle = False

    def _ask(self, worker: Worker, engine: str, proved: Proved) -> None:
        """Send the certificate, as one about the problem itself, to the checker."""
        earlier = self.decisions.get(proved.prop)
        if earlier is not None:
            if earlier.verdict == "falsified":
                self.alarms.append(f"{proved.prop}: {earlier.engine} falsified it, and {engine} proved it")
            return
        key = worker.lane.model, proved.certificate
        evidence = self._evidence.get(key) or worker.model.proof_of(proved.certificate)
        if isinstance(evidence, str):
            self._undecided.add_reason([proved.prop], self._title(worker.model, engine), evidence)
            return
        self._evidence[key] = evidence
        self._submit(Proof(worker.model, engine, proved, evidence, worker, worker.child.processor_time()))

    def _submit(self, proof: Proof) -> None:
        prop = proof.proved.prop
        if any(other.price <= proof.price for other in self._checks.proofs_of(prop)):
            return
        self._last_proof, self._work_then = self.elapsed, self._work()
        self._checks.add(proof)
        if proof.is_cheap and prop not in self._held | self._released:
            self._held.add(prop)
            self._wanted.discard(prop)
            self._settle(prop)

    def _on_checked(self, checker: CheckerProcess) -> None:
        for checked in self._checks.answers(checker):
            proof, prop = checked.proof, checked.proof.proved.prop
            self._timeline.info("certificate of %s for %s: %s", proof.engine, prop, checked.rejected or "accepted")
            if checked.rejected is None:
                self._accept(proof)
            elif proof.source is None:
                self._resume(prop)
            elif checked.undecided or proof.model.guesses:
                self._undecided.add_unchecked(prop, proof.engine, checked.rejected)
                self._resume(prop)
            else:
                self.alarms.append(f"{prop}: the certificate of {proof.engine} is rejected: {checked.rejected}")
                self._undecided.add_reason([prop], self._title(proof.model, proof.engine), REFUTED)
                self._resume(prop)
        self._timeline.add(checker.child.channel.logged)
        checker.child.channel.logged.clear()

    def _resume(self, prop: str) -> None:
        """Start work again on a property whose proof could not be checked."""
        if prop in self._held and prop not in self.decisions and not any(self._checks.proofs_of(prop)):
            self._release({prop})

    def _release(self, props: set[str]) -> None:
        """Schedule work again on properties whose proofs are not so cheap to check after all, together."""
        self._held -= props
        self._wanted |= props & self._open_asked.keys()
        self._released |= props
        self._plan.again(props)

    def _accept(self, proof: Proof) -> None:
        proved = proof.proved
        if proved.prop in self._longer.decisions:
            raise Alarm(f"{proved.prop}: falsified, and a certificate that it holds is accepted")
        if proved.prop not in self.decisions:
            decision = Decision(proved.prop, "proved", proof.engine, proof.model.model)
            decision.evidence, decision.k = proof.evidence, proved.certificate.k
            decision.kind, decision.found, decision.kept = proved.certificate.kind, proved, proof.source is None
            if proof.source is not None or is_about(proof.model.system, proved.certificate):
                self._share(proof.model, proved, proof.source)
            self._decide([decision])
            self._checks.drop(proved.prop)
        elif self.decisions[proved.prop].verdict == "falsified":
            raise Alarm(f"{proved.prop}: falsified, and a certificate that it holds is accepted")

    def _falsify(self, worker: Worker, engine: str, falsified: Falsified) -> None:
        if (earlier := self.decisions.get(falsified.prop)) is not None and earlier.verdict == "falsified":
            return
        evidence, shown = replay_in(self.problem, worker.model, falsified)
        if isinstance(shown, Inconsistent):
            self.rejected[falsified.prop] = falsified.trace.length
            why = f"its counterexample is none: {shown.reason}"
            self._undecided.add_reason([falsified.prop], self._title(worker.model, engine), why)
            return
        if isinstance(shown, str):
            reason = f"a counterexample only for other functions than those of math.h: {shown}"
            if not worker.model.guesses:
                self.alarms.append(f"{falsified.prop}: the counterexample of {engine} does not replay: {shown}")
                reason = REFUTED
            self._undecided.add_reason([falsified.prop], self._title(worker.model, engine), reason)
            return
        if earlier is not None:
            raise Alarm(f"{falsified.prop}: {earlier.engine} proved it, and {engine} falsified it")
        decision = Decision(falsified.prop, "falsified", engine, worker.lane.model, self.elapsed, found=falsified)
        decision.evidence, decision.replay, decision.k = evidence, shown, falsified.trace.length - 1
        self._longer.add(decision)
        self._tell([w for w in self._alive() if w is not worker], falsified)
        self._decide(self._longer.due_of(falsified.prop, self.elapsed))

    def _decide(self, decisions: Iterable[Decision]) -> None:
        for decision in decisions:
            self._record(decision)
            if decision.name not in self._held:
                self._settle(decision.name)

    def _record(self, decision: Decision) -> None:
        decision.seconds = decision.seconds or self.elapsed
        self.decisions[decision.name] = decision
        self._open.pop(decision.name, None)
        self._open_asked.pop(decision.name, None)
        self._wanted.discard(decision.name)
        by = f" by {decision.engine}" if decision.engine else ""
        self._timeline.info("%s: %s%s", decision.name, decision.verdict, by)

    def _settle(self, prop: str) -> None:
        """Nobody works on the property any more; a worker that has no other one ends."""
        for worker in self._alive():
            worker.unsettled.discard(prop)
            if not worker.unsettled:
                self._stop(worker)
        self._tell(self._alive(), Settled(prop))

    def _at_work(self) -> list[tuple[AbstractSet[str], list[str], bool]]:
        """For each worker its claims, the titles of its engines, and if these wait for facts."""
        return [(w.lane.claims, [self._title(w.model, e) for e in w.lane.engines], w.idle) for w in self._alive()]

    def _unknown(self, name: str, at_work: Sequence[tuple[AbstractSet[str], list[str], bool]]) -> Decision:
        """The decision if nothing else comes."""
        running = []
        for _, titles, idle in (row for row in at_work if name in row[0]):
            running += titles
            for title in titles if idle else ():
                self._undecided.add_reason([name], title, WAITING)
        limit = round(self.promised or self.timeout, 1)
        timed_out = f"timed out after {limit:g} s" if self.elapsed >= self.timeout else ""
        ended = self.stopped.word if self.stopped else timed_out
        provers = [self._title(proof.model, proof.engine) for proof in self._checks.proofs_of(name)]
        return Decision(name, "unknown", unknown=self._undecided.verdict(name, running, ended, provers))
