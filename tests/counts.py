"""Counts of what engines do, for tests and benchmarks: the same on every machine, unlike times."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from streamcheck.engines.cfa.located_predicates import LocatedPredicates
from streamcheck.engines.cfa.predicate_reach import PredicateReach
from streamcheck.engines.ic3.frames import Frames
from streamcheck.engines.ic3.implicit_abstraction import Predicates
from streamcheck.engines.protocol import Falsified, Progress, Proved, Task
from streamcheck.engines.structural import Structural
from streamcheck.run.registry import build, options_from
from streamcheck.run.workers import Turns
from streamcheck.smt.bit_solver import BitSolver
from streamcheck.smt.solver import Solver
from streamcheck.smt.work import work_done


@dataclass
class Counts:
    frames: int = 0
    queries: int = 0
    lemmas: int = 0
    predicates: int = 0
    refinements: int = 0
    solvers: int = 0
    work: int = 0  # of z3

    def as_dict(self) -> dict[str, int]:
        return asdict(self)


@contextlib.contextmanager
def counting() -> Iterator[Counts]:
    """The counts of every engine that runs meanwhile, in this process."""
    counts, undo = Counts(), []

    def watch(owner: type, name: str, tell: Any) -> None:
        original = getattr(owner, name)

        def wrapper(self: Any, *args: Any, **options: Any) -> Any:
            result = original(self, *args, **options)
            tell(self)
            return result

        undo.append((owner, name, original))
        setattr(owner, name, wrapper)

    def query(_: Any) -> None:
        counts.queries += 1

    def made(_: Any) -> None:
        counts.solvers += 1

    def lemma(_: Any) -> None:
        counts.lemmas += 1

    def refined(engine: Any) -> None:
        counts.refinements += 1
        counts.predicates = max(counts.predicates, _size(getattr(engine, "predicates", ())))

    watch(Solver, "check", query)
    watch(BitSolver, "check", query)
    watch(Solver, "__init__", made)
    watch(Frames, "add", lemma)
    watch(Predicates, "_learn", refined)
    watch(LocatedPredicates, "_add", refined)
    watch(PredicateReach, "_learn", refined)
    watch(Structural, "_refine", refined)
    began = work_done()
    try:
        yield counts
    finally:
        counts.work = work_done() - began
        for owner, name, original in undo:
            setattr(owner, name, original)


def _size(predicates: Any) -> int:
    return len(predicates)


def decide(view: Any, engines: tuple[str, ...], rounds: int = 400, **options: Any) -> tuple[dict[str, Any], Counts]:
    """The verdicts on a view's properties, and what it took. The options are those of the last engine."""
    found: dict[str, Any] = {}
    settings = {f"{engines[-1]}.{name.replace('_', '-')}": value for name, value in options.items()}
    with counting() as counts:

        def tell(_: str, event: Any) -> None:
            if isinstance(event, Progress):
                counts.frames = max(counts.frames, event.depth)
            if isinstance(event, Proved | Falsified):
                found.setdefault(event.prop, event)

        problem = Task(view.system, program=view.automaton, predicates=view.predicates)
        turns = Turns(lambda: build(engines, options_from(settings)), problem)
        for _ in range(rounds):
            if len(found) == len(view.system.properties) or turns.round(tell) or not turns.running:
                break
    return found, counts
