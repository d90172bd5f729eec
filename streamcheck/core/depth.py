"""Room for functions that call themselves once for each level of a text: generated code may have thousands."""

from __future__ import annotations

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SAFE = 20_000  # calls within each other that any stack has room for
DEEPEST = 200_000
STACK = 64 << 20  # bytes: Linux leaves at least 128 MiB for the stack of a process


@contextmanager
def deep_recursion() -> Iterator[None]:
    """A context in which calls may be within each other more deeply than elsewhere. Beyond that is a RecursionError.
    The stack of the main thread grows as it is needed; that of another thread cannot."""
    before = sys.getrecursionlimit()
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    main = threading.current_thread() is threading.main_thread()
    grows = main and (hard == resource.RLIM_INFINITY or hard >= STACK)
    raised = grows and soft != resource.RLIM_INFINITY and soft < STACK
    try:
        if raised:
            resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard))
        sys.setrecursionlimit(max(before, DEEPEST if grows else SAFE))
        yield
    finally:
        sys.setrecursionlimit(before)
        if raised:
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
