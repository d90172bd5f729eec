"""A limit in processor time for z3's queries.

z3's own limit counts units of work, and at products of Ints some loops count hardly any. A thread beside the query
looks at the processor time of the process, and interrupts the query when that is used up. The thread ends with its
query: no other call of z3 and no fork meets it.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

A_LOOK = 0.05  # seconds between two looks at the processor time


@contextmanager
def limit_processor_time(solver: Any, seconds: float) -> Iterator[None]:
    """Interrupt the solver's query within if it takes more processor time than that."""
    is_done = threading.Event()
    arguments = (solver, time.process_time() + seconds, is_done)
    thread = threading.Thread(target=_interrupt_later, args=arguments, daemon=True)
    collects = gc.isenabled()
    gc.disable()  # a collection in the thread would free terms of z3 while the query uses their context
    try:
        thread.start()
        yield
    finally:
        is_done.set()
        thread.join()
        if collects:
            gc.enable()


def _interrupt_later(solver: Any, end: float, is_done: threading.Event) -> None:
    while not is_done.wait(A_LOOK):
        if time.process_time() > end:
            solver.interrupt()  # again at each look, since one that comes before the query begins is lost
