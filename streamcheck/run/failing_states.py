"""States from which properties fail, sought beside the engines by a process of low priority, so that the end of the
time need not suffice for it. It begins when properties are still open after half of the time: a proof of five
properties of floats took twice as long beside it.

For each property, bounded model checking of the specification that begins anywhere (`transform.induction`), with ever
more patience: first all that are easy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from types import TracebackType
from typing import TYPE_CHECKING

from streamcheck.core.term import Term
from streamcheck.engines.protocol import Task, TrueUpTo
from streamcheck.problem.certificate_json import trace_from_plain, trace_to_plain
from streamcheck.problem.problem import claim_named
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Falsified, Proved, Trace, Unknown, Unmappable
from streamcheck.run.child import Channel, Child, Ended, Forged
from streamcheck.run.kept import replay_of
from streamcheck.run.registry import build
from streamcheck.run.simplest import simplest_run
from streamcheck.transform.induction import with_any_start
from streamcheck.transform.views import View, views

if TYPE_CHECKING:
    from streamcheck.run.director import Director

SHARE = 0.5  # of the time, after which it begins: proofs that come before do not share their processors with it
PATIENCE = (20_000, 200_000, 2_000_000, 20_000_000)  # of the solver: some hundredths of a second, and more
NICENESS, LATER_NICENESS = 5, 10  # until all have been asked about once, and what is added then
ENGINES = ("bit-bmc", "bmc")  # the first for bit-vectors alone


@dataclass(slots=True)
class FailingStates:
    """The search. Use as a context manager; call `look` while the engines work."""

    specification: Specification | None  # None: nothing is sought
    seconds: float  # that the engines have
    found: dict[str, Trace] = field(
        default_factory=dict
    )  # by property, a run of the specification that begins anywhere
    steady: set[str] = field(default_factory=set)  # properties that every step keeps
    seconds_spent: float = 0.0
    _known: list[Term] = field(default_factory=list)
    _child: Child | None = None
    _began: float = 0.0
    _is_over: bool = False

    def __enter__(self) -> FailingStates:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._end()

    def look(self, director: Director) -> None:
        """Begin if it is time, and take what has been found."""
        is_time = director.elapsed >= SHARE * self.seconds
        if self.specification is not None and self._child is None and not self._is_over and is_time:
            self._begin(director, self.specification)
        if self._child is None:
            return
        try:
            records = [(str(name), row) for name, row in self._child.channel.available()]
        except (Ended, Forged, TypeError, ValueError):
            self._end()
            return
        for name, row in records:
            if row is None:
                self.steady.add(name)
            else:
                types = {str(v.payload): v.type for v in self._anywhere(name).variables()}
                self.found[name] = trace_from_plain(row, types)

    def run_of(self, name: str, work: int) -> Replay | None:
        """The run on which the property fails at the last step, replayed, with values as simple as so much work makes
        them. None if there is none."""
        if name not in self.found:
            return None
        anywhere = self._anywhere(name)
        claim = claim_named(anywhere, name)
        shown = replay_of(anywhere, claim, self.found[name])
        if not isinstance(shown, Replay):
            return None
        simpler = simplest_run(anywhere, claim, shown, shorten=False, work=work) if work else None
        return shown if simpler is None else simpler[1]

    def _anywhere(self, name: str) -> Specification:
        assert self.specification is not None
        return with_any_start(self.specification, [name], 1, self._known)

    def _begin(self, director: Director, specification: Specification) -> None:
        claims = {p.name: p for p in specification.properties}
        proved = (name for name, d in director.decisions.items() if d.verdict == "proved" and name in claims)
        self._known = [claims[name].invariant for name in proved]
        names = [name for name in director.open_properties() if name in claims]

        def search(channel: Channel) -> None:
            os.nice(NICENESS)
            for name, trace in _failures({name: self._anywhere(name) for name in names}):
                channel.send([name, None if trace is None else trace_to_plain(trace)])

        if names:
            self._began = time.monotonic()
            self._child = Child(search)

    def _end(self) -> None:
        if self._child is not None:
            self.seconds_spent = time.monotonic() - self._began
            self._child.end()
        self._child, self._is_over = None, True


def _failures(problems: dict[str, Specification]) -> Iterator[tuple[str, Trace | None]]:
    """By name, a run that breaks the problem's one property, or None if there is none of two steps: those first that
    need least patience."""
    models: dict[str, list[View]] = {}
    left = list(problems)
    for patience, engine in product(PATIENCE, ENGINES):
        for name in list(left):
            models[name] = models.get(name) or views(problems[name])
            answer = _answer(engine, models[name], patience)
            if answer is not None:
                left.remove(name)
                yield name, answer if isinstance(answer, Trace) else None
        if not left:
            return
        if (patience, engine) == (PATIENCE[0], ENGINES[-1]):
            os.nice(LATER_NICENESS)


def _answer(engine: str, models: Iterable[View], patience: int) -> Trace | bool | None:
    """A run that breaks the property, True if none of two steps does, None if the engine does not know."""
    for view in models:
        if engine == "bit-bmc" and view.model != "bits":
            continue
        (running,) = build((engine,))
        for event in running.run(Task(view.system, patience=patience), list):
            if isinstance(event, Falsified):
                run = _run_of_problem(view, event)
                if run is not None:
                    return run
            if isinstance(event, Proved) or (isinstance(event, TrueUpTo) and event.k >= 1):
                return True
            if isinstance(event, Unknown):
                break
    return None


def _run_of_problem(view: View, falsified: Falsified) -> Trace | None:
    """The violation as one of the problem itself."""
    try:
        evidence = view.back(falsified.trace)
    except Unmappable:
        return None
    return evidence if isinstance(evidence, Trace) else None
