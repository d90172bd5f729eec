"""`streamcheck engines`: the engines and their options."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any, assert_never

import click

from streamcheck.cli.output import emit
from streamcheck.engines.settings import Choice, Number, Option, Switch, options_of, setting_text
from streamcheck.run.registry import ENGINES, EngineEntry, Start, entry_of

WIDTH = 110


@click.command(name="engines", short_help="List the engines and their options.")
@click.argument("names", metavar="[ENGINE]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="One JSON list and nothing else.")
def command(names: tuple[str, ...], as_json: bool) -> None:
    """List the engines: what each is for, when a run starts it, and its options with their defaults.

    Options are set with `streamcheck prove --set ENGINE.OPTION=VALUE`.
    """
    rows = [entry_of(name) for name in names] or list(ENGINES.values())
    if as_json:
        emit([json.dumps([_json(row) for row in rows])])
    else:
        emit(line for row in rows for line in _lines(row))


def _lines(row: EngineEntry) -> Iterator[str]:
    yield row.name
    yield from _wrap(row.summary, 4)
    yield f"    {_when(row)}"
    yield f"    at work: {row.doing.format('N')}"
    for option in options_of(row.options):
        setting = f"{row.name}.{option.name}={setting_text(option.default)}"
        summary = option.summary if isinstance(option.kind, Switch) else f"{option.summary} ({option.values})"
        first, *more = _wrap(summary, 46)
        yield f"    {setting:40}  {first.strip()}"
        yield from more


def _wrap(text: str, indent: int) -> list[str]:
    margin = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)


def _when(row: EngineEntry) -> str:
    """The time at which a run on two processors starts the engine, as text."""
    starts = [f"{what} {_start(start)}" for what, start in (("specs", row.spec), ("programs", row.program)) if start]
    return f"starts: {', '.join(starts)}" if starts else f"starts: only with --engine {row.name}"


def _start(start: Start) -> str:
    return f"after {start.after:g} s" if start.after else "at once"


def _json(row: EngineEntry) -> dict[str, Any]:
    return {
        "name": row.name,
        "summary": row.summary,
        "doing": row.doing,
        "needs": list(row.needs),
        "starts": {
            what: start.after for what, start in (("spec", row.spec), ("program", row.program)) if start is not None
        },
        "options": [_option_json(option) for option in options_of(row.options)],
    }


def _option_json(option: Option) -> dict[str, Any]:
    row: dict[str, Any] = {"name": option.name, "default": option.default, "summary": option.summary}
    match option.kind:
        case Switch():
            return row | {"type": "bool"}
        case Number(least):
            return row | {"type": "int", "least": least}
        case Choice(values):
            return row | {"type": "choice", "values": list(values)}
    assert_never(option.kind)
