"""The workers of a run: which engines they run, over which integer model, and when they start.

Most properties fall to bounded model checking and induction within milliseconds, so one worker tries these in turns and
alone at first. Properties that are still open get further workers, the most promising engine first: easy properties
finish before the heavy engines start, hard ones get all of them.

At most as many workers run as there are processors; the others are paused. A worker has the processor time it has used,
times its price, and the time of its lane, which those before it have first: those that have least run. So a machine
with other work changes when something is found, but hardly what, and on many processors all start almost at once.

The times and the order are in the engines' rows (`run.registry`).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamcheck.core.term import walk
from streamcheck.run.registry import ENGINES, Start, entry_of
from streamcheck.transform.reduce import clusters
from streamcheck.transform.views import IntegerModel

if TYPE_CHECKING:
    from streamcheck.transform.views import View

QUICK = 0.15  # seconds for the first worker alone
SLICE = 0.1  # seconds of processor time that a worker may be ahead of one that waits
AUXILIARY_PRICE = 4  # of the processor time of engines that mostly help others, and of z3 at floats
STUCK = 4.0  # seconds of processor time without a word after which the first worker's engines get workers of their own
FIRST = ("bmc", "k-induction", "completeness")


@dataclass(frozen=True, slots=True)
class Lane:
    """The engines of one worker, and the processor time that workers before it have first."""

    engines: tuple[str, ...]
    model: IntegerModel
    after: float = 0.0
    floats: bool = False  # its properties speak of floats, of which z3 rarely decides one that bitwuzla does not

    @property
    def title(self) -> str:
        return f"{'+'.join(self.engines)} ({self.model})"

    @property
    def price(self) -> int:
        """The weight of its processor time when workers wait for a processor."""
        rows = [ENGINES[name] for name in self.engines]
        if self.floats and all(row.family == "z3" for row in rows):
            return AUXILIARY_PRICE
        return AUXILIARY_PRICE if all(row.auxiliary for row in rows) else 1


def check_names(names: Sequence[str]) -> None:
    for name in names:
        entry_of(name)


def work_counter() -> Callable[[], int]:
    """The function that counts the work of this process's solvers. Imported here, in a worker, like the engines."""
    counter: Callable[[], int] = importlib.import_module("streamcheck.smt.solver").work_done
    return counter


def plan(models: Sequence[View], jobs: int, chosen: Sequence[str], *, deterministic: bool) -> list[Lane]:
    """The workers of a run, in the order they start. In turns, all engines share one worker: their facts and answers
    then depend on nothing but the problem."""
    first, program = models[0].model, models[0].automaton is not None
    if deterministic or (jobs == 1 and not chosen):
        return [Lane(tuple(_with_needs(chosen or in_turns(program=program))), first)]
    if chosen:
        return [Lane(tuple(_with_needs([name])), m.model) for m in models for name in chosen]
    return _portfolio(models, program=program)


def in_turns(*, program: bool) -> tuple[str, ...]:
    """The engines of a run in which all share one worker."""
    rows = [row for row in ENGINES.values() if row.head_start is not None]
    return tuple(row.name for row in rows if program or row.spec is not None)


def _portfolio(models: Sequence[View], *, program: bool) -> list[Lane]:
    """Every worker."""
    first, others = models[0].model, [m.model for m in models[1:]]
    definitions = len(models[0].system.definitions)
    starts: dict[str, Start] = {}
    for row in ENGINES.values():
        start = row.program if program else row.spec
        if start is not None and definitions >= start.definitions:
            starts[row.name] = start
    lanes = []
    for name, start in starts.items():
        if not start.beside:
            beside = {other: s for other, s in starts.items() if s.beside == name}
            if start.bits:
                lanes += _lanes_on_bits((name, *beside), start, models)
                continue
            lanes.append(Lane((name, *beside), first, start.after))
            if start.other is not None:
                engines = (name, *(n for n, s in beside.items() if s.other is not None))
                lanes += [Lane(engines, model, start.other) for model in others]
    return sorted(lanes, key=lambda lane: lane.after)


def _lanes_on_bits(engines: tuple[str, ...], start: Start, models: Sequence[View]) -> list[Lane]:
    """A lane over each model in which some properties depend on floats or machine integers (or on Bools alone, if the
    engine is for them too), but on no Int or Real."""
    lanes = []
    for model in models:
        kinds = [{node.type.kind for node in walk(part.roots())} for part in clusters(model.system)]
        fitting = [k for k in kinds if k.isdisjoint({"integer", "real"}) and (start.bools or k != {"bool"})]
        if fitting:
            after = start.floats if any("float" in k for k in fitting) else start.after
            lanes.append(Lane(engines, model.model, after))
    return lanes


def apart(lane: Lane) -> list[Lane]:
    """The engines of a worker in workers of their own: if one hangs, the others go on."""
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
    return list(dict.fromkeys(n for name in names for n in (*ENGINES[name].needs, name)))


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
