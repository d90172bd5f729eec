"""`streamcheck explain FILE --prop NAME`."""

from __future__ import annotations

from typing import Literal

import click

from streamcheck.api.explanation import Explaining
from streamcheck.cli.live import Live
from streamcheck.cli.options import (
    color_option,
    engine_options,
    log_options,
    program_options,
    proof_options,
    sandbox_option,
    target_of,
    trace_options,
)
from streamcheck.problem.result import Result
from streamcheck.report.trace import TraceOptions, require_rows
from streamcheck.run.cache import Cache
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import SourceOptions, read
from streamcheck.run.strategy import processors

EXPLANATION = 0.3  # the share of the time


@click.command(name="explain", short_help="Explain a verdict.")
@click.argument("file", metavar="FILE[::SPEC]")
@proof_options("Seconds for each spec.")
@program_options
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
    integers: Literal["c", "math"],
    data_model: str,
    blocks: bool,
    settings: dict[str, str],
    verbose: int,
    color: str,
    full: bool,
    rows: tuple[str, ...],
    steps: tuple[int, int] | None,
) -> int:
    """Explain the verdict on each property of a spec or a program.

    Proved: the invariant, as properties in the spec's own syntax, of a program as conditions at lines. Falsified: the
    values and lines that make it false, from the last step back. Unknown: a step on which it does not follow from the
    steps before, what is known of it, and what to try. Exit status as of `prove`.
    """
    statuses = []
    cache = None if no_cache else Cache()
    seconds = timeout * EXPLANATION
    problems = read(target_of(file), reading=SourceOptions(integers, data_model=data_model))
    require_rows(problems, rows)
    for problem in problems:
        limits = Settings(
            timeout, jobs or processors(), (), props, blocks=blocks, options=settings, explain=seconds, cache=cache
        )
        trace = TraceOptions(full, rows, steps)
        explaining = Explaining(problem, seconds, options=trace)
        live = AtTheEnd(progress=not verbose, color=color, trace=trace, more=explaining.lines)
        with live:
            verdicts = prove(problem, limits, live)
        explaining.results = verdicts.results
        live.finish(verdicts)
        for alarm in verdicts.alarms:
            click.echo(f"ALARM: {alarm}", err=True)
        statuses.append(verdicts.status)
    return next((status for status in (4, 143, 130, 1, 3) if status in statuses), 0)


class AtTheEnd(Live):
    """Shows progress only: to explain takes time, which the engines should have."""

    def hear(self, result: Result) -> None: ...
