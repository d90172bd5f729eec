"""Proofs on their way to the checker: several processes, and the cheapest proof of what is still open first.

A proof waits until a checker is free. Each check has a budget of processor time. If others wait, a check over its
budget gives way: its process is paused, and goes on after those that had fewer tries, with a larger budget. If too many
are paused already, its process is ended, and its proof waits again. So a query from which a solver does not come back
delays nothing but itself, and a check that only takes a while has not worked in vain. Once a proof of a property is
accepted, its other proofs are dropped.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from streamcheck.problem.verdict import ProofEvidence, Proved
from streamcheck.run import checking
from streamcheck.run.child import Child, Ended, Forged

if TYPE_CHECKING:
    from streamcheck.run.worker import Worker
    from streamcheck.transform.views import View

BUDGETS = (0.3, 2.0, 10.0, 60.0, math.inf)  # seconds of processor time, by the number of tries before
SLOW = 0.1  # seconds of a check after which another checker starts, if proofs wait
MOST_PAUSED = 6  # checkers beside those at work
MOST_AHEAD = 16  # proofs that are sent to a checker before it is free
LONG = 2.0  # seconds of processor time that checks of a proof have at least before others work on the property again
CHEAP_K, CHEAP_INVARIANTS = 3, 100  # up to here a check takes milliseconds, nearly always


@dataclass(eq=False, slots=True)
class Proof:
    """A certificate for a property, about the system of a view, that an engine has handed in or that was kept."""

    model: View
    engine: str
    proved: Proved
    evidence: ProofEvidence  # about the problem itself
    source: Worker | None = None  # None of what was kept from an earlier run
    cost: float = 0.0  # processor time of its worker when it was found
    tries: int = 0
    spent: float = 0.0  # processor time of the tries

    @property
    def price(self) -> tuple[int, bool, int, int]:
        """The order in which proofs are checked: comparing states is the dearest."""
        certificate = self.proved.certificate
        return self.tries, certificate.kind in ("compressed", "complete"), certificate.k, len(certificate.invariants)

    @property
    def is_cheap(self) -> bool:
        _, compares_states, k, size = self.price
        return not compares_states and k <= CHEAP_K and size <= CHEAP_INVARIANTS


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a check: `rejected` says why, and `undecided` that no solver had an answer."""

    proof: Proof
    rejected: str | None
    undecided: bool = False


def _answer_of(record: Any) -> dict[str, Any]:
    """A checker's answer. Forged if it is none."""
    match record:
        case {"accepted": True} | {"accepted": False, "why": str()}:
            return dict(record)
    raise Forged


@dataclass(eq=False, slots=True)
class CheckerProcess:
    """A process that checks one proof at a time."""

    child: Child
    records: checking.Requests = field(default_factory=checking.Requests)
    proof: Proof | None = None
    ahead: list[Proof] = field(default_factory=list)  # that were sent behind it: cheap ones of earlier runs
    began: float = 0.0  # processor time of the process when the check began
    since: float = 0.0  # when it began, or went on
    paused: bool = False
    known: set[int] = field(default_factory=set)  # identities of evidence that it has seen

    @property
    def time_used(self) -> float:
        """The processor time of this check."""
        return self.child.processor_time() - self.began

    def next(self, proof: Proof | None) -> None:
        """Begin to count the time of this check."""
        self.proof, self.since, self.began = proof, time.monotonic(), self.child.processor_time()

    @property
    def at_work(self) -> bool:
        return self.proof is not None and not self.paused

    def pause(self) -> bool:
        """Stop this check where it is. False if that is impossible, or if others wait behind it."""
        self.paused = not self.ahead and self.child.pause()
        return self.paused

    def go_on(self) -> None:
        self.paused, self.since = False, time.monotonic()
        self.child.resume()


