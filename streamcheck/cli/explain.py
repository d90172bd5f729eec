"""`streamcheck explain FILE --prop NAME`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import click

from streamcheck.api.explanation import explanation_lines
from streamcheck.cli.live import Live
from streamcheck.cli.options import (
    SECONDS,
    cache_option,
    color_option,
    engine_options,
    log_options,
    sandbox_option,
    target_of,
    trace_options,
)
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Specification
from streamcheck.report.trace import TraceOptions, require_rows
from streamcheck.run.cache import Cache
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import read_specs
from streamcheck.run.strategy import processors

EXPLANATION = 0.3  # the share of the time


@click.command(name="explain", short_help="Explain a verdict.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option(
    "--prop", "props", multiple=True, metavar="NAME", help="Only this property; * matches anything (repeatable)."
)
@click.option(
    "--timeout",
    type=SECONDS,
    default=60.0,
    show_default=True,
    help="Seconds for each spec.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processors to plan for; else as many as there are.")
@cache_option
@engine_options
@sandbox_option
@log_options
@color_option
@trace_options
def command(
    file: str,
    props: tuple[str, ...],
    timeout: float,
    jobs: int | None,
    no_cache: bool,
    settings: dict[str, str],
    verbose: int,
    color: str,
    full: bool,
    rows: tuple[str, ...],
    steps: tuple[int, int] | None,
) -> int:
    """Explain the verdict on each property of a spec.

    Proved: the invariant, as properties in the spec's own syntax. Falsified: the values and lines that make it false,
    from the last step back. Unknown: a step on which it does not follow from the steps before, what is known of it, and
    what to try. Exit status as of `prove`.
    """
    statuses = []
    cache = None if no_cache else Cache()
    seconds = timeout * EXPLANATION
    specifications = read_specs(target_of(file))
    require_rows(specifications, rows)
    for specification in specifications:
        limits = Settings(timeout, jobs or processors(), (), props, options=settings, explain=seconds, cache=cache)
        more = partial(_explanation, specification, seconds, set())
        live = AtTheEnd(progress=not verbose, color=color, trace=TraceOptions(full, rows, steps), more=more)
        with live:
            verdicts = prove(specification, limits, live)
        live.finish(verdicts)
        for alarm in verdicts.alarms:
            click.echo(f"ALARM: {alarm}", err=True)
        statuses.append(verdicts.status)
    return next((status for status in (4, 143, 130, 1, 3) if status in statuses), 0)


class AtTheEnd(Live):
    """Shows progress only: to explain takes time, which the engines should have."""

    def hear(self, result: Result) -> None: ...


def _explanation(specification: Specification, seconds: float, taken: set[str], result: Result) -> Iterator[str]:
    return explanation_lines(specification, result, seconds, taken)
