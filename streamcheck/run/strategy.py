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
    """Properties that share their workers, and the integer models that can express them, the better bet first."""

    claims: frozenset[str]
    models: tuple[View, ...]
    parts: tuple[TransitionSystem, ...]  # its clusters over the first of them
    has_floats: bool = False
    _over: dict[IntegerModel, tuple[TransitionSystem, ...]] = field(default_factory=dict, compare=False)
    _kinds: dict[IntegerModel, list[set[str]]] = field(default_factory=dict, compare=False)

    @staticmethod
    def of(parts: tuple[TransitionSystem, ...], models: Sequence[View], *, floats: bool) -> Portion:
        """The properties of these parts, which are of the first model's system."""
        portion = Portion(frozenset(p.name for part in parts for p in part.properties), tuple(models), parts, floats)
        portion._over[models[0].model] = parts
        return replace(portion, models=tuple(m for m in models if m is models[0] or portion.differs_in(m)))

    def differs_in(self, model: View) -> bool:
        """True if there are other equations for it in this model than in the better one."""
        known = {root for part in self.parts for root in part.roots()}
        return any(root not in known for part in self.parts_over(model) for root in part.roots())

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


def plan(models: Sequence[View], jobs: int, chosen: Sequence[str], *, deterministic: bool) -> list[Lane]:
    """The workers of a run, in the order they start. In turns, all engines share one worker: their facts and answers
    then depend on nothing but the problem."""
    program = models[0].automaton is not None
    lanes = []
    for portion in portions(models):
        if deterministic or (jobs == 1 and not chosen):
            engines = tuple(_with_needs(chosen or in_turns(program=program, floats=portion.has_floats)))
            lanes.append(Lane(engines, portion.models[0].model, portion.claims))
        elif chosen:
            lanes += [Lane(tuple(_with_needs([n])), m.model, portion.claims) for m in portion.models for n in chosen]
        else:
            lanes += _portfolio(portion, jobs, program=program)
    return sorted(lanes, key=lambda lane: lane.after)


def in_turns(*, program: bool, floats: bool = False) -> tuple[str, ...]:
    """The engines of a run in which all share one worker. Those on bitwuzla come first at floats, and are not there
    otherwise: the first integer model mostly has Int."""
    rows = [row for row in ENGINES.values() if row.head_start is not None and (program or row.spec is not None)]
    on_bits = [row for row in rows if row.family == "bitwuzla"]
    return tuple(row.name for row in (*(on_bits if floats else ()), *(row for row in rows if row not in on_bits)))


def _portfolio(portion: Portion, jobs: int, *, program: bool) -> list[Lane]:
    """Every worker of a portion."""
    first, *others = portion.models
    definitions = len(first.system.definitions)
    is_comparison = any(isinstance(p.origin, Compared) for p in first.system.properties)
    moved = starts_with(features_of(first.automaton, first.model, portion.parts))
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
                lanes.append(Lane((name, *beside), portion.models[-1].model, portion.claims, start.after))
                continue
            if start.bits:
                lanes += _lanes_on_bits((name, *beside), start, portion)
                continue
            lanes.append(Lane((name, *beside), first.model, portion.claims, start.after, full=name in full))
            if start.other is not None:
                engines = (name, *(n for n, s in beside.items() if s.other is not None))
                lanes += [Lane(engines, view.model, portion.claims, start.other) for view in others]
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
        if done.issuperset(p.name for p in view.system.properties):
            continue
        apart: dict[bool, list[TransitionSystem]] = {}
        for part in clusters(view.system):
            own = tuple(p for p in part.properties if p.name not in done)
            if own:
                apart.setdefault(part.has_floats, []).append(replace(part, properties=own))
        for key in sorted(apart):
            found.append(Portion.of(tuple(apart[key]), models[i:], floats=key))
        done.update(*(portion.claims for portion in found))
    return found


def _with_needs(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(n for name in names for n in (*ENGINES[name].needs, name)))


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
