"""`streamcheck realizable FILE`: is there a component that keeps all properties?"""

from __future__ import annotations

import json
from dataclasses import replace

import click

from streamcheck.api.realizability import RealizabilityResult
from streamcheck.cli.options import SECONDS, log_options, sandbox_option, target_of
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.report.realizability import realizability_json
from streamcheck.run.realizable import realizable
from streamcheck.run.source import read_specs

STATUS = {"realizable": 0, "unrealizable": 1, "unknown": 3}


@click.command(name="realizable", short_help="Decide if some component keeps all properties, and make one.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option("--timeout", type=SECONDS, default=60.0, show_default=True, help="Seconds for each spec.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processors to plan for; else as many as there are.")
@click.option("-o", "output", metavar="FILE.py", help="Write the implementation as a spec.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list, an object for each spec, and nothing else.")
@sandbox_option
@log_options
def command(file: str, timeout: float, jobs: int | None, output: str | None, as_json: bool, verbose: int) -> int:
    """Decide if some component keeps all properties of a spec, for all inputs that meet its assumptions.

    The component chooses the outputs, which are the spec's `unknown`s, at each step after it has seen the inputs.
    Realizable: an implementation, a term for each output, which has been proved. Unrealizable: properties that cannot
    be kept together, and a run that ends without outputs. Then, if the environment can meet the assumptions for ever,
    and if any inputs and outputs keep what no component keeps. Exit status 0: realizable; 1: unrealizable, or
    assumptions that cannot be met; 3: unknown.
    """
    target = target_of(file)
    specs = read_specs(target)
    if target.path.endswith(".lus") and target.spec is None:  # the contract of an imported node counts if it is named
        specs = [named for spec in specs for named in read_specs(replace(target, spec=spec.name))]
    if output is not None and len(specs) > 1:
        choices = ", ".join(f"{target.path}::{s.name}" for s in specs)
        raise SpecError(f"{target.path} holds several specs, and -o is one file", write=f"one of {choices}")
    rows, statuses = [], []
    for specification in specs:
        for warning in specification.warnings if not as_json else ():
            click.echo(f"note: {warning}", err=True)
        result = RealizabilityResult(realizable(specification, timeout, jobs))
        if output is not None:
            result.write(output)
        if as_json:
            rows.append(realizability_json(result.answer))
        else:
            emit([str(result)])
        statuses += [STATUS[result.verdict], *_environment_status(result)]
    if as_json:
        emit([json.dumps(rows)])
    return next((status for status in (1, 3) if status in statuses), 0)


def _environment_status(result: RealizabilityResult) -> list[int]:
    """That of assumptions which no environment can meet for ever."""
    environment = result.answer.environment
    return [STATUS["unrealizable"]] if environment is not None and environment.verdict == "unrealizable" else []
