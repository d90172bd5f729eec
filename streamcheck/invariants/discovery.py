"""The loop of the engines that look for invariants: candidates in stages, filtered by induction.

The properties themselves are candidates at every stage: one that remains is proved. Invariants of other engines join
the candidates, so that they stand in the same certificate.

A program's states are looked at location by location, since what holds at a loop may not hold before it. A lasting
premise of the properties is assumed (`transform.premise`): of what happens without it, nothing is asked.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, assert_never

from streamcheck.core.python import PythonWriter
from streamcheck.core.simplify import implication
from streamcheck.core.term import TRUE, Term, constant, term, variables, walk
from streamcheck.core.types import Value, plural
from streamcheck.engines.protocol import Event, Guesses, Inbox, Invariants, Progress, Settled, Task, TrueUpTo
from streamcheck.engines.random_runs import Simulator
from streamcheck.invariants.houdini import GaveUp, Houdini
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Falsified, Proved, Unknown
from streamcheck.transform.premise import Premise

LOG = logging.getLogger(__name__)
MOST_CANDIDATES = 1_500  # per stage
SMALL, MOST_TOLD = 12, 200  # nodes of a candidate that people are told of, and such candidates per stage


class Columns:
    """The states that were met, by variable; the values of terms in them."""

    def __init__(self, of: dict[Term, list[Value]]) -> None:
        self.of = of

    def holds(self, node: Term) -> list[Value]:
        if node not in self.of:
            self.of[node] = _values_of(node, self.of)
        return self.of[node]

    def numbers(self, var: Term) -> list[int | Fraction]:
        return self.of[var]  # type: ignore[return-value]


class Discovery(ABC):
    """An engine that proposes invariants; subclasses have the candidates."""

    name: ClassVar[str]
    patience: ClassVar[int | None] = None  # with queries, if not the problem's

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        # A test for vacuity has no premise, and would hide the one that all others have.
        asked = tuple(p for p in problem.system.properties if not p.is_vacuity_test)
        self.premise = Premise(replace(problem.system, properties=asked or problem.system.properties))
        self.system = self.premise.problem
        self.claims: dict[str, Claim] = {p.name: p for p in self.system.properties}
        self.houdini = Houdini(self.system, self.patience or problem.patience)
        self.shown: list[Term] = []
        self.dropped: dict[Term, None] = {}  # candidates that did not stand with those of their stage
        early = self._read(inbox)
        states = Simulator(self.system).states() if self.claims else []
        if not states:
            return
        self.columns = Columns({s.var: [row[i] for row in states] for i, s in enumerate(self.system.state)})
        self.regions = self._regions(problem.program)
        yield Progress(0)
        left_open: str | None = None
        for number, candidates in enumerate(self.stages()):
            shared, early = [*early, *self._read(inbox)], []
            if not self.claims:
                return
            try:
                yield from self._filter([*shared, *candidates][:MOST_CANDIDATES])
            except GaveUp as gave_up:  # the next stage may be easier
                left_open = str(gave_up)
            yield Progress(number + 1)
        if left_open is not None:
            yield from (Unknown(name, left_open) for name in self.claims)

    def _regions(self, program: Automaton | None) -> list[tuple[Term, Columns]]:
        """Conditions, and the states that meet them: one for each location of a program, else one for all."""
        self.place = None if program is None else program.place
        if self.place is None or self.place not in self.columns.of:
            return [(TRUE, self.columns)]
        column = self.columns.of[self.place]
        conditions = []
        for code in dict.fromkeys(column):
            rows = [i for i, value in enumerate(column) if value == code]
            part = Columns({v: [values[i] for i in rows] for v, values in self.columns.of.items()})
            conditions.append((term("eq", self.place, constant(self.place.type, code)), part))
        return conditions

    def everywhere(self, candidates: Callable[[], Iterable[Term]]) -> Iterator[Term]:
        """The candidates of each region, under its condition."""
        for condition, columns in self.regions:
            self.columns = columns
            yield from (implication(condition, c) for c in candidates())

    def survivors(self, candidates: list[Term]) -> list[Term]:
        return self.houdini.inductive(candidates)

    @abstractmethod
    def stages(self) -> Iterator[Iterable[Term]]:
        """Candidates, the most useful first."""

    def _read(self, inbox: Inbox) -> list[Term]:
        """Candidates from what others have shown."""
        known = {*(s.var for s in self.system.state), *self.system.inputs}
        shared: list[Term] = []
        for fact in inbox():
            match fact:
                case Proved(prop) | Falsified(prop) | Settled(prop):
                    self.claims.pop(prop, None)
                case Invariants(certificate):
                    if known.issuperset(variables(certificate.invariants)):
                        shared += certificate.invariants
                case TrueUpTo():
                    pass
                case _:
                    assert_never(fact)
        return shared

    def _filter(self, candidates: list[Term]) -> Iterator[Event]:
        goals = {name: c.term for name, c in self.claims.items()}
        alive = self.survivors([*self.shown, *candidates, *goals.values()])
        own = {*goals.values()}
        present = {*alive}
        dropped = [c for c in candidates if c not in present and c not in self.dropped]
        self.dropped |= dict.fromkeys(dropped)
        if small := [c for c in dropped if sum(1 for _ in walk([c])) <= SMALL][:MOST_TOLD]:
            yield Guesses(self.premise.inductive(1, small))
        known = {*self.shown}
        self.shown = [c for c in alive if c not in own]
        tested, invariants = plural(len(candidates), "candidate"), plural(len(self.shown), "invariant")
        LOG.info("%s: %s tested, %s in all", self.name, tested, invariants)
        proved = {name: [goal] for name, goal in goals.items() if goal in present}
        for names, needed in self.houdini.parts_with(proved, alive):
            certificate = self.premise.inductive(1, needed)
            for name in names:
                yield Proved(name, certificate)
                del self.claims[name]
        if any(c not in known for c in self.shown):
            yield Invariants(self.premise.inductive(1, self.shown))


def _values_of(node: Term, columns: dict[Term, list[Value]]) -> list[Value]:
    """The values of a term in every state."""
    writer = PythonWriter([node], {})
    used = variables([node])
    for i, var in enumerate(used):
        writer.name(var, f"v{i}")
    text = writer.expression(node)
    body = [*writer.lines, f"return {text}"]
    exec("\n    ".join([f"def value({', '.join(f'v{i}' for i in range(len(used)))}):", *body]), writer.namespace)
    value: Callable[..., Value] = writer.namespace["value"]
    return [value(*row) for row in zip(*(columns[v] for v in used), strict=True)]
