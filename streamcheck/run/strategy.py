"""The workers of a run: which engines they run, over which integer model, and when they start.

Most properties fall to bounded model checking and induction within milliseconds, so one worker tries these in turns and
alone at first. Properties that are still open get further workers, the most promising engine first: easy properties
finish before the heavy engines start, hard ones get all of them.

At most as many workers run as there are processors; the others are paused. A worker has the processor time it has used,
times its price, and the time of its lane, which those before it have first: those that have least run. So a machine
with other work changes when something is found, but hardly what, and on many processors all start almost at once.

The times and the order are in the engines' rows (`run.registry`); simple features of the properties at hand move some
of them (`run.features`).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamcheck.core.term import walk
from streamcheck.problem.claim import Compared
from streamcheck.run.features import features_of, starts_with
from streamcheck.run.registry import ENGINES, Start, entry_of
from streamcheck.transform.reduce import clusters
from streamcheck.transform.views import IntegerModel

if TYPE_CHECKING:
    from streamcheck.problem.transition import TransitionSystem
    from streamcheck.transform.views import View

QUICK = 0.15  # seconds of processor time for the first worker alone, and for all since the last proof
SLICE = 0.1  # seconds of processor time that a worker may be ahead of one that waits
AUXILIARY_PRICE = 4  # of the processor time of engines that mostly help others, and of z3 at floats
STUCK = 4.0  # seconds of processor time without a word after which the first worker's engines get workers of their own
FIRST = ("bmc", "k-induction", "completeness")
ALONE = ("bmc",)  # leaves the first worker when that has had a while
ON_BITS = ("bit-bmc", "bit-induction")
INDUCTION = ("k-induction", "completeness")  # what stays
LATER = 3.0  # the time that engines which look for no equal state start later if two specifications are compared
SPLIT = 0.2  # seconds of processor time for the first worker before


@dataclass(frozen=True, slots=True)
class Portion:
    """Properties that share their workers. What depends on their terms is found when it is first asked for."""

    claims: frozenset[str]
    views: tuple[View, ...]  # whose models can express them, the better bet first
    has_floats: bool = False
    _over: dict[IntegerModel, tuple[TransitionSystem, ...]] = field(default_factory=dict, compare=False)
    _kinds: dict[IntegerModel, list[set[str]]] = field(default_factory=dict, compare=False)

    @property
    def models(self) -> tuple[View, ...]:
        """The views without those that have the same equations as the first."""
        first, *others = self.views
        return first, *(view for view in others if self._differs_in(view))

    def _differs_in(self, view: View) -> bool:
        known = {root for part in self.parts_over(self.views[0]) for root in part.roots()}
        return any(root not in known for part in self.parts_over(view) for root in part.roots())

    def parts_over(self, model: View) -> Sequence[TransitionSystem]:
        """The clusters over a model, made once: a large system has many."""
        if model.model not in self._over:
            own = tuple(p for p in model.system.properties if p.name in self.claims)
            self._over[model.model] = tuple(clusters(replace(model.system, properties=own)))
        return self._over[model.model]

    def kinds_over(self, model: View) -> Sequence[Set[str]]:
        """The kinds of types in each cluster."""
        if model.model not in self._kinds:
            parts = self.parts_over(model)
            self._kinds[model.model] = [{node.type.kind for node in walk(part.roots())} for part in parts]
        return self._kinds[model.model]


@dataclass(frozen=True, slots=True)
class Lane:
    """The engines of one worker, the properties it may work on, and the processor time that workers before it have
    first."""

    engines: tuple[str, ...]
    model: IntegerModel
    claims: frozenset[str]
    after: float = 0.0
    full: bool = False  # it has the full price, though its engines are helpers otherwise
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
        helps = all(row.auxiliary for row in rows) or self.engines == ALONE
        return AUXILIARY_PRICE if helps and not self.full else 1


def check_names(names: Sequence[str]) -> None:
    for name in names:
        entry_of(name)


def work_counter() -> Callable[[], int]:
    """The function that counts the work of this process's solvers. Imported here, in a worker, like the engines."""
    counter: Callable[[], int] = importlib.import_module("streamcheck.smt.work").work_done
    return counter


