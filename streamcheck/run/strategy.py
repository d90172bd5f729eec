"""Which engines run where, and when.

Most properties fall to bounded model checking and induction within milliseconds, so one worker tries these in turns and
alone at first. What it leaves gets more workers one after another, the most promising first, each at its time: on two
processors an easy property never pays for a heavy engine, on many all start almost at once. What each is there for:

    ic3                     most of what induction cannot do, and deep violations
    spacer                  invariants over sums of counters
    simulation              timers, and all that breaks late by doing little
    the other integer model a few per cent that only bit-vectors decide
    templates, polynomial   lemmas for the others: relations between counters, sums in closed form
    structural              systems with much that does not matter
    predicates              what needs few conditions of many numbers
    predicate-reach, lifted-pdr    programs: few conditions for each location

Measured on the field's benchmarks (`tests/bench/engines.py`); the README has the table.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamcheck.core.errors import SpecError
from streamcheck.core.term import walk
from streamcheck.engines.protocol import Engine
from streamcheck.transform.reduce import clusters
from streamcheck.transform.views import Model

if TYPE_CHECKING:
    from streamcheck.transform.views import View

QUICK = 0.15  # seconds for the first worker alone
STUCK = 1.0  # seconds of silence after which the first worker's engines get workers of their own
PLANNED_FOR = 2  # processors that the starting times below are meant for; more shorten them
HELP = 2.0  # seconds after which what mostly helps others steps back behind them
HELPERS = {"simulation", "templates", "polynomial", "structural", "predicates"}
MANY_DEFINITIONS = 8  # from here on, leaving definitions out may pay
FIRST = ("bmc", "k-induction", "completeness")
# What heavy engines count as done where they share a worker: their turn comes when the light ones have had theirs.
LATER = {"ic3": 300_000, "templates": 5_000_000, "spacer": 10_000_000, "polynomial": 15_000_000}
LATER |= {"simulation": 2_000_000, "structural": 5_000_000, "predicates": 30_000_000}
LATER |= {"predicate-reach": 10_000_000, "lifted-pdr": 20_000_000}
IN_TURNS = (*FIRST, "ic3", "simulation", "templates", "polynomial", "spacer", "structural", "predicates")
FOR_PROGRAMS = ("predicate-reach", "lifted-pdr")

# engine: where it lives, and the engines it needs beside it (the base case of induction is bounded model checking)
ENGINES = {
    "bmc": ("streamcheck.engines.bmc", "Bmc", ()),
    "k-induction": ("streamcheck.engines.kinduction", "KInduction", ("bmc",)),
    "structural": ("streamcheck.engines.structural", "Structural", ()),
    "ic3": ("streamcheck.engines.ic3.cooper_ic3", "Ic3", ()),
    "predicates": ("streamcheck.engines.ic3.implicit_abstraction", "Predicates", ()),
    "predicates-path": ("streamcheck.engines.ic3.implicit_abstraction", "PredicatesPath", ()),
    "spacer": ("streamcheck.engines.spacer", "Spacer", ()),
    "spacer-local": ("streamcheck.engines.spacer", "SpacerLocal", ()),
    "templates": ("streamcheck.invariants.templates", "Templates", ()),
    "polynomial": ("streamcheck.invariants.polynomial", "Polynomial", ()),
    "predicate-reach": ("streamcheck.engines.cfa.predicate_reach", "PredicateReach", ()),
    "concrete-reach": ("streamcheck.engines.cfa.concrete_reach", "ConcreteReach", ()),
    "simulation": ("streamcheck.engines.simulation", "Simulation", ()),
    "completeness": ("streamcheck.engines.completeness", "Completeness", ("bmc",)),
    "pdr-bits": ("streamcheck.engines.bit_pdr", "BitPdr", ()),
    "dfs-bmc": ("streamcheck.engines.cfa.dfs_bmc", "DfsBmc", ()),
    "dfs-bmc-backward": ("streamcheck.engines.cfa.dfs_bmc", "DfsBmcBackward", ()),
    "global-bmc": ("streamcheck.engines.cfa.global_bmc", "GlobalBmc", ()),
    "global-bmc-backward": ("streamcheck.engines.cfa.global_bmc", "GlobalBmcBackward", ()),
    "lifted-pdr": ("streamcheck.engines.cfa.lifted_pdr", "LiftedPdr", ()),
}


@dataclass(frozen=True, slots=True)
class Lane:
    """What one worker runs, and the second it starts at."""

    engines: tuple[str, ...]
    model: Model
    after: float = 0.0

    @property
    def title(self) -> str:
        return f"{'+'.join(self.engines)} ({self.model})"


def check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in ENGINES:
            raise SpecError(f"there is no engine {name}; there are {', '.join(ENGINES)}")


def build(names: Sequence[str]) -> list[Engine]:
    """Engines by name. Imported here, in a worker: the command itself never loads a solver."""
    built: list[Engine] = []
    for name in names:
        module, class_name, _ = ENGINES[name]
        built.append(getattr(importlib.import_module(module), class_name)())
    return built


def work_counter() -> Callable[[], int]:
    """How much the solvers of this process have worked so far. Imported here, in a worker, like the engines."""
    counter: Callable[[], int] = importlib.import_module("streamcheck.smt.solver").work_done
    return counter


def plan(models: Sequence[View], jobs: int, chosen: Sequence[str], *, deterministic: bool) -> list[Lane]:
    """The workers of a run, in the order they start. In turns, all engines share one worker: what each says and hears
    then depends on nothing but the problem."""
    first, others = models[0].model, [m.model for m in models[1:]]
    program = models[0].automaton is not None
    if deterministic or (jobs == 1 and not chosen):
        return [Lane(tuple(_with_needs(chosen or (*IN_TURNS, *(FOR_PROGRAMS if program else ())))), first)]
    if chosen:
        return [Lane(tuple(_with_needs([name])), m.model) for m in models for name in chosen]
    wanted = _for_program(first, others) if program else _for_spec(models[0], first, others)
    sooner = min(1.0, PLANNED_FOR / jobs)
    return [Lane(FIRST, first), *(Lane(w.engines, w.model, max(QUICK, w.after * sooner)) for w in wanted)]


def _for_spec(model: View, first: Model, others: Sequence[Model]) -> list[Lane]:
    many = len(model.system.definitions) >= MANY_DEFINITIONS
    return [
        Lane(("ic3",), first, QUICK),
        Lane(("spacer",), first, 0.5),
        Lane(("simulation",), first, 1.2),
        *(Lane(FIRST, other, 1.5) for other in others),
        Lane(("spacer-local",), first, 1.5),
        Lane(("templates", "polynomial"), first, 2.0),
        *([Lane(("structural",), first, 2.5)] if many else []),
        *(Lane((name,), other, 3.0) for other in others for name in ("spacer", "ic3")),
        Lane(("predicates",), first, 6.0),
    ]


def _for_program(first: Model, others: Sequence[Model]) -> list[Lane]:
    """Loops keep relations between counters, which templates find at once."""
    return [
        Lane(("templates",), first, QUICK),
        Lane(("ic3",), first, 2 * QUICK),
        Lane(("spacer",), first, 0.6),
        Lane(("simulation",), first, 1.2),
        *(Lane(FIRST, other, 1.5) for other in others),
        Lane(("predicate-reach", "polynomial"), first, 2.0),
        Lane(("lifted-pdr",), first, 3.0),
        *(Lane((name,), other, 4.0) for other in others for name in ("spacer", "lifted-pdr", "predicate-reach")),
        Lane(("spacer-local",), first, 5.0),
        Lane(("predicates",), first, 6.0),
    ]


def apart(lane: Lane) -> list[Lane]:
    """The engines of a worker in workers of their own: where one hangs, the others go on."""
    return [Lane(("k-induction",), lane.model), Lane(("bmc", "completeness"), lane.model)]


def groups(model: View) -> list[set[str]]:
    """The claims that speak of floats, and the others: solvers are at times very slow on floats, and what does not
    depend on them must not wait."""
    apart: dict[bool, set[str]] = {}
    for part in clusters(model.system):
        floats = any(node.type.kind == "float" for node in walk(part.roots()))
        apart.setdefault(floats, set()).update(p.name for p in part.properties)
    return [apart[key] for key in sorted(apart)]


def _with_needs(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(n for name in names for n in (*ENGINES[name][2], name)))


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
