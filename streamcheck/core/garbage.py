"""Building large structures without looking for garbage in them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """No collection meanwhile: of what is made here, nothing is garbage, and finding that out takes a third of the time
    of a large problem."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
