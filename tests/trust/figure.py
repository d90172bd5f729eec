"""A figure of the table: what was tried, by what was found, and the disagreements."""

import time
from collections import Counter


class Figure:
    def __init__(self, what):
        self.what = what
        self.tried = Counter()
        self.wrong = []
        self.notes = []  # shown, though not wrong
        self.began = time.monotonic()

    def lines(self):
        seconds = time.monotonic() - self.began
        counts = ", ".join(f"{n:,} {name}" for name, n in self.tried.items())
        yield f"{self.what}: {counts}; {len(self.wrong)} wrong; {seconds:.0f} s"
        yield from (f"    {line}" for line in (*self.notes, *self.wrong[:50]))
