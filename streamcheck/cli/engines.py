"""`streamcheck engines`: the engines and their options."""

from __future__ import annotations

import json

import click

from streamcheck.api.engines import list_engines
from streamcheck.cli.output import emit


@click.command(name="engines", short_help="List the engines and their options.")
@click.argument("names", metavar="[ENGINE]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON list and nothing else.")
def command(names: tuple[str, ...], as_json: bool) -> None:
    """List the engines: what each is for, when a run starts it, and its options with their defaults.

    Options are set with `streamcheck prove --set ENGINE.OPTION=VALUE`.
    """
    engines = list_engines(*names)
    emit([json.dumps([engine.to_json() for engine in engines])] if as_json else map(str, engines))
