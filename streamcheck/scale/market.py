"""The broker for what a user gives as `on`: an address, an object of Dask, or an executor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor

from streamcheck.core.errors import SpecError
from streamcheck.scale.broker import Broker
from streamcheck.scale.pools import ExecutorPool

EXAMPLE = "tcp://127.0.0.1:8786"


def broker_on(on: object, note: Callable[[str], None] = lambda _: None) -> Broker:
    """A broker with the workers of `on`. It is closed by whoever uses it."""
    if isinstance(on, Executor):
        return Broker(ExecutorPool(on), note=note)
    from streamcheck.scale.dask_pool import DaskPool

    address = on if isinstance(on, str) else _address_of(on)
    if address is None:
        raise SpecError(
            f"on: {type(on).__name__} is no address, no Client or Cluster of Dask, and no executor",
            write=f'on="{EXAMPLE}"',
        )
    scheme, separator, _ = address.partition("://")
    if not separator or scheme not in ("tcp", "tls"):
        write = "on=client.get_executor()" if scheme == "inproc" else EXAMPLE
        raise SpecError(f"{address!r} is no address of a Dask scheduler that other processes can reach", write=write)
    return Broker(DaskPool(address, None if isinstance(on, str) else getattr(on, "security", None)), note=note)


def _address_of(on: object) -> str | None:
    """The scheduler of a Client or a Cluster."""
    for owner in (on, getattr(on, "scheduler", None)):
        for name in ("scheduler_address", "address"):
            found = getattr(owner, name, None)
            if isinstance(found, str):
                return found
    return None
