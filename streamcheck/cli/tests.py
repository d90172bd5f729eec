"""`streamcheck tests FILE -o DIR`."""

from __future__ import annotations

import json

import click

from streamcheck.api.results import require_specification
from streamcheck.api.suite import write_suite
from streamcheck.cli.needs import json_option
from streamcheck.cli.options import SECONDS, log_options, sandbox_option, target_of
from streamcheck.cli.output import emit
from streamcheck.run.prove import Settings
from streamcheck.run.source import read
from streamcheck.run.strategy import processors
from streamcheck.run.suites import suite_of


@click.command(name="tests", short_help="Write tests that cover each branch and condition.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option("-o", "directory", required=True, metavar="DIR", help="The folder for the tests.")
@click.option("--timeout", type=SECONDS, default=60.0, show_default=True, help="Seconds for each spec.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processors to plan for; else as many as there are.")
@sandbox_option
@log_options
@json_option
def command(file: str, directory: str, timeout: float, jobs: int | None, verbose: int, as_json: bool) -> int:
    """Write few runs that cover each branch, premise, trigger and mode, and each condition of a decision (MC/DC).

    The runs are files in CSV, with a file for pytest and one in C for the compiled monitor. A goal that no run reaches
    is proved to be so, or listed as open. Exit status: 3 if a goal is open, else 0.
    """
    target = target_of(file)
    rows, is_open = [], False
    for problem in read(target):
        suite = suite_of(require_specification(problem), Settings(timeout, jobs or processors()))
        answer = write_suite(suite, target.path, directory)
        is_open |= suite.count("open") > 0
        if as_json:
            rows.append(answer.to_json())
            continue
        emit([str(answer), f"  written: {', '.join(answer.written)}"])
        if answer.note:
            click.echo(f"note: no test in C: {answer.note}", err=True)
    if as_json:
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
    return 3 if is_open else 0
