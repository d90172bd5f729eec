"""The engines and their options, as objects and as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from streamcheck.api.arguments import check_arguments
from streamcheck.engines.settings import Choice, Number, Option, Switch, options_of, setting_text
from streamcheck.run.registry import ENGINES, EngineEntry, Start, entry_of

WIDTH = 110


@dataclass(frozen=True, slots=True, repr=False)
class EngineInfo:
    """One engine: `name`, `summary`, and its `options` with their defaults, by the name that `prove(options=…)` has.
    `str` is what `streamcheck engines` prints."""

    entry: EngineEntry

    @property
    def name(self) -> str:
        """The name that `prove(engines=[…])` has."""
        return self.entry.name

    @property
    def summary(self) -> str:
        """A sentence about what it decides, and how."""
        return self.entry.summary

    @property
    def needs(self) -> tuple[str, ...]:
        """The engines that run together with it, as it needs their facts."""
        return self.entry.needs

    @property
    def options(self) -> dict[str, bool | int | str]:
        """The defaults of its options, by `engine.option`."""
        return {f"{self.name}.{option.name}": option.default for option in options_of(self.entry.options)}

    @check_arguments
    def to_json(self) -> dict[str, Any]:
        """The object that `streamcheck engines --json` prints."""
        row = self.entry
        starts = (("spec", row.spec), ("program", row.program))
        return {
            "name": row.name,
            "summary": row.summary,
            "doing": row.doing,
            "needs": list(row.needs),
            "starts": {what: start.after for what, start in starts if start is not None},
            "options": [_option_json(option) for option in options_of(row.options)],
        }

    def __str__(self) -> str:
        return "\n".join(_lines(self.entry))

    def __repr__(self) -> str:
        return f"<engine {self.name}>"


@check_arguments
def list_engines(*names: str) -> list[EngineInfo]:
    """The engines of these names, or all, as `streamcheck engines` lists them."""
    rows = [entry_of(name) for name in names] or list(ENGINES.values())
    return [EngineInfo(row) for row in rows]


def _lines(row: EngineEntry) -> Iterator[str]:
    yield row.name
    yield from _wrap(row.summary, 4)
    yield f"    {_when(row)}"
    if row.needs:
        yield f"    runs together with {', '.join(row.needs)}, whose facts it needs; a violation may be theirs"
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
