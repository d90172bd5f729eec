"""`streamcheck prove … --suite`: the specs of folders and patterns, in one pool."""

from __future__ import annotations

import json
import os
from contextlib import closing
from typing import TYPE_CHECKING

import click

from streamcheck.cli.options import is_sandboxed
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.report.suite import ChangeRow, SpecRow, SuiteResult, spec_line, suite_json, suite_table
from streamcheck.run.memory import MEGABYTE
from streamcheck.run.prove import Settings
from streamcheck.run.source import SourceOptions
from streamcheck.run.strategy import processors
from streamcheck.scale.foreman import ProofWay
from streamcheck.scale.history import History, NightVerdict
from streamcheck.scale.journal import Journal
from streamcheck.scale.suite import Suite
from streamcheck.scale.targets import suite_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from streamcheck.cli.prove import ProveOptions
    from streamcheck.scale.broker import Broker
    from streamcheck.scale.suite import SpecState

FOLDER = ".streamcheck"
JOURNAL, HISTORY = os.path.join(FOLDER, "suite.jsonl"), os.path.join(FOLDER, "history.sqlite")


def prove_suite(
    files: Sequence[str],
    options: ProveOptions,
    own_options: Callable[[ProveOptions, str], ProveOptions],
    broker: Broker | None,
) -> int:
    """Prove the suite, show what comes out, and return the exit status."""
    _require_fitting(options)
    targets = suite_files(files)
    jobs = options.jobs or processors()
    journal = Journal(JOURNAL, resume=options.resume)
    if journal.damaged:
        click.echo(f"note: {JOURNAL} is cut or damaged from line {journal.damaged} on: that is done again", err=True)
    timeout = float("inf") if options.deadline and not _is_given("timeout") else options.timeout
    suite = Suite(
        targets,
        lambda target: _way(own_options(options, target), min(2, jobs)),
        jobs,
        journal,
        timeout,
        options.deadline or float("inf"),
        broker,
        _printer(options),
    )
    try:
        suite.run()
    finally:
        journal.close()
    rows = [_row(state) for state in suite.specs.values()]
    result = SuiteResult(rows, suite.errors, suite.elapsed, _changes(suite, rows, options.engines), files=len(targets),
                         stopped=suite.stopped.status if suite.stopped else 0)  # fmt: skip
    emit([json.dumps(suite_json(result))] if options.as_json else suite_table(result))
    if suite.stopped:
        click.echo(f"note: {suite.stopped.word}; --resume goes on with what is decided", err=True)
    return result.status


def _require_fitting(options: ProveOptions) -> None:
    """SpecError for options that are about one spec's runs."""
    others = {
        "--html": options.html,
        "--plot": options.plot,
        "--output": options.reports,
        "--trace": options.traces,
        "--write-test": options.tests,
        "--witness": options.witness,
        "--json-lines": options.as_events,
        "--deterministic": options.deterministic,
    }
    for name, value in others.items():
        if value:
            raise SpecError(f"{name} is not for suites", write="--json, --certificates, or prove without --suite")


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _way(options: ProveOptions, jobs: int) -> ProofWay:
    settings = Settings(
        options.timeout,
        jobs,
        options.engines,
        options.props,
        options.memory and options.memory * MEGABYTE,
        options.blocks,
        options=options.settings,
        bound=options.bound,
        strict=options.strict,
    )
    return ProofWay(
        settings,
        SourceOptions(options.integers, options.predicates, options.expressions, bodies=options.compositional),
        None if options.no_cache else FOLDER,
        options.certificates,
        is_sandboxed(),
        options.compositional,
        options.reachable,
    )


def _printer(options: ProveOptions) -> Callable[[str, SpecState | str], None]:
    """A function that shows what is new."""

    def show(what: str, about: SpecState | str) -> None:
        if isinstance(about, str):
            click.echo(f"error: {about}", err=True)
        elif what == "alarm":
            click.echo(f"ALARM: {about.title}: {next(reversed(about.alarms))}", err=True)
        elif options.as_json or options.quiet:
            return
        elif what == "verdict":
            row = next(reversed(about.rows.values()))
            if row["verdict"] == "falsified":
                emit([f"  falsified  {about.title}  {row['name']}  {row['engine']}, step {row['k']}"], flush=True)
        elif what in ("turn", "resumed"):
            emit([spec_line(_row(about)) + (" (journal)" if what == "resumed" else "")], flush=True)

    return show


def _row(state: SpecState) -> SpecRow:
    rows = [state.rows[name] for name in state.properties if name in state.rows]
    missing = [name for name in state.properties if name not in state.rows]
    file = state.file.partition("::")[0]
    return SpecRow(
        file, state.name, rows, missing, state.seconds, state.status, [*state.warnings], [*state.alarms], state.error
    )


def _changes(suite: Suite, rows: Sequence[SpecRow], engines: Sequence[str]) -> list[ChangeRow]:
    """The differences from the last run; a run that was stopped is not kept. Verdicts of other engines are no measure
    of whether a property is flaky."""
    if suite.stopped:
        return []
    sources = {state.title: " ".join((state.source, *engines)) for state in suite.specs.values()}
    verdicts = [
        NightVerdict(
            os.path.relpath(spec.file), spec.name, row["name"], sources[spec.title], row["verdict"], row["seconds"]
        )
        for spec in rows
        for row in spec.properties
    ]
    try:
        with closing(History(HISTORY)) as history:
            changes = history.add(verdicts, suite.elapsed)
    except SpecError as why:  # the verdicts are right without it
        click.echo(f"note: {why.message}; nothing is compared with the last run", err=True)
        return []
    return [
        ChangeRow(
            c.kind, c.verdict.name, c.verdict.verdict, c.before, c.verdict.seconds, c.seconds, c.nights, c.decided
        )
        for c in changes
    ]
