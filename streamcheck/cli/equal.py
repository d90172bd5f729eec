"""`streamcheck equal A B`."""

from __future__ import annotations

import time
from typing import Any

import click

from streamcheck.cli.options import (
    cache_option,
    color_option,
    engine_options,
    evidence_options,
    log_options,
    sandbox_option,
    search_options,
    target_of,
    time_options,
    trace_options,
)
from streamcheck.cli.prove import ProveOptions, prove_problems
from streamcheck.core.errors import SpecError
from streamcheck.run.standby import Standby


@click.command(name="equal", short_help="Prove that two specs have the same outputs.")
@click.argument("a", metavar="A[::SPEC]")
@click.argument("b", metavar="B[::SPEC]")
@click.option("--outputs", multiple=True, metavar="NAME", help="Only this output; * matches anything (repeatable).")
@click.option(
    "--rename",
    "renames",
    multiple=True,
    metavar="A=B",
    callback=lambda _, __, given: _renames(given),
    help="This input or output of A has another name in B (repeatable).",
)
@click.option("--refines", is_flag=True, help="Prove that A may take the place of B; not the other way round.")
@time_options("Seconds for the whole run.")
@cache_option
@search_options
@engine_options
@evidence_options
@sandbox_option
@log_options
@color_option
@trace_options
def command(
    a: str, b: str, outputs: tuple[str, ...], renames: tuple[tuple[str, str], ...], *, refines: bool, **options: Any
) -> int:
    """Prove that two specs have the same outputs for all inputs, or show the shortest run on which they differ.

    The outputs are triggers (the steps at which they are called, and the arguments) and observers, by name; inputs go
    together by name and type. Exit status as of `prove`.
    """
    asked = ProveOptions(**options)
    deadline = time.monotonic() + asked.timeout
    standby = click.get_current_context().with_resource(Standby())
    from streamcheck.run.evidence_files import ComparedFiles
    from streamcheck.run.sides import read_sides
    from streamcheck.transform.product import Comparison, product

    targets = target_of(a), target_of(b)
    first, second = read_sides(*targets, renames, asked.timeout)
    comparison = Comparison(outputs, renames, refines)
    compared = ComparedFiles((first.name, second.name), targets[1].path, comparison)
    return prove_problems([(targets[0].path, product(first, second, comparison))], asked, deadline, standby, compared)


def _renames(given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    rows = []
    for text in given:
        mine, equals, its = text.partition("=")
        if not (mine and equals and its):
            raise SpecError(f"--rename {text}: write A=B, as in --rename speed=v")
        rows.append((mine, its))
    return tuple(rows)
