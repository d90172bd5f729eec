"""A proof while it goes on: verdicts as they fall, and on a terminal the progress below them.

A verdict is shown in the place that the spec gives it if the ones before it are there soon, and then where it falls.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from types import MappingProxyType, TracebackType
from typing import TypeAlias

from streamcheck.cli.colour import painter
from streamcheck.cli.output import emit, fold, terminal_width
from streamcheck.cli.progress import Lines
from streamcheck.core.types import plural
from streamcheck.problem.claim import Claim
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result, Verdicts
from streamcheck.report.trace import AS_USUAL, TraceOptions
from streamcheck.report.verdicts import Report, goal_word
from streamcheck.run.director import Director
from streamcheck.run.registry import ENGINES

PATIENCE = 0.5  # seconds before any progress is shown
EVERY = 0.1
HOLD = 1.0  # seconds that a verdict waits for the ones before it
MOST = 12  # open properties that are listed
More: TypeAlias = Callable[[Result], Iterable[str]]
NOTHING: Mapping[str, str] = MappingProxyType({})


class Live:
    """The audience of a proof at the command line. Use as a context manager, which leaves no progress behind."""

    def __init__(
        self,
        *,
        quiet: bool = False,
        progress: bool = True,
        color: str = "auto",
        ordered: bool = False,
        trace: TraceOptions = AS_USUAL,
        more: More = lambda _: (),
    ) -> None:
        self.quiet = quiet
        self.paint = painter(color)
        self.trace = trace
        self.more = more
        self.hold = math.inf if ordered else HOLD
        self.lines = Lines() if progress and sys.stderr.isatty() and os.environ.get("TERM") != "dumb" else None
        self.began = self.drawn = time.monotonic()
        self.report: Report | None = None
        self._claims: dict[str, Claim] = {}  # whose results have not been shown
        self._fallen: dict[str, tuple[Result, float]] = {}  # the same, with results, and since when

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self.lines:
            self.lines.clear()

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None:
        self.report = Report(problem, machine, bound, self.quiet, self.paint, self.trace, self.more)
        self._claims = {claim.name: claim for claim in problem.properties}
        self._show([self.report.title()])

    def hear(self, result: Result) -> None:
        self._fallen[result.name] = result, time.monotonic()

    def watch(self, director: Director) -> None:
        now = time.monotonic()
        self._show_fallen(now)
        if self.lines and now - self.began >= PATIENCE and now - self.drawn >= EVERY:
            self.drawn = now
            self.lines.draw(self._title(director), list(self._rows(director)))

    def finish(self, verdicts: Verdicts, _saved: Mapping[str, str] = NOTHING) -> None:
        """Show what has not been shown."""
        if self.report is None:
            self.begin(verdicts.problem, machine=verdicts.machine, bound=verdicts.bound)
        assert self.report is not None
        for result in verdicts.results:
            if result.name in self._claims:
                self._show_result(result)
        self._show(self.report.warnings(verdicts))

    def _show_fallen(self, now: float) -> None:
        while (first := next(iter(self._claims), None)) in self._fallen:
            self._show_result(self._fallen.pop(str(first))[0])
        # An earlier one is open.
        held_long = takewhile(lambda row: now - row[1][1] > self.hold, self._fallen.items())
        for name, (result, _) in list(held_long):
            del self._fallen[name]
            self._show_result(result)

    def _show_result(self, result: Result) -> None:
        assert self.report is not None
        del self._claims[result.name]
        self.report.trace = replace(self.trace, width=terminal_width())  # the window may have changed
        self._show(self.report.result(result))

    def _show(self, lines: Iterator[str] | list[str]) -> None:
        if self.lines:
            self.lines.clear()
        width = terminal_width()
        emit(lines if width is None else (fold(line, width) for line in lines))

    def _title(self, director: Director) -> str:
        assert self.report is not None
        count = plural(len(self.report.problem.properties), "property")
        return f"  {director.elapsed:.1f} s, {len(director.open_properties())} of {count} open"

    def _rows(self, director: Director) -> Iterator[tuple[str, str, str]]:
        """For each open property: its name, how far it holds, and who works on it."""
        names = director.open_properties()
        for name in names[:MOST]:
            reached = director.depth_of(name)
            depth = "" if reached is None else f"{goal_word(self._claims[name])} up to step {reached}"
            yield f"  … {name}", depth, _work(director, name)
        if len(names) > MOST:
            yield f"  … and {len(names) - MOST} more", "", ""


def _work(director: Director, name: str) -> str:
    if director.is_being_checked(name):
        return "a proof of it is being checked"
    texts = (ENGINES[work.engine].work_at(work.depth) for work in director.work_on(name))
    return "; ".join(dict.fromkeys(texts))