@dataclass(slots=True)
class Schedule:
    """The workers of a run, in the order they start. At first only those that start at once: the others are planned
    when something is left for them. In turns, all engines share one worker: their facts and answers then depend on
    nothing but the problem."""

    models: Sequence[View]
    jobs: int
    chosen: Sequence[str] = ()
    deterministic: bool = False
    waiting: list[Lane] = field(init=False)  # what has not started yet
    is_complete: bool = False
    _every: list[Lane] = field(default_factory=list)
    _portions: list[Portion] = field(init=False)
    _firsts: list[Lane] = field(init=False)  # that start at once

    def __post_init__(self) -> None:
        self._portions = portions(self.models)
        is_portfolio = not self.chosen and self._has_lanes
        self._firsts = [Lane(FIRST, p.views[0].model, p.claims) for p in self._portions if is_portfolio]
        self.waiting = list(self._firsts)
        if not is_portfolio:
            self.complete()

    @property
    def _has_lanes(self) -> bool:
        """False if all engines share a worker, where none are chosen."""
        return not self.deterministic and (self.jobs > 1 or bool(self.chosen))

    @property
    def is_over(self) -> bool:
        return self.is_complete and not self.waiting

    @property
    def has_first(self) -> bool:
        """True if the next worker starts at once."""
        return bool(self.waiting) and not self.waiting[0].after

    def complete(self) -> None:
        """Schedule what starts after the first workers."""
        if not self.is_complete:
            lanes = [lane for portion in self._portions for lane in self._lanes(portion)]
            self._every = sorted(lanes, key=lambda lane: lane.after)
            self.waiting += [lane for lane in self._every if lane not in self._firsts]
            self.is_complete = True

    @property
    def every(self) -> list[Lane]:
        """All workers of the run."""
        self.complete()
        return self._every

    def again(self, claims: Set[str]) -> None:
        """Start every lane once more for these claims."""
        self.waiting = again(self.waiting, self.every, claims)

    def end_restarts(self) -> None:
        """Start what waits, and nothing a second time."""
        self.complete()
        self._every = []

    def _lanes(self, portion: Portion) -> list[Lane]:
        program = self.models[0].automaton is not None
        if not self._has_lanes:
            engines = tuple(_with_needs(self.chosen or in_turns(program=program, floats=portion.has_floats)))
            return [Lane(engines, portion.views[0].model, portion.claims)]
        if self.chosen:
            needed = [tuple(_with_needs([name])) for name in self.chosen]
            return [Lane(engines, m.model, portion.claims) for m in portion.models for engines in needed]
        return _portfolio(portion, self.jobs, program=program)


def in_turns(*, program: bool, floats: bool = False) -> tuple[str, ...]:
    """The engines of a run in which all share one worker. Those on bitwuzla come first at floats, and are not there
    otherwise: the first integer model mostly has Int."""
    rows = [row for row in ENGINES.values() if row.head_start is not None and (program or row.spec is not None)]
    on_bits = [row for row in rows if row.family == "bitwuzla"]
    return tuple(row.name for row in (*(on_bits if floats else ()), *(row for row in rows if row not in on_bits)))


