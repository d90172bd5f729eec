"""Which engines run where, and when.

Most properties fall to bounded model checking and induction within milliseconds, so one worker tries these in turns
first; only what it leaves gets processes of its own. With two cores: the induction step on one, bounded model
checking with the completeness test on the other, and, where machine integers have two models, all three in turns on
the other model beside them (a few per cent of the time of the first two decides what only bit-vectors can).
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

from streamcheck.core.errors import SpecError
from streamcheck.core.term import walk
from streamcheck.formats.certificate_json import Model
from streamcheck.run.problems import Modelled
from streamcheck.system.protocol import Engine
from streamcheck.transform.reduce import clusters

QUICK = 0.3  # seconds for the first worker alone
MANY_DEFINITIONS = 8  # from here on, leaving definitions out may pay

# engine: where it lives, and the engines it needs beside it (the base case of induction is bounded model checking)
ENGINES = {
    "bmc": ("streamcheck.engines.bmc", "Bmc", ()),
    "k-induction": ("streamcheck.engines.kinduction", "KInduction", ("bmc",)),
    "structural": ("streamcheck.engines.structural", "Structural", ()),
    "ic3": ("streamcheck.engines.ic3.cooper_ic3", "Ic3", ()),
    "spacer": ("streamcheck.engines.spacer", "Spacer", ()),
    "templates": ("streamcheck.invariants.templates", "Templates", ()),
    "completeness": ("streamcheck.engines.completeness", "Completeness", ("bmc",)),
}


@dataclass(frozen=True, slots=True)
class Lane:
    """What one worker runs."""

    engines: tuple[str, ...]
    model: Model

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


def quick_lane(model: Model, chosen: Sequence[str]) -> Lane:
    return Lane(tuple(chosen and _with_needs(chosen)) or ("bmc", "k-induction", "completeness"), model)


def lanes(models: Sequence[Modelled], jobs: int, chosen: Sequence[str]) -> list[Lane]:
    """What runs once the quick worker has had its time, the most promising first. A solver that does not come back
    stops its whole lane, so engines that hang on different things have lanes of their own; one process more than
    there are processors costs little and saves most of what the fixed order would lose."""
    first = models[0].model
    if chosen:
        return [Lane(tuple(_with_needs([name])), m.model) for m in models for name in chosen]
    wanted = [Lane(("k-induction",), first), Lane(("bmc", "completeness"), first)]
    if len(models[0].reduced.system.definitions) >= MANY_DEFINITIONS:
        wanted.append(Lane(("structural",), first))
    wanted += [Lane(("bmc", "k-induction", "completeness"), m.model) for m in models[1:]]
    return wanted[: jobs + 1] if jobs > 1 else [quick_lane(first, chosen)]


def groups(model: Modelled) -> list[set[str]]:
    """The claims that speak of floats, and the others: solvers are at times very slow on floats, and what does not
    depend on them must not wait."""
    apart: dict[bool, set[str]] = {}
    for part in clusters(model.reduced.system):
        floats = any(node.type.kind == "float" for node in walk(part.roots()))
        apart.setdefault(floats, set()).update(p.name for p in part.properties)
    return [apart[key] for key in sorted(apart)]


def _with_needs(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(n for name in names for n in (*ENGINES[name][2], name)))


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
