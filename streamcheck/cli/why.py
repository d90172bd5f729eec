"""`streamcheck why FILE`."""

from __future__ import annotations

import click

from streamcheck.cli.needs import NeedsOptions, answer, element_options, json_option
from streamcheck.cli.options import log_options, proof_options, sandbox_option
from streamcheck.run.needs import Over, Wishes


@click.command(name="why", short_help="Show what a proved property needs: equations, assumptions, inputs.")
@click.argument("file", metavar="FILE[::SPEC]")
@proof_options("Seconds for each spec.")
@click.option("--minimal", is_flag=True, help="Ask of each element if the property needs it: a run shows that it does.")
@click.option("--all", "all_cores", is_flag=True, help="Find all minimal cores, as far as the time goes.")
@element_options
@sandbox_option
@log_options
@json_option
def command(
    file: str,
    props: tuple[str, ...],
    timeout: float,
    jobs: int | None,
    no_cache: bool,
    minimal: bool,
    all_cores: bool,
    over: Over,
    only: tuple[str, ...],
    verbose: int,
    as_json: bool,
) -> int:
    """Show the elements of a spec that suffice for each of its proved properties, and those that none of them needs.

    An element is the equation of a named stream, a delay, or an assumption. A core is a set of them with which the
    property is proved while all others are free: any value at every step, the assumption dropped. Exit status: 1 if a
    property is falsified, 3 if one is unknown or a question was left open, else 0.
    """
    wishes = Wishes("all" if all_cores else "minimal" if minimal else "one", over, only)
    return answer(file, wishes, NeedsOptions(props, timeout, jobs, no_cache, as_json))
