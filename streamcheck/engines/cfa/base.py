"""The base of the engines for programs: claims of the transition system become automata with one error, and the
engines' answers become certificates and traces of the system.

An engine answers with an invariant for each location, or with the edges of a path from entry to error. Neither is
trusted: the invariants become one, `at l ⇒ invariant of l` for every l, which is checked like any other; and the path
becomes a run by a model of its formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from itertools import groupby
from typing import ClassVar, Literal, TypeAlias, assert_never

from streamcheck.core.simplify import conjunction, implication, negation, simplify
from streamcheck.core.term import TRUE, Term, substitute, variable
from streamcheck.core.types import Value
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.protocol import PROGRAMS_ONLY, Event, Inbox, Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Certificate, EdgePath, Falsified, Proved, Trace, Unknown
from streamcheck.smt.solver import Solver
from streamcheck.transform.automaton_system import selectors_of
from streamcheck.transform.slicing import read_by


@dataclass(frozen=True, slots=True)
class Safe:
    """An invariant for each location; a location without one is never reached."""

    invariants: Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Unsafe:
    """A feasible path from the entry to the error."""

    path: Sequence[Edge]


@dataclass(frozen=True, slots=True)
class Violated:
    """A run that reaches the error, along edges of the whole automaton by their numbers there."""

    path: EdgePath


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No path of so many edges has an execution: none from the entry (forward), or none to the error (backward), and no
    shorter one leads from the one to the other."""

    direction: Literal["forward", "backward"]
    length: int


@dataclass(frozen=True, slots=True)
class Unwound:
    """No path leads to the error, and none comes to locations where it was before so many times."""

    rounds: int


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """The search ended without an answer, for this reason."""

    reason: str


Answer: TypeAlias = Safe | Unsafe | Violated | Exhausted | Unwound | Inconclusive


class ProgramEngine(ABC):
    """Subclasses search an automaton with one error: `whole`, or only the locations from which it can be reached."""

    name: ClassVar[str]
    whole: ClassVar[bool] = False

    @abstractmethod
    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        """Search, and yield the depth now and then, so that others have their turn."""

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        """The claims in turns, each with a search of its own: a hard one does not keep the others waiting."""
        searches: dict[str, tuple[Claim, Automaton, Generator[Progress, None, Answer]]] = {}
        for claim in problem.system.properties:
            if claim.term is TRUE:  # the program never moves, and begins elsewhere
                yield Proved(claim.name, Certificate("inductive", 1, (TRUE,)))
                continue
            program = restrict(problem, [claim], whole=self.whole)
            if program is None:
                yield Unknown(claim.name, PROGRAMS_ONLY)
            else:
                searches[claim.name] = claim, program, copy(self).search(program, problem)
        while searches:
            for name, (claim, program, search) in list(searches.items()):
                if name not in searches:
                    continue
                try:
                    yield next(search)
                except StopIteration as end:
                    del searches[name]
                    yield event_of(problem, program, claim, end.value)
                for prop in decided_properties(inbox()):
                    searches.pop(prop, None)


def restrict(problem: Task, claims: Sequence[Claim], *, whole: bool) -> Automaton | None:
    """The automaton with the errors of these claims, and the variables that its guards depend on. None if the system
    does not stand for one. (The reduced system may have fewer variables: what a guard decides may make no
    difference.)"""
    program = problem.program
    if program is None or program.place not in {s.var for s in problem.system.state}:
        return None
    names = {claim.name for claim in claims}
    errors = tuple(e for e in program.errors if e.name in names)
    if len(errors) != len(names):
        return None
    useful = set(program.locations) if whole else program.leading_to([e.location for e in errors]) | {program.entry}
    edges = [e for e in program.edges if e.source in useful and e.target in useful]
    kept = read_by(edges)
    edges = [_without(e, kept) for e in edges]
    return Restricted(
        program.name,
        tuple(v for v in program.variables if v in kept),
        tuple(name for name in program.locations if name in useful),
        program.entry,
        errors,
        tuple(edges),
        program.lines,
        program.loops,
        origin=program,
    )


