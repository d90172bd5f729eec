"""`streamcheck prove FILE…`."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click

from streamcheck.cli.context import CommandContext
from streamcheck.cli.options import (
    color_option,
    command_began,
    engine_options,
    evidence_options,
    log_options,
    program_options,
    proof_options,
    require_other_files,
    sandbox_option,
    search_options,
    suite_options,
    target_of,
    trace_options,
)
from streamcheck.cli.task import TASKS, prove_task
from streamcheck.core.errors import SpecError
from streamcheck.run.standby import Standby

if TYPE_CHECKING:
    from collections.abc import Sequence

    from streamcheck.cli.events import Silent
    from streamcheck.cli.live import Live
    from streamcheck.problem.problem import Problem
    from streamcheck.problem.result import Verdicts
    from streamcheck.run.cache import Cache
    from streamcheck.run.evidence_files import ComparedFiles
    from streamcheck.run.prove import Settings
    from streamcheck.scale.broker import Broker

ALARM = 4
BOUNDED = 5
EXPLANATION, LONGEST_EXPLANATION = 0.05, 1.0  # the share of the time, and its most, for explaining what is unknown


@click.command(name="prove", short_help="Prove a spec's properties, or show the shortest run that breaks them.")
@click.argument("files", metavar="FILE[::SPEC]...", nargs=-1, required=True)
@proof_options("Seconds for the whole run.")
@click.option(
    "--bound", type=click.IntRange(min=1, max=10**9), metavar="K", help="Ask about runs of at most K steps only."
)
@click.option(
    "--strict",
    is_flag=True,
    help="Take warnings (vacuity, assumptions that no run can meet, no property, specs left out) as errors.",
)
@click.option(
    "--compositional",
    is_flag=True,
    help="Prove each component against its contract, once; what uses it sees the contract instead of the body.",
)
@click.option(
    "--reachable",
    is_flag=True,
    help="Ask too if each branch, premise and trigger is reached by some run, and each assumption excludes one.",
)
@suite_options
@click.option("--on", metavar="ADDRESS", help="Let the workers of this Dask scheduler search, as in tcp://host:8786.")
@search_options
@program_options
@engine_options
@sandbox_option
@log_options
@click.option(
    "--predicate",
    "predicates",
    multiple=True,
    metavar="C",
    help="Initial predicate for the predicate-abstraction engines, in C syntax (repeatable).",
)
@click.option("--link", is_flag=True, help="Take the C files given as one program.")
@click.option("--witness", metavar="FILE", help="Write the SV-COMP witness of a C program's verdict.")
@evidence_options
@click.option(
    "--write-test",
    "tests",
    metavar="DIR",
    help="Write counterexamples and witnesses as tests for pytest, and in C for the compiled monitor.",
)
@color_option
@trace_options
@click.option(
    "--eval",
    "expressions",
    multiple=True,
    metavar="EXPR",
    help="Show this stream in counterexamples and witnesses too (repeatable).",
)
def command(files: tuple[str, ...], **options: Any) -> int:
    """Decide every property of a spec, for all inputs and all time.

    A proof counts when its certificate has been checked by another solver, a counterexample when it has been
    replayed. Exit status: 0 everything proved, 1 something falsified, 3 something unknown and nothing falsified,
    5 no more than `--bound` asks for, 2 the command or the spec is wrong (with `--strict`: or there is a warning, and
    nothing is falsified), 4 an internal contradiction, or an answer that a task file (.yml) does not expect, 130
    interrupted and 143 terminated, after what is decided has been printed.
    """
    return _prove(files, ProveOptions(**options))


@dataclass(frozen=True, slots=True)
class ProveOptions:
    """The options, as given."""

    engines: tuple[str, ...]
    timeout: float
    jobs: int | None
    memory: int | None
    deterministic: bool
    settings: dict[str, str]
    verbose: int
    certificates: str | None
    as_json: bool
    as_events: bool
    quiet: bool
    color: str
    full: bool
    rows: tuple[str, ...]
    steps: tuple[int, int] | None
    traces: tuple[tuple[str, str], ...]
    no_cache: bool
    props: tuple[str, ...] = ()
    bound: int | None = None
    strict: bool = False
    compositional: bool = False
    reachable: bool = False
    integers: Literal["c", "math"] = "c"
    data_model: str = "LP64"
    link: bool = False
    blocks: bool = True
    predicates: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    witness: str | None = None
    html: str | None = None
    plot: str | None = None
    reports: tuple[tuple[str, str], ...] = ()
    tests: str | None = None
    on: str | None = None
    suite: bool = False
    deadline: float | None = None
    resume: bool = False


def _prove(files: tuple[str, ...], options: ProveOptions) -> int:
    if options.suite:
        from streamcheck.cli.suite import prove_suite

        return prove_suite(files, options, _own_options, _broker(options))
    if options.deadline is not None or options.resume:
        raise SpecError("--deadline and --resume are for suites", write="--suite")
    deadline = command_began() + options.timeout
    standby = click.get_current_context().with_resource(Standby())
    # The standby workers load their solvers while this process imports the rest.
    from streamcheck.run.memory import MEGABYTE
    from streamcheck.run.source import SourceOptions, read

    if len(files) == 1 and files[0].endswith(TASKS):
        return prove_task(files[0], options, lambda given, chosen: prove_problems(given, chosen, deadline, standby))
    limit = options.memory and options.memory * MEGABYTE
    specs, own = [], []
    for file in files[:1] if options.link else files:
        target, chosen = target_of(file), _own_options(options, file)
        further = files[1:] if options.link else ()
        reading = SourceOptions(
            chosen.integers, chosen.predicates, chosen.expressions, chosen.data_model, further, chosen.compositional
        )
        for spec in read(target, chosen.timeout, reading, limit):
            specs.append((target.path, spec))
            own.append(_own_options(options, f"{target.path}::{spec.name}"))
    return prove_problems(specs, options, deadline, standby, own=own)


def _own_options(options: ProveOptions, target: str) -> ProveOptions:
    """The options, with those that the configuration has for this spec alone."""
    context = click.get_current_context()
    return replace(options, **context.settings_of_spec(target)) if isinstance(context, CommandContext) else options


def prove_problems(
    specs: Sequence[tuple[str, Problem]],
    options: ProveOptions,
    deadline: float,
    standby: Standby,
    compared: ComparedFiles | None = None,
    own: Sequence[ProveOptions] = (),
) -> int:
    """Prove these problems, each of a file, and show what comes out. `own` are the options of each, if they differ.
    Returns the exit status."""
    from streamcheck.cli.output import emit
    from streamcheck.report.trace import require_rows
    from streamcheck.report.verdicts_json import verdicts_json
    from streamcheck.run.cache import Cache
    from streamcheck.run.folders import make_folders
    from streamcheck.run.prove import Alarm, none_of
    from streamcheck.run.ways import way_of_proving

    require_rows([problem for _, problem in specs], options.rows)
    to_files = [path for _, path in options.reports if path != "-"]
    require_other_files([path for path, _ in specs], [options.html, options.plot, options.witness, *to_files])
    make_folders([folder for _, folder in options.traces] + [options.certificates or "", options.tests or ""])
    cache = None if options.no_cache else Cache()
    broker = _broker(options)
    rows, statuses, stopped = [], [], 0
    done = []
    shares = Shares(
        deadline, [one.timeout if one.timeout != options.timeout else None for one in own or [options] * len(specs)]
    )
    for i, (path, problem) in enumerate(specs):
        chosen = own[i] if own else options
        settings = _settings(chosen, shares.begin(i), cache, alone=len(specs) == 1)
        if broker is not None:
            from streamcheck.scale.crew import with_crew

            settings = with_crew(settings, broker, problem.name)
        decide = way_of_proving(compositional=chosen.compositional, reachable=chosen.reachable)
        try:
            with _audience(path, chosen) as audience:
                verdicts = none_of(problem, stopped) if stopped else decide(problem, settings, audience, standby)
        except Alarm as contradiction:
            click.echo(f"ALARM: {contradiction}", err=True)
            return ALARM
        shares.end(i)
        stopped = verdicts.stopped
        statuses.append(verdicts.status)
        saved = _save(verdicts, path, options, compared)
        rows += [verdicts_json(verdicts, path, saved)] if options.as_json else []
        audience.finish(verdicts, saved)
        done.append((verdicts, path, saved))
        for alarm in verdicts.alarms:
            click.echo(f"ALARM: {alarm}", err=True)
    if options.as_json:
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
    if options.html or options.reports:
        from streamcheck.api.reports import write_results
        from streamcheck.report.outputs.proved_file import ProvedFile

        shown = write_results([ProvedFile(*one) for one in done], options.html, options.reports)
        emit(shown.splitlines())
    if options.plot:
        from streamcheck.report.plot import runs_to_plot, write_plot

        runs = list(runs_to_plot([verdicts for verdicts, *_ in done]))
        if runs:
            write_plot(runs, options.plot)
        else:
            click.echo(f"note: no counterexample and no witness to draw to {options.plot}", err=True)
    return next((status for status in (ALARM, stopped, 1, 2, 3, BOUNDED) if status and status in statuses), 0)


def _broker(options: ProveOptions) -> Broker | None:
    """The broker of `--on`, which is closed with the command."""
    if options.on is None:
        return None
    if options.deterministic:
        raise SpecError("--deterministic is for one worker of this machine", write="one of --on and --deterministic")
    from streamcheck.scale.market import broker_on

    broker = broker_on(options.on, note=lambda text: click.echo(f"note: {text}", err=True))
    click.get_current_context().call_on_close(broker.close)
    return broker


@dataclass(slots=True)
class Shares:
    """The seconds of each spec: what one leaves, the next ones have. `own` are those that a spec has for itself."""

    deadline: float
    own: Sequence[float | None]
    _began: float = 0.0

    def begin(self, i: int) -> float:
        """The seconds of this spec, which begins now."""
        self._began = time.monotonic()
        mine = self.own[i]
        if mine is not None:
            return mine
        return max(0.0, self.deadline - self._began) / sum(seconds is None for seconds in self.own[i:])

    def end(self, i: int) -> None:
        """This spec is done."""
        if self.own[i] is not None:
            self.deadline += time.monotonic() - self._began


def _settings(options: ProveOptions, share: float, cache: Cache | None, *, alone: bool) -> Settings:
    from streamcheck.run.memory import MEGABYTE
    from streamcheck.run.prove import Settings
    from streamcheck.run.strategy import processors

    return Settings(
        share,
        options.jobs or processors(),
        options.engines,
        options.props,
        options.memory and options.memory * MEGABYTE,
        options.blocks,
        options.deterministic,
        options.settings,
        options.bound,
        min(LONGEST_EXPLANATION, share * EXPLANATION),
        options.strict,
        cache,
        promised=options.timeout if alone else None,
    )


def _audience(path: str, options: ProveOptions) -> Silent | Live:
    from streamcheck.cli.events import Events, Silent
    from streamcheck.cli.live import Live
    from streamcheck.report.trace import TraceOptions

    if options.as_events:
        return Events(path)
    if options.as_json:
        return Silent()
    also = tuple(" ".join(expression.split()) for expression in options.expressions)
    trace = TraceOptions(options.full, options.rows, options.steps, also=also)
    return Live(
        quiet=options.quiet,
        progress=not options.quiet and not options.verbose,
        color=options.color,
        ordered=options.deterministic,
        trace=trace,
    )


def _save(verdicts: Verdicts, path: str, options: ProveOptions, compared: ComparedFiles | None) -> dict[str, str]:
    """Write the files that are asked for. Returns those of certificates by property."""
    if options.witness:
        _write_witness(verdicts, path, options.witness)
    if options.traces:
        from streamcheck.report.trace_folder import write_traces

        for shape, folder in options.traces:
            if not write_traces(verdicts, path, shape, folder):
                name = verdicts.problem.name
                click.echo(f"note: {name} has no counterexample and no witness to write to {folder}", err=True)
    if options.tests:
        from streamcheck.api.run_tests import write_run_tests

        for note in write_run_tests(verdicts, path, options.tests):
            click.echo(f"note: {note}", err=True)
    if not options.certificates:
        return {}
    from streamcheck.run.evidence_files import save

    return save(verdicts, path, options.certificates, compared)


def _write_witness(verdicts: Verdicts, path: str, file: str) -> None:
    from streamcheck.report.witness import write_witness

    write_witness(verdicts, path, file)
