"""Features of problems, and the engines that they bring forward: one table.

The rows of the engines (`run.registry`) say when each of them starts on any problem; floats move those on bitwuzla
(`Start.floats`), and a feature of a program a few others. The numbers come from running every engine alone on one half
of a set of benchmarks; `tests/bench/default.py` shows on other problems what they are worth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from streamcheck.core.huge import is_product
from streamcheck.core.term import walk
from streamcheck.engines.timers import timers_of
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.transition import TransitionSystem
from streamcheck.transform.views import IntegerModel


class Forward(NamedTuple):
    """When an engine starts, as `Start.after`. `full`: it is no helper here, and has the price of the others."""

    after: float
    full: bool = False


Feature: TypeAlias = Literal[
    "program",
    "large program",
    "counter",
    "wrapping counter",
    "timer",
    "counters",
    "many counters",
    "wrapping counters",
    "products",
    "words",
    "floats",
]
LARGE = 14  # locations, or variables
SEVERAL = 3  # counters in one cluster, or products
MANY = 5  # counters in one cluster
MOST_STATE = 500  # variables of a cluster in which timers are looked for
STARTS: Mapping[Feature, Mapping[str, Forward]] = {  # the last feature that a problem has counts
    "program": {  # loops of many rounds and little input; they keep relations between counters
        "simulation": Forward(0.3),
        "templates": Forward(0.15, full=True),
    },
    "large program": {"lifted-pdr": Forward(0.6), "predicate-reach": Forward(1.0)},  # lemmas for each location
    "counter": {"long-runs": Forward(0.3)},  # runs that go round and round soon break some limit
    "wrapping counter": {"long-runs": Forward(0.3, full=True)},  # it may reach its end, after billions of steps
    "timer": {"long-runs": Forward(0.3, full=True)},  # it may be set to run for longer than is allowed
    "counters": {"templates": Forward(0.6, full=True)},  # their sums and differences are bounded
    "many counters": {"templates": Forward(0.2, full=True)},
    "wrapping counters": {"templates": Forward(0.3, full=True)},  # the same, which other engines hardly find
    "products": {"structural": Forward(0.2, full=True)},  # hard for whoever looks at them, and may not matter
    "words": {  # of which z3 decides few that bitwuzla does not, and later
        "pdr-bits": Forward(0.15),
        "long-runs": Forward(1.0),
        "spacer": Forward(1.5),
        "templates": Forward(1.5),
    },
    "floats": {"delays": Forward(1.5), "long-runs": Forward(1.5)},  # z3 decides few that bitwuzla does not, and later
}


def features_of(
    program: Automaton | None, model: IntegerModel = "bits", parts: Sequence[TransitionSystem] = ()
) -> list[Feature]:
    """The features of the program, or of the clusters of properties over this model, in the order of the table."""
    most = max(map(_counters, parts), default=0) if program is None else 0
    has_words = any(s.var.type.kind in ("signed", "unsigned") for part in parts for s in part.state)
    wraps = model == "integers" or has_words
    found: dict[Feature, bool] = {
        "program": program is not None,
        "large program": program is not None and max(len(program.locations), len(program.variables)) >= LARGE,
        "counter": most > 0,
        "wrapping counter": most > 0 and wraps,
        "timer": program is None and any(map(_has_timer, parts)),
        "counters": most > 1,
        "many counters": most >= MANY,
        "wrapping counters": most >= SEVERAL and model == "integers",
        "products": program is None and any(_products(part) >= SEVERAL for part in parts),
        "words": program is None and has_words,  # over Int there are none: an operation has no form there
        "floats": program is None and any(part.has_floats for part in parts),
    }
    return [feature for feature in STARTS if found[feature]]


def _counters(part: TransitionSystem) -> int:
    """The number of state variables that something is added to."""
    sums = (any(node.op in ("add", "sub") for node in walk([s.next])) for s in part.state)
    return sum(sums)


def _has_timer(part: TransitionSystem) -> bool:
    """True if a number is counted down, or up to a limit that may change, from where inputs have set it."""
    if not part.inputs or len(part.state) > MOST_STATE:
        return False
    return any(timer.goals for timer in timers_of(part))


def _products(part: TransitionSystem) -> int:
    """The number of products and quotients of two terms that are not constant."""
    return sum(map(is_product, walk(part.roots())))


def starts_with(features: Iterable[Feature]) -> dict[str, Forward]:
    """When engines start that these features move."""
    return {engine: forward for feature in features for engine, forward in STARTS[feature].items()}
