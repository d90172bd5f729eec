"""The processor time of a run, by who has used it.

The supervisor's is that of its process, from the first worker on. Showing results while others go on, and making
violations simple for that, happens in the same process and counts by itself: it would come afterwards otherwise.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Spent:
    _began: float = field(default_factory=time.process_time)
    _results: float = 0.0

    @contextmanager
    def on_results(self) -> Iterator[None]:
        before = time.process_time()
        yield
        self._results += time.process_time() - before

    def text(self, checkers: float, workers: Mapping[int, float]) -> str:
        """The seconds of all, and the supervisor's share of them."""
        used = {"supervisor": time.process_time() - self._began - self._results, "results": self._results}
        used |= {"checkers": checkers} | {f"worker {number}": seconds for number, seconds in workers.items()}
        seconds = ", ".join(f"{who} {spent:.2f} s" for who, spent in used.items())
        share = used["supervisor"] / max(0.01, sum(used.values()))
        return f"{seconds}; share of the supervisor: {100 * share:.0f} %"
