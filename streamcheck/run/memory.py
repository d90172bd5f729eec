"""The memory that processes really use, and a limit on it.

Solvers reserve far more address space than they touch, so what counts is resident memory, of which pages that several
processes share are divided among them. Elsewhere than on Linux nobody tells this, and no limit is kept.
"""

from __future__ import annotations

import contextlib
import errno
import resource
from collections.abc import Iterable, Iterator, Mapping

from streamcheck.core.errors import SpecError

MEGABYTE = 1_000_000
NO_ROOM = ("failed to map segment", "cannot allocate memory")  # a library that could not be loaded


def used_by(pid: int) -> int:
    """Bytes; 0 if it has ended, or nobody knows."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rows:
        return next((int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:")), 0)
    return 0


def beyond(most: int, workers: Mapping[int, tuple[int, bool]], others: Iterable[int]) -> Iterator[int]:
    """The workers to end, by number, so that all use no more than that: those that wait first, the largest first.
    SpecError if the others need more. Each worker is its process and True if it waits."""
    fixed = sum(map(used_by, others))
    if fixed > most:
        raise too_small(most, "checking proofs")
    sizes = {number: used_by(pid) for number, (pid, _) in workers.items()}
    used = fixed + sum(sizes.values())
    for number in sorted(sizes, key=lambda n: (workers[n][1], sizes[n]), reverse=True):
        if used <= most:
            return
        used -= sizes[number]
        yield number


@contextlib.contextmanager
def memory_limit(most: int | None, doing: str) -> Iterator[None]:
    """SpecError if this process needs more in the block. None is no limit."""
    if most is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    try:
        yield
    except (MemoryError, ImportError, OSError) as error:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        if not tells_no_room(error):
            raise
        raise too_small(most, doing) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def tells_no_room(error: BaseException) -> bool:
    """True if a process had no more memory when this came up."""
    if isinstance(error, ImportError):
        return any(word in str(error) for word in NO_ROOM)
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def too_small(most: int, doing: str) -> SpecError:
    return SpecError(f"{doing}: the memory limit of {most // MEGABYTE} MB is too small", write="a larger --memory")
