"""The engines: one row for each, with what it is for, its options and its part in the portfolio.

To add an engine: write a class that mypy accepts as `engines.protocol.Engine`, a dataclass of its options, if it has
any, in the `options` of its folder, and here a loader and a row. The documentation has a table of engines
(`docs/command.md`) and the tests run all of them (`tests/test_engines.py`, `tests/test_programs.py`);
`tests/test_registry.py` fails if something is missing there.

A loader imports its engine when it is called, in a worker: the command itself never loads a solver. Its return type
makes mypy check the class against the protocol. Its parameter says which options the engine has: they are loaded when
somebody asks for them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import mean_or_choose
from streamcheck.core.types import plural

if TYPE_CHECKING:
    from streamcheck.engines.cfa.options import LiftedPdrOptions, PredicateReachOptions
    from streamcheck.engines.ic3.options import Ic3Options, PredicatesOptions
    from streamcheck.engines.options import (
        BitPdrOptions,
        BmcOptions,
        CompletenessOptions,
        KInductionOptions,
        LongRunsOptions,
        Options,
        SimulationOptions,
        SpacerOptions,
        StructuralOptions,
    )
    from streamcheck.engines.protocol import Engine
    from streamcheck.engines.settings import Setting
    from streamcheck.invariants.options import PolynomialOptions, TemplatesOptions
    from streamcheck.problem.verdict import SolverFamily

OPTIONS = (  # the modules with the classes of options, loaded one after another until one has the class
    "streamcheck.engines.options",
    "streamcheck.engines.ic3.options",
    "streamcheck.engines.cfa.options",
    "streamcheck.invariants.options",
)


@dataclass(frozen=True, slots=True)
class Start:
    """When an engine gets a worker: once those before it have used so many seconds of processor time each."""

    after: float  # over the first integer model
    other: float | None = None  # over the other one, if there is one; None: not over that one
    shape: float | None = None  # over a program in another shape: cells of its arrays, its modes apart
    arrays: bool = False  # over cells of arrays alone
    beside: str = ""  # the engine whose worker it shares, with the times of that one
    bits: bool = False  # only over bit-vectors, if there is no Int and no Real
    floats: float = 0.0  # with `bits`: the time if there are floats
    bools: bool = False  # with `bits`: if there is nothing but Bool, too
    definitions: int = 0  # fewer definitions than this, and it is not started
    compared: bool = False  # only if two specifications are compared; then over bits, if there is a choice


@dataclass(frozen=True, slots=True)
class EngineEntry:
    """One engine."""

    name: str
    summary: str
    doing: str  # its work in a few words for people, then, after a comma, how far it is
    load: Callable[[Any], Engine]
    defaults: Mapping[str, Setting] = field(default_factory=dict)  # of options, where they differ from the class's
    needs: tuple[str, ...] = ()  # engines whose facts it depends on: they run in the same worker
    spec: Start | None = None  # its worker in a run on a spec; None: only with --engine
    program: Start | None = None  # the same for a program
    head_start: int | None = None  # solver work that others have before it, if all share a worker; None: not there
    price: int = 1  # the weight of a unit of its solver work, relative to others
    far_price: int | None = None  # the same from the third step on
    family: SolverFamily = "z3"  # whose answers it builds on: those of others are no facts for it; bitwuzla is for bits
    alone: bool = False  # one instance for each property with floats, whose terms would burden the queries of others
    floats: bool = True  # False: it gives up at them
    narrow: bool = (
        False  # it only proves: first over what a property itself depends on (`transform.reduce.narrow_parts`)
    )
    auxiliary: bool = False  # mostly helps others: its processor time has a higher price

    def work_at(self, depth: int | None) -> str:
        """Its work in words, and how far it is, if that is known."""
        work, _, far = self.doing.partition(", ")
        if depth is None or not far:
            return work
        before, _, unit = far.partition("{} ")
        return f"{work}, {before}{plural(depth, unit.removesuffix('s'))}" if unit else f"{work}, {far.format(depth)}"

    @property
    def options(self) -> Options:
        """The defaults of its options."""
        options = _options_named(self.load.__annotations__.get("options", "Options"))
        return self._with(options, self.defaults) if self.defaults else options

    def options_with(self, settings: Mapping[str, Setting]) -> Options:
        return self._with(self.options, settings)

    def _with(self, options: Options, settings: Mapping[str, Setting]) -> Options:
        from streamcheck.engines.settings import with_settings

        return with_settings(options, self.name, settings)


def _options_named(name: str) -> Options:
    """The defaults of a class of options."""
    for module in map(importlib.import_module, OPTIONS):
        if hasattr(module, name):
            options: Options = getattr(module, name)()
            return options
    raise LookupError(f"{name} is in none of {', '.join(OPTIONS)}")


# Loaders


def _bmc(options: BmcOptions) -> Engine:
    from streamcheck.engines.bmc import Bmc

    return Bmc(options)


def _k_induction(options: KInductionOptions) -> Engine:
    from streamcheck.engines.kinduction import KInduction

    return KInduction(options)


def _bit_bmc(options: BmcOptions) -> Engine:
    from streamcheck.engines.on_bits import BitBmc

    return BitBmc(options)


def _bit_induction(options: KInductionOptions) -> Engine:
    from streamcheck.engines.on_bits import BitInduction

    return BitInduction(options)


def _completeness(options: CompletenessOptions) -> Engine:
    from streamcheck.engines.completeness import Completeness

    return Completeness(options)


def _structural(options: StructuralOptions) -> Engine:
    from streamcheck.engines.structural import Structural

    return Structural(options)


def _ic3(options: Ic3Options) -> Engine:
    from streamcheck.engines.ic3.cooper_ic3 import Ic3

    return Ic3(options)


def _predicates(options: PredicatesOptions) -> Engine:
    from streamcheck.engines.ic3.implicit_abstraction import Predicates

    return Predicates(options)


def _predicates_path(options: PredicatesOptions) -> Engine:
    from streamcheck.engines.ic3.implicit_abstraction import PredicatesPath

    return PredicatesPath(options)


def _bit_pdr(options: BitPdrOptions) -> Engine:
    from streamcheck.engines.bit_pdr import BitPdr

    return BitPdr(options)


def _spacer(options: SpacerOptions) -> Engine:
    from streamcheck.engines.spacer import Spacer

    return Spacer(options)


def _spacer_local(options: SpacerOptions) -> Engine:
    from streamcheck.engines.spacer import SpacerLocal

    return SpacerLocal(options)


def _simulation(options: SimulationOptions) -> Engine:
    from streamcheck.engines.simulation import Simulation

    return Simulation(options)


def _long_runs(options: LongRunsOptions) -> Engine:
    from streamcheck.engines.long_runs import VeryLongRuns

    return VeryLongRuns(options)


def _delays(options: Options) -> Engine:
    from streamcheck.invariants.delays import DelayLines

    return DelayLines()


def _templates(options: TemplatesOptions) -> Engine:
    from streamcheck.invariants.templates import Templates

    return Templates(options)


def _elements(options: Options) -> Engine:
    from streamcheck.invariants.passed import PassedElements

    return PassedElements()


def _equals(options: Options) -> Engine:
    from streamcheck.invariants.equals import EqualPairs

    return EqualPairs()


def _polynomial(options: PolynomialOptions) -> Engine:
    from streamcheck.invariants.polynomial import Polynomial

    return Polynomial(options)


def _predicate_reach(options: PredicateReachOptions) -> Engine:
    from streamcheck.engines.cfa.predicate_reach import PredicateReach

    return PredicateReach(options)


def _concrete_reach(options: Options) -> Engine:
    from streamcheck.engines.cfa.concrete_reach import ConcreteReach

    return ConcreteReach()


def _lifted_pdr(options: LiftedPdrOptions) -> Engine:
    from streamcheck.engines.cfa.lifted_pdr import LiftedPdr

    return LiftedPdr(options)


def _acceleration(options: Options) -> Engine:
    from streamcheck.engines.cfa.acceleration import Acceleration

    return Acceleration()


def _loop_unwinding(options: Options) -> Engine:
    from streamcheck.engines.cfa.unwinding import Unwinding

    return Unwinding()


def _dfs_bmc(options: Options) -> Engine:
    from streamcheck.engines.cfa.dfs_bmc import DfsBmc

    return DfsBmc()


def _dfs_bmc_backward(options: Options) -> Engine:
    from streamcheck.engines.cfa.dfs_bmc import DfsBmcBackward

    return DfsBmcBackward()


def _global_bmc(options: Options) -> Engine:
    from streamcheck.engines.cfa.global_bmc import GlobalBmc

    return GlobalBmc()


def _global_bmc_backward(options: Options) -> Engine:
    from streamcheck.engines.cfa.global_bmc import GlobalBmcBackward

    return GlobalBmcBackward()


# The rows. Measured on the field's benchmarks (`tests/bench/engines.py`). In turns with all others, they come up in
# this order.

ROWS: tuple[EngineEntry, ...] = (
    EngineEntry(
        "bmc",
        "bounded model checking: shortest counterexamples, and the base case of induction",
        "looking for short runs, step {}",
        _bmc,
        spec=Start(0.0, other=1.5),
        program=Start(0.0, other=1.5),
        head_start=0,
    ),
    EngineEntry(
        "k-induction",
        "the step case of k-induction, all properties together, with path compression",
        "induction, {} steps",
        _k_induction,
        needs=("bmc",),
        spec=Start(0.0, other=1.5, beside="bmc"),
        program=Start(0.0, other=1.5, beside="bmc"),
        head_start=0,
        far_price=2,  # far out, violations are likelier than proofs
    ),
    EngineEntry(
        "completeness",
        "whether a run with new states is left after k steps: if none is, all states have been seen",
        "whether all states are seen, {} steps",
        _completeness,
        needs=("bmc",),
        spec=Start(0.0, other=1.5, beside="bmc"),
        program=Start(0.0, other=1.5, beside="bmc"),
        head_start=0,
        price=4,
    ),
    EngineEntry(
        "bit-bmc",
        "bounded model checking by bitwuzla: floats and machine integers",
        "looking for short runs on bits, step {}",
        _bit_bmc,
        spec=Start(1.0, bits=True, floats=0.2),
        head_start=0,
        family="bitwuzla",
        alone=True,
    ),
    EngineEntry(
        "bit-induction",
        "k-induction by bitwuzla: floats and machine integers",
        "induction on bits, {} steps",
        _bit_induction,
        needs=("bit-bmc",),
        spec=Start(1.0, beside="bit-bmc"),
        head_start=0,
        family="bitwuzla",
        alone=True,
    ),
    EngineEntry(
        "delays",
        "what a property says of the end of a delay line, or of one element of an array, for every cell",
        "delay lines cell by cell",
        _delays,
        spec=Start(0.15, other=3.0),
        head_start=200_000,
    ),
    EngineEntry(
        "ic3",
        "inductive lemmas frame by frame, predecessors generalised by Cooper's elimination: most of what induction "
        "cannot prove, and deep violations",
        "lemmas, frame {}",
        _ic3,
        spec=Start(0.15, other=3.0, beside="delays"),
        program=Start(0.3, shape=0.3),
        head_start=300_000,
    ),
    EngineEntry(
        "simulation",
        "long random runs: timers, and violations that appear late and after little input",
        "random runs, {} steps",
        _simulation,
        spec=Start(1.2),
        program=Start(1.2),
        head_start=2_000_000,
        price=20,
        auxiliary=True,
    ),
    EngineEntry(
        "long-runs",
        "violations after billions of steps: runs that go round and round, computed instead of taken",
        "very long runs, {} steps",
        _long_runs,
        spec=Start(0.6),
        head_start=3_000_000,
        price=20,
        auxiliary=True,
    ),
    EngineEntry(
        "templates",
        "bounds, sums, differences, linear equalities, implications and one-hot groups, suggested by random runs and "
        "confirmed by induction; bounds of filters, raised until they are inductive: lemmas for the others",
        "guessing bounds and equalities, round {}",
        _templates,
        spec=Start(2.0),
        program=Start(0.15, shape=0.6),  # loops keep relations between counters
        head_start=5_000_000,
        auxiliary=True,
        narrow=True,
    ),
    EngineEntry(
        "elements",
        "what holds of every element of a program's array that a loop has passed, from what it writes and what is "
        "claimed, confirmed by induction",
        "array loops, round {}",
        _elements,
        program=Start(0.15, arrays=True),
        head_start=200_000,
    ),
    EngineEntry(
        "equals",
        "state of two compared specs that is equal, or opposite, suggested by random runs and confirmed by induction",
        "pairing the state of two specs, round {}",
        _equals,
        spec=Start(0.05, compared=True),
    ),
    EngineEntry(
        "polynomial",
        "equalities like 2*s == n*(n - 1), from recurrences in closed form and from random runs",
        "equations between counters, round {}",
        _polynomial,
        spec=Start(2.0, beside="templates"),
        program=Start(2.0, beside="predicate-reach"),
        head_start=15_000_000,
        auxiliary=True,
    ),
    EngineEntry(
        "spacer",
        "z3's solver of Horn clauses: invariants over sums of counters",
        "Horn clauses, round {}",
        _spacer,
        spec=Start(0.5, other=3.0),
        program=Start(0.6, other=4.0, shape=1.5),
        head_start=10_000_000,
        floats=False,
    ),
    EngineEntry(
        "spacer-local",
        "the same without global guidance, which decides other problems",
        "Horn clauses without guidance, round {}",
        _spacer_local,
        {"guidance": False, "seed": 1},
        spec=Start(1.5),
        program=Start(5.0),
        floats=False,
    ),
    EngineEntry(
        "structural",
        "IC3 on the definitions that matter: starts from the property alone, refined by spurious runs",
        "leaving definitions out, step {}",
        _structural,
        spec=Start(0.6, definitions=8),
        head_start=5_000_000,
        auxiliary=True,
    ),
    EngineEntry(
        "predicates",
        "IC3 with implicit predicate abstraction, refined by interpolants of spurious counterexamples: all paths of "
        "that length",
        "predicates on all paths, frame {}",
        _predicates,
        spec=Start(6.0),
        program=Start(6.0),
        head_start=30_000_000,
        auxiliary=True,
    ),
    EngineEntry(
        "predicates-path",
        "the same, refined by interpolants of the one spurious path",
        "predicates on one path, frame {}",
        _predicates_path,
        {"refute": "path"},
    ),
    EngineEntry(
        "pdr-bits",
        "property directed reachability by bitwuzla: clauses over Bools, bits of machine integers and bounds of floats",
        "clauses on bits, frame {}",
        _bit_pdr,
        spec=Start(0.4, bits=True, bools=True, floats=0.4),
        head_start=5_000_000,
        family="bitwuzla",
    ),
    EngineEntry(
        "predicate-reach",
        "predicate abstraction of a program, refined by interpolants of spurious paths",
        "predicates of the program, round {}",
        _predicate_reach,
        program=Start(2.0, other=4.0, shape=2.0),
        head_start=10_000_000,
    ),
    EngineEntry(
        "lifted-pdr",
        "property directed reachability with frames for each location of a program, and weakest preconditions",
        "lemmas at each location, frame {}",
        _lifted_pdr,
        program=Start(3.0, other=4.0, shape=0.3),
        head_start=20_000_000,
    ),
    EngineEntry(
        "unwinding",
        "loops unwound round by round, all paths of a program at once, if the number of rounds has a bound",
        "all paths at once, {} rounds of loops",
        _loop_unwinding,
        program=Start(0.1, other=0.2),
    ),
    EngineEntry(
        "concrete-reach",
        "the exact reachable states of each location of a program, if there are finitely many",
        "all states of the program, {} statements",
        _concrete_reach,
    ),
    EngineEntry(
        "acceleration",
        "violations after many rounds of loops, by closed forms of what a round does",
        "many rounds of loops at once, {} steps",
        _acceleration,
        program=Start(0.5),
        head_start=1_000_000,
    ),
    EngineEntry(
        "dfs-bmc",
        "bounded model checking of a program, path by path from its entry",
        "path by path, {} statements",
        _dfs_bmc,
    ),
    EngineEntry(
        "dfs-bmc-backward", "the same from the error", "path by path from the error, {} statements", _dfs_bmc_backward
    ),
    EngineEntry(
        "global-bmc",
        "bounded model checking of a program, all paths of a length at once",
        "all paths at once, {} statements",
        _global_bmc,
    ),
    EngineEntry("global-bmc-backward", "the same from the error", "paths backward, length {}", _global_bmc_backward),
)
ENGINES: dict[str, EngineEntry] = {row.name: row for row in ROWS}


def entry_of(name: str) -> EngineEntry:
    """The engine of this name. SpecError if there is none."""
    if name not in ENGINES:
        raise SpecError(f"unknown engine {name!r}{mean_or_choose(name, ENGINES)}")
    return ENGINES[name]


def options_from(settings: Mapping[str, Setting]) -> dict[str, Options]:
    """The options of the engines that the settings, by `engine.option`, speak of. SpecError if one is wrong."""
    of_engine: dict[str, dict[str, Setting]] = {}
    for name, value in settings.items():
        engine, dot, option = name.partition(".")
        if not dot:
            raise SpecError(f"{name!r} names no option; write ENGINE.OPTION, as in ic3.tighten")
        of_engine.setdefault(engine, {})[option] = value
    return {engine: entry_of(engine).options_with(values) for engine, values in of_engine.items()}


def build(names: Sequence[str], options: Mapping[str, Options] | None = None) -> list[Engine]:
    """New engines, with these options or else their defaults. For workers: it loads their solvers."""
    options = options or {}
    return [row.load(options.get(row.name, row.options)) for row in map(entry_of, names)]
