"""Lines at the bottom of a terminal that are drawn again and again.

They are cut to the width of the terminal. A terminal that was made narrower has wrapped them: the rows that this added
are removed before the next drawing.
"""

from __future__ import annotations

import math
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleDimensions
    from rich.live import Live
    from rich.text import Text

MARGIN = 2  # lines of the terminal that stay free
SHORTEST_NAME = 12  # cells
WORK = 6  # cells before work that has a line of its own


class Lines:
    """The lines, on standard error, which is a terminal."""

    def __init__(self) -> None:
        self._live: Live | None = None  # while there are lines
        self._drawn: list[int] = []  # the cells of each line on the terminal
        self._width = 0

    def draw(self, title: str, rows: list[tuple[str, str, str]]) -> None:
        from rich.console import Group

        live = self._live = self._live or _live()
        live.console.size = _terminal_size()
        width = live.console.width
        self._remove_wrapped(live.console)
        lines = _lines(title, rows, width - 1)[: max(1, live.console.height - MARGIN)]
        self._drawn, self._width = [line.cell_len for line in lines], width
        live.update(Group(*lines), refresh=True)

    def clear(self) -> None:
        if self._live is not None:
            self._live.console.size = _terminal_size()
            self._remove_wrapped(self._live.console)
            self._live.stop()
            self._live, self._drawn = None, []

    def _remove_wrapped(self, console: Console) -> None:
        from rich.control import Control
        from rich.segment import ControlType

        rows = sum(max(1, math.ceil(cells / console.width)) for cells in self._drawn)
        for _ in range(rows - len(self._drawn) if console.width < self._width else 0):
            console.control(Control((ControlType.ERASE_IN_LINE, 2), (ControlType.CURSOR_UP, 1)))


def _live() -> Live:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False)
    live.start()
    return live


def _terminal_size() -> ConsoleDimensions:
    """The terminal's own size: `COLUMNS` in the environment may be that of another one."""
    from rich.console import ConsoleDimensions

    columns, lines = os.get_terminal_size(sys.stderr.fileno())
    return ConsoleDimensions(columns or 80, lines or 24)  # a terminal that nobody has given a size has 0 and 0


def _lines(title: str, rows: list[tuple[str, str, str]], width: int) -> list[Text]:
    """The title and the rows in columns, each line at most so wide. What does not fit beside the first two columns has
    a line of its own."""
    from rich.text import Text

    texts = [tuple(map(Text, row)) for row in rows]
    names = min(max((name.cell_len for name, _, _ in texts), default=0), max(SHORTEST_NAME, width * 2 // 5))
    depths = max((depth.cell_len for _, depth, _ in texts), default=0)
    lines = [Text(title)]
    for name, depth, work in texts:
        name.truncate(names, overflow="ellipsis", pad=True)
        depth.pad_right(depths - depth.cell_len)
        beside = Text("  ").join([name, depth, work])
        lines += [beside] if beside.cell_len <= width else [Text("  ").join([name, depth]), Text(" " * WORK) + work]
    for line in lines:
        line.rstrip()
        line.truncate(width, overflow="ellipsis")
    return lines
