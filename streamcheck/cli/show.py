"""`streamcheck show FILE --as …`: each stage of a spec."""

from __future__ import annotations

import json

import click

from streamcheck.cli.output import emit
from streamcheck.formats.equations_json import to_plain
from streamcheck.program.equations import Equations
from streamcheck.run.source import Target, read


def _equations(equations: Equations) -> str:
    from streamcheck.program.pretty import show_equations

    return show_equations(equations)


def _system(equations: Equations) -> str:
    from streamcheck.encode.to_system import to_system
    from streamcheck.report.system import show_system

    return show_system(to_system(equations))


def _graph(equations: Equations) -> str:
    from streamcheck.program.graph import show_graph

    return show_graph(equations)


STAGES = {"equations": _equations, "system": _system, "graph": _graph}


@click.command(name="show", short_help="Print a stage of a spec.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option(
    "--as",
    "stage",
    type=click.Choice([*STAGES, "json"]),
    default="equations",
    show_default=True,
    help="equations: cells and wires; system: the transition system; graph: Graphviz DOT; "
    "json: complete, and read again in place of the spec.",
)
def command(file: str, stage: str) -> None:
    """Print a stage of a spec on its way to proofs and C."""
    specs = read(Target.parse(file))
    if stage == "json":
        rows = [to_plain(e) for e in specs]
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
    else:
        emit(STAGES[stage](e).rstrip("\n") for e in specs)
