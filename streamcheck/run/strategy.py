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
from streamcheck.formats.certificate_json import Model
from streamcheck.system.protocol import Engine

QUICK = 0.3  # seconds for the first worker alone

# engine: where it lives, and the engines it needs beside it (the base case of induction is bounded model checking)
ENGINES = {
    "bmc": ("streamcheck.engines.bmc", "Bmc", ()),
    "k-induction": ("streamcheck.engines.kinduction", "KInduction", ("bmc",)),
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


def lanes(models: Sequence[Model], jobs: int, chosen: Sequence[str]) -> list[Lane]:
    """What runs once the quick worker has had its time; at most `jobs` processes, and two models share the last."""
    if chosen:
        wanted = [Lane(tuple(_with_needs([name])), model) for model in models for name in chosen]
    else:
        wanted = [Lane(("k-induction",), models[0]), Lane(("bmc", "completeness"), models[0])]
        wanted += [Lane(("bmc", "k-induction", "completeness"), model) for model in models[1:]]
    return wanted[: max(jobs, 1) + len(models) - 1]


def _with_needs(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(n for name in names for n in (*ENGINES[name][2], name)))


def processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
