"""`streamcheck watch FILE`: verdicts after every save."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

import click

from streamcheck.cli.live import NOTHING, Live
from streamcheck.cli.options import color_option, log_options, proof_options, sandbox_option, target_of, trace_options
from streamcheck.core.errors import SpecError
from streamcheck.core.printable import visible
from streamcheck.core.types import plural
from streamcheck.problem.result import Result, Verdicts
from streamcheck.report.trace import TraceOptions, require_rows
from streamcheck.run.cache import Cache
from streamcheck.run.director import Director
from streamcheck.run.prove import Alarm, Settings, prove
from streamcheck.run.saves import Saves
from streamcheck.run.source import Target, check_file, read
from streamcheck.run.standby import Standby
from streamcheck.run.stop import Stopped
from streamcheck.run.strategy import processors

EVERY = 0.02  # seconds between looks at the files
CALM = 0.1  # the same while a proof goes on
EXPLANATION, LONGEST_EXPLANATION = 0.05, 1.0


@click.command(name="watch", short_help="Prove a spec again whenever it is saved.")
@click.argument("file", metavar="FILE[::SPEC]")
@proof_options("Seconds for each spec, after each save.")
@color_option
@trace_options
@sandbox_option
@log_options
def command(
    file: str,
    props: tuple[str, ...],
    timeout: float,
    jobs: int | None,
    no_cache: bool,
    color: str,
    full: bool,
    rows: tuple[str, ...],
    steps: tuple[int, int] | None,
    verbose: int,
) -> int:
    """Prove a spec, and again whenever its file is saved, or one that it imports.

    What an edit does not touch is kept, and checked again. After the first time, only verdicts that are new are shown.
    A save while a proof goes on begins it anew. Ctrl-C ends.
    """
    import_module("streamcheck.public")  # once, and not in each sandbox
    import_module("streamcheck.lang.flatten")
    target, trace = target_of(file), TraceOptions(full, rows, steps)
    check_file(target.path)  # one that is away later is waited for
    settings = Settings(
        timeout,
        jobs or processors(),
        props=props,
        explain=min(LONGEST_EXPLANATION, timeout * EXPLANATION),
        cache=None if no_cache else Cache(),
    )
    shown: dict[tuple[str, str], str] = {}
    try:
        saves = None
        while True:
            with Standby() as standby:  # its solvers load while nobody saves
                while saves is not None and not saves.are_outdated:
                    time.sleep(EVERY)
                saves = Saves(target.path)
                view = partial(Watching, saves, shown, color=color, progress=not verbose, trace=trace)
                stopped = _prove_all(target, settings, trace, view, standby)
            if stopped:
                return stopped
    except Stopped as stopped:
        return stopped.status


def _prove_all(
    target: Target, settings: Settings, trace: TraceOptions, view: Callable[[], Watching], standby: Standby
) -> int:
    """Show the verdicts on every spec of the file, or the mistake in it; stop where it is saved again. Returns the exit
    status that a signal asks for, else 0."""
    try:
        problems = read(target, settings.timeout)
        require_rows(problems, trace.rows)
        for problem in problems:
            with view() as audience:
                verdicts = prove(problem, settings, audience, standby)
            if audience.outdated:
                return 0
            audience.finish(verdicts)
            for alarm in verdicts.alarms:
                click.echo(f"ALARM: {alarm}", err=True)
            if verdicts.stopped:
                return verdicts.stopped
    except SpecError as mistake:
        click.echo(f"error: {visible(str(mistake))}", err=True)
    except Alarm as contradiction:
        click.echo(f"ALARM: {contradiction}", err=True)
    return 0


class Watching(Live):
    """Shows the verdicts that have not been shown, then how many there are of each kind."""

    def __init__(self, saves: Saves, shown: dict[tuple[str, str], str], **options: Any) -> None:
        super().__init__(**options)
        self.saves, self.shown = saves, shown
        self.outdated = False
        self._looked = self.began

    def __enter__(self) -> Watching:
        return self

    def watch(self, director: Director) -> None:
        super().watch(director)
        now = time.monotonic()
        if now - self._looked >= CALM:
            self._looked = now
            if self.saves.are_outdated:
                self.outdated = True
                raise Stopped("saved again", 0)

    def finish(self, verdicts: Verdicts, _saved: Mapping[str, str] = NOTHING) -> None:
        super().finish(verdicts)
        counts = Counter(r.verdict for r in verdicts.results)
        words = [f"{counts[word]} {word}" for word in ("proved", "falsified", "unknown") if counts[word]]
        kept = sum(r.kept for r in verdicts.results)
        words += [f"{kept} of them kept" if kept else "none kept"]
        at = time.strftime("%H:%M:%S")
        self._show([f"  {at}  {plural(len(verdicts.results), 'property')}: {', '.join(words)}; {self._elapsed()}"])

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self.began:.2f} s"

    def _show_result(self, result: Result) -> None:
        assert self.report is not None
        key = self.report.problem.name, result.name
        if result.kept and self.shown.get(key) == result.verdict:
            del self._claims[result.name]
        else:
            super()._show_result(result)
        self.shown[key] = result.verdict