def _portfolio(portion: Portion, jobs: int, *, program: bool) -> list[Lane]:
    """Every worker of a portion."""
    models = portion.models
    first, *others = models
    definitions = len(first.system.definitions)
    is_comparison = any(isinstance(p.origin, Compared) for p in first.system.properties)
    moved = starts_with(features_of(first.automaton, first.model, portion.parts_over(first)))
    full = {name for name, forward in moved.items() if forward.full}
    starts: dict[str, Start] = {}
    for row in ENGINES.values():
        start = row.program if program else row.spec
        if not row.floats and portion.has_floats:
            continue
        if start is not None and definitions >= start.definitions and (is_comparison or not start.compared):
            starts[row.name] = replace(start, after=moved[row.name].after) if row.name in moved else start
    lanes = []
    for name, start in starts.items():
        if not start.beside:
            beside = {other: s for other, s in starts.items() if s.beside == name}
            if start.compared:  # equal bits are found and checked far sooner than equal integers
                lanes.append(Lane((name, *beside), models[-1].model, portion.claims, start.after))
                continue
            if start.bits:
                lanes += _lanes_on_bits((name, *beside), start, portion)
                continue
            if start.arrays and not first.approximates:
                lanes += [Lane((name,), m.model, portion.claims, start.after) for m in others if m.approximates]
                continue
            lanes.append(Lane((name, *beside), first.model, portion.claims, start.after, full=name in full))
            if start.other is not None:
                engines = (name, *(n for n, s in beside.items() if s.other is not None))
                lanes += [Lane(engines, m.model, portion.claims, start.other) for m in others if not m.is_another_shape]
            if start.shape is not None:
                lanes += [Lane((name,), m.model, portion.claims, start.shape) for m in others if m.is_another_shape]
    if is_comparison:
        early = {"equals", *FIRST}
        lanes = [replace(e, after=e.after + LATER * (early.isdisjoint(e.engines))) for e in lanes]
    alone = [replace(lane, engines=ALONE, after=lane.after + SPLIT) for lane in lanes if lane.engines == FIRST]
    return [*lanes, *alone] if jobs > 1 else lanes


def _lanes_on_bits(engines: tuple[str, ...], start: Start, portion: Portion) -> list[Lane]:
    """A lane over each model in which some properties depend on floats or machine integers (or on Bools alone, if the
    engine is for them too), but on no Int or Real."""
    lanes = []
    for view in portion.models:
        fitting = [
            k for k in portion.kinds_over(view) if k.isdisjoint({"integer", "real"}) and (start.bools or k != {"bool"})
        ]
        if fitting:
            after = start.floats if any("float" in k for k in fitting) else start.after
            lanes.append(Lane(engines, view.model, portion.claims, after))
    return lanes


def apart(lane: Lane) -> list[Lane]:
    """The engines of a worker in workers of their own: if one hangs, the others go on."""
    if lane.engines == FIRST:
        return [replace(lane, engines=("k-induction",)), replace(lane, engines=("bmc", "completeness"))]
    return [replace(lane, engines=(engine,)) for engine in lane.engines]


def again(waiting: Sequence[Lane], lanes: Sequence[Lane], claims: Set[str]) -> list[Lane]:
    """The lanes that wait, and all lanes once more for these claims: those that wait take them along."""
    planned = list(waiting)
    for lane in lanes:
        own = lane.claims & claims
        if not own:
            continue
        same = next((p for p in planned if replace(p, claims=lane.claims) == lane and p.claims <= lane.claims), None)
        if same is not None:
            planned.remove(same)
            own |= same.claims
        planned.append(replace(lane, claims=own))
    return sorted(planned, key=lambda lane: lane.after)


def portions(models: Sequence[View]) -> list[Portion]:
    """The claims that speak of floats, and the others: solvers are at times very slow on floats, and what does not
    depend on them must not wait. Apart from both, the claims that the better model cannot express."""
    done: set[str] = set()
    found = []
    for i, view in enumerate(models):
        left = tuple(p for p in view.system.properties if p.name not in done)
        if left:
            system = view.system if len(left) == len(view.system.properties) else replace(view.system, properties=left)
            found += [
                Portion(frozenset(claims), tuple(models[i:]), has_floats)
                for has_floats, claims in sorted(_apart(system).items())
            ]
            done.update(p.name for p in left)
    return found


def _apart(system: TransitionSystem) -> dict[bool, list[str]]:
    """The names of the properties that depend on floats, and of those that do not."""
    if not system.has_floats:
        return {False: [p.name for p in system.properties]}
    apart: dict[bool, list[str]] = {}
    for part in clusters(system):
        apart.setdefault(part.has_floats, []).extend(p.name for p in part.properties)
    return apart


def _with_needs(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(n for name in names for n in (*ENGINES[name].needs, name)))


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
