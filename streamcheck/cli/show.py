"""`streamcheck show FILE --as …`: each stage of a spec, and other tools' languages."""

from __future__ import annotations

import json
from typing import Literal

import click

from streamcheck.api.stages import LANGUAGES, READABLE, Stage, plain_specification, stage_text
from streamcheck.cli.options import program_options, sandbox_option, target_of
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.problem.specification import Specification
from streamcheck.run.source import SourceOptions, one, read


@click.command(name="show", short_help="Print a stage of a spec, or export it to another tool's language.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option(
    "--as",
    "stage",
    type=click.Choice([*READABLE, "json", *LANGUAGES]),
    default="equations",
    show_default=True,
    help="equations: cells and wires; system: the transition system; graph: Graphviz DOT, for programs the automaton; "
    "json: the complete spec, accepted in place of the file; lustre: for Kind 2; vmt: for ic3ia and Pono; "
    "chc: Horn clauses for Spacer and Golem; aut: the automaton of a program; smt2: the queries of k steps.",
)
@click.option("--steps", type=click.IntRange(min=0), default=10, show_default=True, help="Number of steps of smt2.")
@program_options
@sandbox_option
def command(file: str, stage: Stage, steps: int, integers: Literal["c", "math"], data_model: str, blocks: bool) -> None:
    """Print a stage of a spec on its way to proofs and C, or export it for another tool."""
    target = target_of(file)
    specs = read(target, reading=SourceOptions(integers, data_model=data_model))
    if not blocks and any(isinstance(problem, Specification) for problem in specs):
        raise SpecError(f"{target.path}: --no-blocks is for programs (.c, .aut)")
    for warning in (warning for problem in specs for warning in problem.warnings):
        click.echo(f"note: {warning}", err=True)
    if stage == "json":
        rows = [plain_specification(problem) for problem in specs]
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
        return
    shown = specs if stage in READABLE else [one(specs, target)]
    emit(stage_text(problem, stage, blocks=blocks, steps=steps).rstrip("\n") for problem in shown)
