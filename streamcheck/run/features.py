"""Features of problems, and the engines that they bring forward: one table.

The rows of the engines (`run.registry`) say when each of them starts on any problem; floats move those on bitwuzla
(`Start.floats`), and a feature of a program a few others. The numbers come from running every engine alone on one half
of a set of benchmarks; `tests/bench/default.py` shows on other problems what they are worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from streamcheck.problem.automaton import Automaton

Feature: TypeAlias = Literal["program", "large program"]
LARGE = 14  # locations, or variables
STARTS: Mapping[Feature, Mapping[str, float]] = {  # as `Start.after`; the last feature that a problem has counts
    "program": {"simulation": 0.3},  # loops of many rounds and little input
    "large program": {"lifted-pdr": 0.6, "predicate-reach": 1.0},  # lemmas for each location
}


def features_of(program: Automaton | None) -> list[Feature]:
    """The features of this program, in the order of the table: none of a spec."""
    found: dict[Feature, bool] = {
        "program": program is not None,
        "large program": program is not None and max(len(program.locations), len(program.variables)) >= LARGE,
    }
    return [feature for feature in STARTS if found[feature]]


def starts_with(features: Iterable[Feature]) -> dict[str, float]:
    """When engines start that these features move."""
    return {engine: after for feature in features for engine, after in STARTS[feature].items()}
