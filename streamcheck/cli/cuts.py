"""`streamcheck cuts FILE`."""

from __future__ import annotations

import click

from streamcheck.cli.needs import NeedsOptions, answer, element_options, json_option
from streamcheck.cli.options import log_options, proof_options, sandbox_option, trace_options
from streamcheck.report.trace import TraceOptions
from streamcheck.run.needs import Over, Wishes


@click.command(name="cuts", short_help="Show which equations or assumptions break a property when they fail.")
@click.argument("file", metavar="FILE[::SPEC]")
@proof_options("Seconds for each spec.")
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="Only sets of at most N elements.")
@element_options
@sandbox_option
@log_options
@click.option("--quiet", is_flag=True, help="No runs.")
@trace_options
@json_option
def command(
    file: str,
    props: tuple[str, ...],
    timeout: float,
    jobs: int | None,
    no_cache: bool,
    most: int | None,
    over: Over,
    only: tuple[str, ...],
    verbose: int,
    quiet: bool,
    full: bool,
    rows: tuple[str, ...],
    steps: tuple[int, int] | None,
    as_json: bool,
) -> int:
    """Show the minimal sets of elements that break a proved property when they are free, the smallest first.

    Each has a run, which has been replayed. Fewer elements never break the property: the proofs that show it have been
    checked. Exit status as of `why`.
    """
    options = NeedsOptions(props, timeout, jobs, no_cache, as_json, quiet, TraceOptions(full, rows, steps))
    return answer(file, Wishes("cuts", over, only, most), options)