@dataclass(frozen=True)
class Restricted(Automaton):
    """A part of an automaton; its locations have the numbers that they have there."""

    origin: Automaton | None = None

    @property
    def place(self) -> Term:
        assert self.origin is not None
        return self.origin.place

    def code(self, location: str) -> Term:
        assert self.origin is not None
        return self.origin.code(location)


def not_excluded(path: Sequence[Edge]) -> str:
    """The reason for no answer when nothing is refined: the abstract path that stands, by its lines if it has any."""
    lines = [edge.where.line for edge in path if edge.where is not None]
    shown = f"lines {', '.join(str(line) for line, _ in groupby(lines))}"
    if not lines:
        shown = " → ".join([path[0].source, *(edge.target for edge in path)])
    return f"the predicates do not exclude the path along {shown}, which no run takes"


def _without(edge: Edge, kept: set[Term]) -> Edge:
    return replace(edge, updates=tuple((v, t) for v, t in edge.updates if v in kept))


def event_of(problem: Task, program: Automaton, claim: Claim, answer: Answer) -> Event:
    match answer:
        case Safe(invariants):
            return Proved(
                claim.name, Certificate("inductive", 1, (claim.term, *invariants_by_location(program, invariants)))
            )
        case Unsafe(path):
            trace = trace_of(problem, program, path)
            return Unknown(claim.name, "its path has no run") if trace is None else Falsified(claim.name, trace)
        case Violated(run):
            return Falsified(claim.name, run)
        case Exhausted(direction, length):  # of different states, since the system may stand still between two edges
            kind: Literal["complete", "compressed"] = "complete" if direction == "forward" else "compressed"
            return Proved(claim.name, Certificate(kind, max(length, 1), (claim.term,)))
        case Unwound(rounds):
            return Proved(claim.name, Certificate("unwound", rounds, ()))
        case Inconclusive(reason):
            return Unknown(claim.name, reason)
    assert_never(answer)


def invariants_by_location(program: Automaton, invariants: Mapping[str, Term]) -> Iterator[Term]:
    """`at l => invariant` for each location; the program is at none of the others (the error among them)."""
    never = [name for name in program.locations if name not in invariants]
    yield conjunction(*(negation(program.at(name)) for name in never))
    for name, invariant in invariants.items():
        yield implication(program.at(name), invariant)


class SymbolicPath:
    """A path followed symbolically: the variables after each edge as terms over the values at the beginning and over
    copies of the choices, so that a variable that does not change costs nothing [Penelle, section 4.2.2]."""

    def __init__(self, program: Automaton) -> None:
        self.frames: list[dict[Term, Term]] = [{v: v for v in program.variables}]
        self.guards: list[Term] = []
        self.chosen: list[dict[Term, Term]] = []

    def follow(self, edge: Edge) -> Term:
        """Add the edge to the path; its guard, over the values at the beginning."""
        step = len(self.guards)
        chosen = {c: variable(f"{c.payload}@{step}", c.type) for c in edge.choices}
        before = {**self.frames[-1], **chosen}
        images = substitute([*edge.roots()], before)
        simple = simplify(images.values())
        guard = simple[images[edge.guard]]
        self.guards.append(guard)
        self.chosen.append(chosen)
        self.frames.append({**self.frames[-1], **{v: simple[images[new]] for v, new in edge.updates}})
        return guard

    def back(self) -> None:
        """Remove the last edge."""
        for record in (self.frames, self.guards, self.chosen):
            record.pop()


def trace_of(problem: Task, program: Automaton, path: Sequence[Edge]) -> Trace | None:
    """A run of the transition system along the program's path. None if the path is infeasible."""
    whole, kept = problem.program, set(program.variables)
    assert whole is not None
    followed, solver = SymbolicPath(whole), Solver()
    for edge in path:
        solver.add(followed.follow(edge))
    if solver.check() is not True:
        return None
    model = solver.model()
    selectors = selectors_of(whole)
    steps: list[dict[str, Value]] = []
    for edge, chosen in zip(path, followed.chosen, strict=True):
        inputs = {c.payload: model[copy] for c, copy in chosen.items()}
        place = [_without(e, kept) for e in whole.edges_from[edge.source]].index(edge)
        inputs |= {s.payload: i == place for i, s in enumerate(selectors[edge.source])}
        steps.append(inputs)
    return Trace({v.payload: model[v] for v in whole.variables}, (*steps, {}))