@dataclass(slots=True)
class Checks:
    """The queue and the checkers. `start` makes a new checker's process; there are at most so many."""

    start: Callable[[], Child]
    most: int
    deaths: list[str]
    checkers: list[CheckerProcess] = field(default_factory=list)
    cpu: float = 0.0  # processor time of checkers that have ended
    _waiting: dict[int, dict[Proof, None]] = field(default_factory=dict)  # by the identity of their evidence
    _by_prop: dict[str, dict[Proof, None]] = field(default_factory=dict)  # those that wait or are being checked
    _dropped: set[str] = field(default_factory=set)  # properties whose proofs nobody needs
    _numbers: int = 0

    def begin(self, ready: Child | None) -> None:
        """Start the first checker, if none has been started already."""
        self.checkers.append(CheckerProcess(ready or self.start()))

    @property
    def are_pending(self) -> bool:
        return bool(self._waiting) or any(c.proof for c in self.checkers)

    @property
    def busy(self) -> int:
        return sum(c.at_work for c in self.checkers)

    def processor_time(self) -> float:
        return self.cpu + sum(c.child.processor_time() for c in self.checkers)

    def proofs_of(self, prop: str) -> Iterator[Proof]:
        """The proofs of this property that wait or are being checked."""
        return iter(self._by_prop.get(prop, ()))

    def slow(self, props: AbstractSet[str]) -> set[str]:
        """Those of the properties of which every proof takes long to check: longer by now than it took to find."""
        now = {id(c.proof.evidence): c.time_used for c in self.checkers if c.proof is not None}
        firsts = [(next(iter(same)), same) for same in self._waiting.values()]
        tried = [same for first, same in firsts if first.tries or id(first.evidence) in now]
        late = {
            p
            for p in (*chain.from_iterable(tried), *(c.proof for c in self.checkers if c.proof is not None))
            if p.spent + now.get(id(p.evidence), 0.0) > max(LONG, p.cost)
        }
        return {prop for prop in {p.proved.prop for p in late} & props if late.issuperset(self.proofs_of(prop))}

    def add(self, proof: Proof) -> None:
        self._wait(proof)
        self.dispatch()

    def drop(self, prop: str) -> None:
        """Forget the proofs of a property that is proved; end a check of one that lasts, or if others wait."""
        self._dropped.add(prop)
        for proof in [*self.proofs_of(prop)]:
            if proof in self._waiting.get(id(proof.evidence), ()):
                self._wait_no_more(proof)
                self._forget(proof)
        for checker in list(self.checkers):
            if checker.proof is None or checker.proof.proved.prop not in self._dropped:
                continue
            if id(checker.proof.evidence) in self._waiting:  # it is that of other properties, too
                continue
            if checker.paused or self._waiting or checker.time_used >= BUDGETS[0]:
                self._forget(checker.proof)
                self._end(checker)
        self.dispatch()

    def _wait(self, proof: Proof) -> None:
        """Let it wait, with the tries of those of the same evidence."""
        same = self._waiting.setdefault(id(proof.evidence), {})
        for first in islice(same, 1):
            proof.tries, proof.spent = max((proof.tries, proof.spent), (first.tries, first.spent))
        same[proof] = None
        self._by_prop.setdefault(proof.proved.prop, {})[proof] = None

    def _wait_no_more(self, proof: Proof) -> None:
        same = self._waiting[id(proof.evidence)]
        del same[proof]
        if not same:
            del self._waiting[id(proof.evidence)]

    def _forget(self, proof: Proof) -> None:
        others = self._by_prop.get(proof.proved.prop, {})
        others.pop(proof, None)
        if not others:
            self._by_prop.pop(proof.proved.prop, None)

    def dispatch(self) -> None:
        """Give the free checkers work, and pause the checks that are over their budgets while others wait."""
        if (
            not self._waiting
            and len(self.checkers) <= self.most
            and not any(c.paused or c.ahead for c in self.checkers)
        ):
            return  # which is most of the time
        now = time.monotonic()
        for checker in list(self.checkers):
            if checker.at_work and (checker.ahead or self._in_pause() or self._ready()):
                self._bound(checker)
        while self._begin_next(now):
            pass
        for checker in self.checkers:
            if checker.at_work and now - checker.since < SLOW:
                kept = [p for p in self._ready() if p.source is None and p.is_cheap and not p.tries]
                same = chain.from_iterable(self._waiting[id(p.evidence)] for p in kept)
                for proof in [*islice(same, MOST_AHEAD - len(checker.ahead))]:
                    self._send(checker, proof)
        for checker in [c for c in self.checkers if c.proof is None][self.most :]:  # others were paused beside them
            self._end(checker)

    def _bound(self, checker: CheckerProcess) -> None:
        """Pause the check if it is over its budget; end it if too many are paused."""
        proof = checker.proof
        assert proof is not None
        if checker.time_used < BUDGETS[proof.tries]:
            return
        proof.tries = min(proof.tries + 1, len(BUDGETS) - 1)
        if len(self._in_pause()) < MOST_PAUSED and checker.pause():
            for other in self._waiting.get(id(proof.evidence), ()):
                other.tries = proof.tries
            return
        tries, spent = proof.tries, proof.spent + checker.time_used
        self._wait(proof)
        for other in self._waiting[id(proof.evidence)]:
            other.tries, other.spent = tries, spent
        self._end(checker)

    def _in_pause(self) -> list[CheckerProcess]:
        """The paused checkers, the one that goes on first at the front."""
        paused = [(c.proof.tries, c.since, c) for c in self.checkers if c.paused and c.proof is not None]
        return [checker for _, _, checker in sorted(paused, key=lambda row: row[:2])]

    def _begin_next(self, now: float) -> bool:
        """Let a paused check go on, or send the next proof to a free checker. False if there is none, or no room."""
        ready, paused = self._ready(), self._in_pause()
        fewest = min((p.tries for p in ready), default=math.inf)
        if paused and paused[0].proof is not None and paused[0].proof.tries <= fewest:
            if not self._has_room(now):
                return False
            paused[0].go_on()
            return True
        free = self._free_checkers(now) if ready else []
        if not free:
            return False
        # what a checker has judged once costs it nothing for another property
        pairs = [((p.tries, id(p.evidence) not in c.known, p.price), c, p) for c in free for p in ready]
        _, checker, proof = min(pairs, key=lambda pair: pair[0])
        self._send(checker, proof)
        return True

    def _ready(self) -> list[Proof]:
        """A proof of each evidence that waits and is not being checked: that checker then knows it already."""
        checked = {id(c.proof.evidence) for c in self.checkers if c.proof is not None}
        return [next(iter(same)) for evidence, same in self._waiting.items() if evidence not in checked]

    def _has_room(self, now: float) -> bool:
        """True if no checker is at work, or all for long and fewer than there may be."""
        working = [c for c in self.checkers if c.at_work]
        return len(working) < self.most and all(now - c.since > SLOW for c in working)

    def _free_checkers(self, now: float) -> list[CheckerProcess]:
        if self._has_room(now) and all(c.proof is not None for c in self.checkers):
            self.checkers.append(CheckerProcess(self.start()))
        return [c for c in self.checkers if c.proof is None]

    def _send(self, checker: CheckerProcess, proof: Proof) -> None:
        self._numbers += 1
        self._wait_no_more(proof)
        if checker.proof is None:
            checker.next(proof)
        else:
            checker.ahead.append(proof)
        checker.known.add(id(proof.evidence))
        checker.child.channel.post(checker.records.record(self._numbers, proof.proved.prop, proof.evidence))

    def answers(self, checker: CheckerProcess) -> Iterator[Checked]:
        """The answers of the checker; none if another's answer has ended it. If it died, its proof cannot be checked,
        and others go on."""
        if checker not in self.checkers:
            return
        try:
            answers = [_answer_of(record) for record in checker.child.channel.available()]
        except (Ended, Forged):
            how = checker.child.end(silent=True) or "it wrote no record"
            proof = checker.proof
            if proof is not None:
                self._forget(proof)
            self._end(checker)
            self.deaths.append(f"the checker died ({how})")
            if proof is not None:
                yield Checked(proof, "the checker died", undecided=True)
            answers = []
        if answers and checker.paused:  # which came too late
            checker.go_on()
        for answer in answers:
            proof = checker.proof
            assert proof is not None
            checker.next(checker.ahead.pop(0) if checker.ahead else None)
            self._forget(proof)
            yield Checked(proof, None if answer["accepted"] else answer["why"], answer.get("undecided", False))
        self.dispatch()

    def _end(self, checker: CheckerProcess) -> None:
        self.cpu += checker.child.processor_time()
        checker.child.end()
        self.checkers.remove(checker)
        for proof in checker.ahead:
            self._wait(proof)
