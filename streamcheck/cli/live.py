"""Progress of a proof on a terminal: a line for each open property."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from streamcheck.problem.problem import Problem
from streamcheck.run.director import Director

PATIENCE = 0.5  # seconds before anything is shown
EVERY = 0.1
MOST = 12  # lines
PLAIN_EVERY = 10.0  # seconds between lines that do not overwrite each other


class Live:
    """Prints the progress of a proof. The director calls it periodically."""

    def __init__(self, problem: Problem, *, shown: bool) -> None:
        self.name = problem.name
        self.shown = shown
        self.terminal = sys.stderr.isatty()
        self.began = self.last = time.monotonic()
        self.lines = 0

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._clear()

    def __call__(self, director: Director) -> None:
        now = time.monotonic()
        every = EVERY if self.terminal else PLAIN_EVERY
        if not self.shown or now - self.began < PATIENCE or now - self.last < every:
            return
        self.last = now
        self._clear()
        lines = list(self._lines(director))
        sys.stderr.write("".join(line + "\n" for line in lines))
        sys.stderr.flush()
        self.lines = len(lines) if self.terminal else 0

    def _lines(self, director: Director) -> Any:
        engines = ", ".join(
            f"{engine} {depth}" for w in director.workers if w.child.alive for engine, depth in w.depths.items()
        )
        names = director.open_properties()
        for name in names[:MOST]:
            yield f"  … {name}  {engines}  {director.elapsed:.1f} s"
        if len(names) > MOST:
            yield f"  … and {len(names) - MOST} more"

    def _clear(self) -> None:
        if self.lines:
            sys.stderr.write(f"\x1b[{self.lines}A\x1b[J")
            sys.stderr.flush()
            self.lines = 0
