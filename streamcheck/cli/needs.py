"""The options and the output of `why` and `cuts`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import click

from streamcheck.api.results import require_specification
from streamcheck.cli.options import target_of
from streamcheck.cli.output import emit, terminal_width
from streamcheck.problem.needs import AllNeeds
from streamcheck.report.needs import cut_lines, needs_json, why_lines
from streamcheck.report.trace import AS_USUAL, TraceOptions
from streamcheck.run.cache import Cache
from streamcheck.run.needs import Wishes, needs_of
from streamcheck.run.prove import Settings
from streamcheck.run.source import read
from streamcheck.run.strategy import processors


def element_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--over` and `--only`: the elements that may be free."""
    over = click.option(
        "--over",
        type=click.Choice(["all", "equations", "assumptions"]),
        default="all",
        show_default=True,
        help="The kind of elements that may be free: the others are kept.",
    )
    only = click.option(
        "--only", multiple=True, metavar="NAME", help="Only this element may be free; * matches anything (repeatable)."
    )
    return over(only(command))


def json_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--json`."""
    text = "One JSON object (a list with several specs) and nothing else."
    return click.option("--json", "as_json", is_flag=True, help=text)(command)


@dataclass(frozen=True, slots=True)
class NeedsOptions:
    """The options, as given."""

    props: tuple[str, ...]
    timeout: float
    jobs: int | None
    no_cache: bool
    as_json: bool
    quiet: bool = False
    trace: TraceOptions = AS_USUAL


def answer(file: str, wishes: Wishes, options: NeedsOptions) -> int:
    """Print what the properties of each spec need. Returns the exit status."""
    target = target_of(file)
    rows, statuses = [], []
    trace = replace(options.trace, width=terminal_width())
    for problem in read(target):
        cache = None if options.no_cache else Cache()
        settings = Settings(options.timeout, options.jobs or processors(), props=options.props, cache=cache)
        whole = needs_of(require_specification(problem), settings, wishes)
        statuses.append(_status(whole))
        if options.as_json:
            rows.append(needs_json(whole, target.path))
        else:
            emit(cut_lines(whole, trace, runs=not options.quiet) if wishes.wish == "cuts" else why_lines(whole))
    if options.as_json:
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
    return next((status for status in (1, 3) if status in statuses), 0)


def _status(whole: AllNeeds) -> int:
    verdicts = {needs.verdict for needs in whole.properties}
    if "falsified" in verdicts:
        return 1
    return 3 if "unknown" in verdicts or any(needs.open for needs in whole.properties) else 0
