"""Room for functions that call themselves once for each level of a text: generated code may have thousands."""

from __future__ import annotations

import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

USERS = 15_000  # of the user's functions, which may take several kilobytes each
SAFE = 20_000  # calls within each other that any stack has room for
DEEPEST = 200_000
STACK = 64 << 20  # bytes: Linux leaves at least 128 MiB for the stack of a process


@contextmanager
def deep_recursion(deepest: int = DEEPEST, elsewhere: int = SAFE) -> Iterator[None]:
    """A context in which calls may be within each other more deeply than elsewhere. Beyond that is a RecursionError.
    The stack of the main thread grows as it is needed; that of another thread cannot: there it is `elsewhere`."""
    before = sys.getrecursionlimit()
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    main = threading.current_thread() is threading.main_thread()
    grows = main and (hard == resource.RLIM_INFINITY or hard >= STACK)
    raised = grows and soft != resource.RLIM_INFINITY and soft < STACK
    try:
        if raised:
            resource.setrlimit(resource.RLIMIT_STACK, (STACK, hard))
        sys.setrecursionlimit(max(before, deepest if grows else elsewhere))
        yield
    finally:
        sys.setrecursionlimit(before)
        if raised:
            resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))


@contextmanager
def room_for_users() -> Iterator[None]:
    """A context in which the user's functions may call each other more deeply: components in components, say."""
    with deep_recursion(USERS, 0):
        yield
