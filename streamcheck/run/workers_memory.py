"""The memory that processes together really use, and a limit on it.

Solvers reserve far more address space than they touch, so what counts is resident memory, of which pages that several
processes share are divided among them. Elsewhere than on Linux nobody tells this, and no limit is kept.
"""

from __future__ import annotations

import contextlib
import math
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamcheck.run.memory import too_small

LOOK = 0.01  # seconds between looks at the memory of processes
EXACT = 0.25  # the same of exact looks, if others show nothing
RESERVE = 0.1  # of the limit, for what processes take until the next look


def used_by(pid: int) -> int:
    """Bytes; 0 if it has ended, or nobody knows."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rows:
        return next((int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:")), 0)
    return 0


def resident_in(pid: int) -> int:
    """The same with all that it shares, which is known in a thirtieth of the time."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/statm", encoding="ascii") as row:
        return int(row.read().split()[1]) * resource.getpagesize()
    return 0


@dataclass(slots=True)
class MemoryLimit:
    """A limit on processes together. Between exact looks, each is taken to have grown by what its resident memory did:
    one that fills its memory fast is found soon, and a look costs little."""

    most: int  # bytes
    _used: int = 0  # at the last exact look
    _residents: dict[int, int] = field(default_factory=dict)  # by process, at that time
    _next: float = -math.inf  # when it is time for another

    def workers_to_end(self, workers: Mapping[int, tuple[int, bool]], others: Sequence[int]) -> list[int]:
        """By number: those that wait first, the largest first. SpecError if the others need more. Each worker is its
        process and True if it waits."""
        now, pids = time.monotonic(), [*others, *(pid for pid, _ in workers.values())]
        residents = {pid: resident_in(pid) for pid in pids}
        grown = sum(max(0, size - self._residents.get(pid, 0)) for pid, size in residents.items())
        shared = int(self.most * (1 - RESERVE))
        if now < self._next and self._used + grown <= shared:
            return []
        self._next, self._residents = now + EXACT, residents
        fixed = sum(map(used_by, others))
        if fixed > self.most:
            raise too_small(self.most, "checking proofs")
        sizes = {number: used_by(pid) for number, (pid, _) in workers.items()}
        self._used = fixed + sum(sizes.values())
        ended = []
        for number in sorted(sizes, key=lambda n: (workers[n][1], sizes[n]), reverse=True):
            if self._used > shared:
                self._used -= sizes[number]
                ended.append(number)
        return ended
