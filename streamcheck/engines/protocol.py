"""The events between engines and runners.

An engine is a generator over a problem: it yields events, and before each piece of work takes what others have found
from its inbox. It uses no process, no clock and no terminal.

What may be shared: `TrueUpTo` (checked by bounded model checking from the initial states, so every engine may build
on it), and `Proved` and `Invariants` with their certificates (whose invariants hold in every state of every run that
counts, so every engine over the same system may assume them at every step, and has to carry them into its own
certificates, where they are checked). Nothing else: a hypothesis of one engine is no fact; `Guesses` are for people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from streamcheck.core.term import Term
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Unknown


@dataclass(frozen=True, slots=True)
class TrueUpTo:
    """The property holds at steps 0 … k of every run that counts."""

    prop: str
    k: int


@dataclass(frozen=True, slots=True)
class Invariants:
    """The certificate's invariants hold in every run, whatever they may be good for."""

    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Guesses:
    """Conditions that hold in random runs and are not inductive with what is known: as the invariants of a certificate
    that nobody believes."""

    certificate: Certificate


@dataclass(frozen=True, slots=True)
class Settled:
    """The property is decided; engines drop it."""

    prop: str


@dataclass(frozen=True, slots=True)
class Progress:
    """The depth that the engine works at: steps, frames or rounds, whatever it counts. It ends the engine's turn."""

    depth: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """The engine has nothing to do until a fact arrives."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The engine has nothing left to try on these properties. Sent by whoever runs it, when it returns."""

    props: tuple[str, ...]


# Reasons of engines that a property is not for, as of `Unknown`.
NO_FLOATS = "floating point is not supported"
NO_NUMBERS = "bitwuzla has no Int and Real"
BY_NAME_ONLY = "functions of math.h are known by name only"
PROGRAMS_ONLY = "it is for programs"
UNSUPPORTED = (NO_FLOATS, NO_NUMBERS, BY_NAME_ONLY, PROGRAMS_ONLY)

Fact: TypeAlias = TrueUpTo | Invariants | Proved | Falsified | Settled
Event: TypeAlias = Fact | Guesses | Progress | Waiting | Finished | Unknown
Inbox: TypeAlias = Callable[[], list[Fact]]


@dataclass(frozen=True, slots=True)
class Task:
    """A system whose properties are all `always`; names index them. `patience` limits each
    query (in units of the solver's work): if several problems share a process, none may keep the others waiting.
    `program` is the automaton that the system came from, if any: its errors have the names of the properties;
    `predicates` are the user's, over its variables."""

    system: TransitionSystem
    patience: int | None = None
    program: Automaton | None = None
    predicates: tuple[Term, ...] = ()


class Engine(Protocol):
    @property
    def name(self) -> str: ...

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]: ...
