"""A limit in processor time for z3's queries.

z3's own limit counts units of work, and at products of Ints some loops count hardly any. A thread beside the query
looks at the processor time of the process, and interrupts the query when that is used up. The thread lives as long as
its process, and sleeps while no such query is asked. A forked child has none of its parent's threads, and locks as they
were: it forgets its parent's thread, and starts one of its own for its first such query.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

A_LOOK = 0.05  # seconds between two looks at the processor time


class Watch:
    """The thread, and the query that it looks after. The thread has the solver only while it holds the lock, and while
    `_query` has it too: it must never be the one that frees it, since the query's own thread uses z3."""

    def __init__(self) -> None:
        self._is_asked = threading.Event()
        self._lock = threading.Lock()
        self._query: tuple[Any, float] | None = None  # a solver, and the processor time at which it is interrupted
        threading.Thread(target=self._look, daemon=True).start()

    def begin(self, solver: Any, seconds: float) -> None:
        with self._lock:
            self._query = solver, time.process_time() + seconds
        self._is_asked.set()

    def end(self) -> None:
        with self._lock:
            self._query = None
        self._is_asked.clear()

    def _look(self) -> None:
        while True:
            self._is_asked.wait()
            time.sleep(A_LOOK)
            with self._lock:
                if self._query is not None and time.process_time() > self._query[1]:
                    self._query[0].interrupt()  # which nothing remembers if the query has just ended


@contextmanager
def limit_processor_time(solver: Any, seconds: float) -> Iterator[None]:
    """Interrupt the solver's query within if it takes more processor time than that."""
    _watch().begin(solver, seconds)
    try:
        yield
    finally:
        _watch().end()


@cache
def _watch() -> Watch:
    """The one of this process, made when it is first needed."""
    return Watch()


os.register_at_fork(after_in_child=_watch.cache_clear)
