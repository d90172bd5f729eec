"""`streamcheck mutants FILE`."""

from __future__ import annotations

import json
from dataclasses import replace

import click

from streamcheck.api.results import require_specification
from streamcheck.cli.needs import json_option
from streamcheck.cli.options import log_options, proof_options, sandbox_option, target_of, trace_options
from streamcheck.cli.output import emit, terminal_width
from streamcheck.report.mutants import mutant_lines, mutants_json
from streamcheck.report.trace import TraceOptions
from streamcheck.run.cache import Cache
from streamcheck.run.mutants import mutants_of
from streamcheck.run.prove import Settings
from streamcheck.run.source import read
from streamcheck.run.strategy import processors


@click.command(name="mutants", short_help="Show small changes of a spec that its properties do not notice.")
@click.argument("file", metavar="FILE[::SPEC]")
@proof_options("Seconds for each spec.")
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
    verbose: int,
    quiet: bool,
    full: bool,
    rows: tuple[str, ...],
    steps: tuple[int, int] | None,
    as_json: bool,
) -> int:
    """Change the equations of a spec in small ways, one at a time, and see if a proved property becomes false.

    A mutant is noticed by a property, which a run breaks; equivalent, which is proved; or not noticed: the properties
    are proved of it too, though a run shows another output. Exit status: 3 if a mutant is open, else 0.
    """
    target = target_of(file)
    found, is_open = [], False
    trace = replace(TraceOptions(full, rows, steps), width=terminal_width())
    for problem in read(target):
        settings = Settings(timeout, jobs or processors(), props=props, cache=None if no_cache else Cache())
        whole = mutants_of(require_specification(problem), settings)
        is_open |= whole.count("open") > 0
        if as_json:
            found.append(mutants_json(whole, target.path))
        else:
            emit(mutant_lines(whole, trace, runs=not quiet))
    if as_json:
        emit([json.dumps(found[0] if len(found) == 1 else found)])
    return 3 if is_open else 0
