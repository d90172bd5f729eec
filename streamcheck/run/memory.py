"""A limit on the memory of this process."""

from __future__ import annotations

import contextlib
import errno
import resource
from collections.abc import Iterator

from streamcheck.core.errors import SpecError

MEGABYTE = 1_000_000
NO_ROOM = ("failed to map segment", "cannot allocate memory")  # a library that could not be loaded

CONCEALED = {  # by CPython; z3's library is not loaded
    "SystemError": ("without exception set", "without setting an exception"),
    "Z3Exception": (" not found.",),
}


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
    except Exception as error:
        is_full = tells_no_room(error)  # which looks at the limit
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        if not is_full:
            raise
        raise too_small(most, doing) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def tells_no_room(error: BaseException) -> bool:
    """True if a process had no more memory when this came up."""
    if isinstance(error, ImportError):
        return any(word in str(error) for word in NO_ROOM)
    if any(words in str(error) for words in CONCEALED.get(type(error).__name__, ())):
        return resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def too_small(most: int, doing: str) -> SpecError:
    return SpecError(f"{doing}: the memory limit of {most // MEGABYTE} MB is too small", write="a larger --memory")
