"""`streamcheck compile FILE -o DIR`."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, replace
from typing import Any, Literal

import click

from streamcheck import __version__
from streamcheck.cli.events import Silent
from streamcheck.cli.live import Live
from streamcheck.cli.options import (
    SECONDS,
    cache_option,
    color_option,
    command_began,
    engine_options,
    log_options,
    require_other_files,
    sandbox_option,
    target_of,
)
from streamcheck.cli.output import emit
from streamcheck.codegen.unit import CodeOptions
from streamcheck.core.errors import SpecError
from streamcheck.deliver.deliver import CompileRequest, CompileResult, compile_spec, write
from streamcheck.deliver.last_bits import machine_measured
from streamcheck.problem.places import Handlers
from streamcheck.report.verdicts_json import verdicts_json
from streamcheck.run.cache import Cache
from streamcheck.run.prove import Alarm, Settings
from streamcheck.run.sampler import sampled_rows
from streamcheck.run.source import read_specs
from streamcheck.run.strategy import processors

ALARM = 4
MOST_SAMPLES = 1000  # steps of a spec's samples that a test replays


@click.command(name="compile", short_help="Compile a spec to C99 and prove the C equal to it.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option("-o", "directory", metavar="DIR", required=True, help="Directory for the files; created if missing.")
@click.option(
    "--abi",
    type=click.Choice(["context", "copilot"]),
    default="context",
    show_default=True,
    help="context: NAME_init and NAME_step with the caller's state; copilot: global variables and step().",
)
@click.option(
    "--handlers",
    type=click.Choice(["functions", "context", "table"]),
    default="functions",
    show_default=True,
    help="How handlers are called: as functions; as functions that get the `void *user` given to NAME_init (context); "
    "through a table of function pointers given to NAME_init, with the `user` too (table).",
)
@click.option("--prefix", metavar="TEXT", default="", help="Begin every name that other files see, and the files'.")
@click.option("--assumptions", is_flag=True, help="Add NAME_assumptions_hold, which says if all have been true so far.")
@click.option("--observers", is_flag=True, help="Add the observers' values to the state.")
@click.option(
    "--with",
    "extras",
    metavar="WHAT",
    multiple=True,
    help="Also write: example (a main.c), test (a unit test), trace (JSON), cmake (CMake and pkg-config), "
    "arduino, ros2, cfs, fprime (a wrapper), rust (a no_std crate), or what the templates in a folder make.",
)
@click.option("--narrow", is_flag=True, help="Prove ranges for Int streams and use machine types for them.")
@click.option(
    "--optimize",
    type=click.Choice(["size", "speed"]),
    default="size",
    show_default=True,
    help="size: equal work is a loop; speed: one statement after the other.",
)
@click.option("--pack", is_flag=True, help="Keep Bool state in bits: less memory, more instructions.")
@click.option("--strict-math", is_flag=True, help="Refuse functions of math.h whose last bit no standard promises.")
@click.option(
    "--measure-math", is_flag=True, help="Measure how often this machine's functions of math.h round wrongly."
)
@click.option("--unproven", is_flag=True, help="Compile even if a property is not proved (the header notes it).")
@click.option("--no-validate", is_flag=True, help="Do not prove the C equal to the spec (the header notes it).")
@click.option(
    "--timeout",
    type=SECONDS,
    default=60.0,
    show_default=True,
    help="Seconds for proving the properties.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes (default: one per processor).")
@cache_option
@engine_options
@sandbox_option
@log_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object (a list with several specs) and nothing else.")
@click.option("--html", metavar="FILE", help="Write the verdicts and the C beside the spec as a page.")
@color_option
def command(
    file: str,
    directory: str,
    abi: str,
    handlers: Handlers,
    prefix: str,
    assumptions: bool,
    observers: bool,
    extras: tuple[str, ...],
    narrow: bool,
    optimize: Literal["size", "speed"],
    pack: bool,
    strict_math: bool,
    measure_math: bool,
    unproven: bool,
    no_validate: bool,
    timeout: float,
    jobs: int | None,
    no_cache: bool,
    settings: dict[str, str],
    verbose: int,
    as_json: bool,
    html: str | None,
    color: str,
) -> int:
    """Compile a spec to C99: constant time and memory, no heap, loops with constant bounds only.

    The properties are proved first, and the C is read back and proved equal to the spec. Exit status: 0 written;
    1 or 3 not written, because a property is falsified or unknown; 2 the command or the spec is wrong; 4 not written,
    because the C could not be proved equal to the spec, which is an error in streamcheck.
    """
    target = target_of(file)
    require_other_files([target.path], [html])
    deadline = command_began() + timeout
    cache = None if no_cache else Cache()
    rows, statuses, compiled = [], [], []
    owners: dict[str, str] = {}
    for specification in read_specs(target):
        limits = Settings(max(0.0, deadline - time.monotonic()), jobs or processors(), options=settings, cache=cache)
        options = CodeOptions(abi == "copilot", observers, handlers, prefix, assumptions, optimize, pack)
        samples = sampled_rows(replace(target, spec=specification.name), MOST_SAMPLES) if "test" in extras else []
        request = CompileRequest(
            options, unproven, not no_validate, narrow, strict_math, measure_math, extras, samples, limits
        )
        try:
            with Silent() if as_json else Live(progress=not verbose, color=color) as audience:
                result = compile_spec(specification, request, audience)
        except Alarm as contradiction:
            click.echo(f"ALARM: {contradiction}", err=True)
            return ALARM
        _refuse_overwriting(result, target.path, owners)
        paths = write(result, directory) if result.ready else []
        statuses.append(_status(result))
        compiled.append(result)
        if as_json:
            rows.append(_row(result, target.path, paths))
        else:
            audience.finish(result.verdicts)
            emit(result.summary(paths))
        for alarm in result.verdicts.alarms:
            click.echo(f"ALARM: {alarm}", err=True)
    if as_json:
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
    if html is not None:
        from streamcheck.api.reports import code_page

        code_page(compiled, target.path).write(html)
    return max(statuses, default=0)


def _refuse_overwriting(result: CompileResult, path: str, owners: dict[str, str]) -> None:
    """SpecError if a file beside the C is another spec's already. `owners`: the specs by their files."""
    name = result.verdicts.problem.name
    for file in result.extras:
        if owners.setdefault(file, name) != name:
            raise SpecError(
                f"{file} would be written for {owners[file]} and for {name}",
                write=f"streamcheck compile {path}::{name} -o a folder of its own",
            )


def _status(result: CompileResult) -> int:
    if result.unit is None:
        return result.verdicts.status
    return 0 if result.ready else ALARM


def _row(result: CompileResult, path: str, paths: list[str]) -> dict[str, Any]:
    row = verdicts_json(result.verdicts, path, {}) | {"version": __version__, "files": paths}
    if result.unit is not None:
        figures = result.unit.figures
        row["figures"] = {
            "state_bytes": figures.state,
            "local_bytes": figures.locals,
            "operations": figures.operations,
            "operations_by_kind": dict(figures.kinds),
            "longest_chain": figures.longest,
            "loop_rounds": figures.rounds,
        }
        row["interface"] = result.unit.interface
        if result.request.measure_math:
            row["math"] = {"measured": machine_measured(), "functions": [asdict(m) for m in result.last_bits]}
    if result.compilation is not None:
        row["compilation"] = {
            "command": result.compilation.command,
            "messages": list(result.compilation.messages),
        }
    if result.outcome is not None:
        row["validation"] = {
            "proved": result.outcome.is_proved,
            "claims": result.outcome.claims,
            "seconds": round(result.outcome.seconds, 3),
            "failures": list(result.outcome.failures),
        }
    return row
