"""Units on a cluster of Dask. The client lives in a process of its own: it has threads, and a command that has none can
fork checkers. The process ends with the command, and its connection with it: then the scheduler releases the tasks.

A problem is a task too, whose result the units of the problem depend on: the scheduler has it once, workers give it to
each other, and it is made again if the worker that had it has gone. A task that was released goes on in Dask, so each
asks its worker every tenth of a second if it is still wanted.

A worker is asked first which version it has, by a task of its own; one that has another, or none, gets no units. If the
scheduler goes, all units are lost, which the broker begins again, and the process tries to connect for `PATIENCE`
seconds.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import os
import queue
import select
import time
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.run.child import Channel, Child, Ended, Forged
from streamcheck.scale.pools import AWAY, Answered, Bell, Gone, LostUnit, Note, PlaceCount, PoolMessage
from streamcheck.scale.units import FORMAT
from streamcheck.scale.work import answer, format_here

Client: TypeAlias = Any  # of distributed, whose classes have no types
Future: TypeAlias = Any
CONNECT = 10.0  # seconds
PATIENCE = 60.0  # seconds without a scheduler
LOOK = 0.5  # seconds between looks at the workers


def dask_unit(problem: bytes, unit: bytes) -> bytes:
    """The answer to a unit, in a worker of Dask."""
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state == "executing"

    limit = worker.memory_manager.memory_limit
    return answer(problem, unit, is_wanted, limit and int(limit / max(1, worker.state.nthreads)))


def same(problem: bytes) -> bytes:
    return problem


class DaskPool:
    """The cluster at this address."""

    def __init__(self, address: str, security: Any = None) -> None:
        require_dask()
        self._problems: dict[bytes, str] = {}  # numbers, of those that were sent
        self._child = Child(lambda channel: _Bridge(channel, address, security).serve())
        self._ended = False
        try:
            match self._child.channel.receive(2 * CONNECT + 20):
                case {"connected": True}:
                    return
                case {"error": str(why)}:
                    raise SpecError(why)
        except (Ended, Forged, TimeoutError):
            pass
        except BaseException:
            self._child.end()
            raise
        self._child.end()
        raise SpecError(f"{address}: the process that connects to the scheduler died")

    @property
    def read(self) -> int:
        return self._child.channel.read

    def submit(self, key: str, label: str, problem: bytes, unit: bytes, urgency: int) -> None:
        row: dict[str, Any] = {"submit": key, "label": label, "unit": _text(unit), "urgency": urgency}
        if problem not in self._problems:
            self._problems[problem] = str(len(self._problems))
            row["new"] = _text(problem)
        self._send({**row, "problem": self._problems[problem]})

    def cancel(self, key: str, *, overdue: bool = False) -> None:
        self._send({"cancel": key, "overdue": overdue})

    def messages(self) -> Sequence[PoolMessage]:
        if self._ended:
            return ()
        try:
            return [_message_of(record) for record in self._child.channel.available()]
        except (Ended, Forged):
            self._ended = True
            return [Gone("the process that talks to the scheduler died")]

    def close(self) -> None:
        with contextlib.suppress(Ended, BrokenPipeError, OSError):
            self._send({"end": True})
            until = time.monotonic() + 1.0  # so that the scheduler hears of it at once
            while time.monotonic() < until and select.select([self.read], [], [], 0.1)[0] is not None:
                self._child.channel.available()
        self._child.end()

    def _send(self, row: Mapping[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._child.channel.send(row)


def _message_of(record: Any) -> PoolMessage:
    match record:
        case {"answered": str(key), "data": str(data)}:
            return Answered(key, base64.b64decode(data))
        case {"lost": str(key), "why": str(why), "blame": bool(blame)}:
            return LostUnit(key, why, blame)
        case {"places": int(number)}:
            return PlaceCount(number)
        case {"note": str(text)}:
            return Note(text)
        case {"gone": str(why)}:
            return Gone(why)
    raise Forged


def require_dask() -> None:
    """SpecError if Dask is not installed."""
    from importlib.util import find_spec

    if find_spec("distributed") is None:
        raise SpecError("--on needs dask.distributed", write="pip install 'streamcheck[scale]'")


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


class _Bridge:
    """The process with the client."""

    def __init__(self, channel: Channel, address: str, security: Any) -> None:
        self.channel, self.address, self.security = channel, address, security
        self.bell = Bell()
        self.done: queue.SimpleQueue[tuple[str, Future]] = queue.SimpleQueue()
        self.futures: dict[str, Future] = {}
        self.problems: dict[str, bytes] = {}
        self.on_cluster: dict[str, Future] = {}  # problems
        self.fits: dict[str, bool | None] = {}  # workers that have our version; None: nobody knows yet
        self.scheduler = ""  # its identity
        self.places = AWAY
        self.client: Client = None
        self.away_since = self.next_look = 0.0

    def serve(self) -> None:
        os.environ.setdefault("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", str(CONNECT))
        for name in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        logging.getLogger("distributed").propagate = False
        try:
            self.client = self._connect(CONNECT)
        except Exception as why:
            self.channel.send({"error": f"no Dask scheduler answers at {self.address}: {_brief(why)}"})
            return
        self.channel.send({"connected": True})
        while True:
            ready, _, _ = select.select([self.channel.read, self.bell.read], [], [], LOOK)
            if self.channel.read in ready:
                for record in self.channel.available():
                    if "end" in record:
                        self._end()
                        return
                    self._obey(record)
            self.bell.quiet()
            if time.monotonic() >= self.next_look:
                self._look_at_workers()
                self.next_look = time.monotonic() + LOOK
            while not self.done.empty():
                self._report(*self.done.get())

    def _connect(self, seconds: float) -> Client:
        from distributed import Client

        made: Any = Client  # it has no types
        return made(self.address, timeout=seconds, set_as_default=False, name="streamcheck", security=self.security)

    def _obey(self, record: Mapping[str, Any]) -> None:
        match record:
            case {"submit": str(key), "label": str(label), "problem": str(number), "unit": str(unit)}:
                if "new" in record:
                    self.problems[number] = base64.b64decode(record["new"])
                try:
                    self._submit(key, label, number, base64.b64decode(unit), record["urgency"])
                except Exception as why:
                    self.channel.send({"lost": key, "why": _brief(why), "blame": False})
            case {"cancel": str(key)}:
                future = self.futures.pop(key, None)
                if future is not None:
                    with contextlib.suppress(Exception):
                        if record["overdue"]:
                            self._doubt_worker_of(future)
                        future.cancel(force=True)

    def _submit(self, key: str, label: str, number: str, unit: bytes, urgency: int) -> None:
        if self.client is None:
            raise ConnectionError("the scheduler is away")
        fitting = [address for address, fits in self.fits.items() if fits]
        chosen = fitting if len(fitting) < len(self.fits) else None
        if number not in self.on_cluster:
            name = f"problem-{os.urandom(8).hex()}"
            made = self.client.submit(same, self.problems[number], key=name, workers=chosen, retries=3)
            self.on_cluster[number] = made
        future = self.client.submit(
            dask_unit, self.on_cluster[number], unit, key=label, priority=-urgency, workers=chosen, retries=0
        )
        self.futures[key] = future
        future.add_done_callback(lambda done: self._finish(key, done))

    def _doubt_worker_of(self, future: Future) -> None:
        """Ask the worker anew for its version: it gets no units until it answers. It may be frozen, or cut off, and
        problems that it holds would be waited for in vain."""
        self.on_cluster.clear()
        for address, keys in self.client.processing().items():
            if future.key in keys:
                self._ask_version(address)
                for key, other in [(k, f) for k, f in self.futures.items() if f.key in keys and f.key != future.key]:
                    if not key.startswith("version of "):  # it waits behind the one that is late
                        del self.futures[key]
                        other.cancel(force=True)
                        self.channel.send({"lost": key, "why": "its worker does not answer", "blame": False})

    def _ask_version(self, address: str) -> None:
        self.fits[address] = None
        name = f"version-{os.urandom(8).hex()}"
        future = self.client.submit(format_here, key=name, workers=[address], pure=False, retries=0, priority=1000)
        self.futures[f"version of {address}"] = future
        future.add_done_callback(lambda done: self._finish(f"version of {address}", done))

    def _finish(self, key: str, future: Future) -> None:
        self.done.put((key, future))
        self.bell.ring()

    def _report(self, key: str, future: Future) -> None:
        if key.startswith("version of "):
            self._learn_version(key.removeprefix("version of "), future)
            return
        if key not in self.futures or self.futures[key] != future:
            return  # cancelled
        del self.futures[key]
        try:
            if future.status == "finished":
                data = future.result(timeout=CONNECT)
                self.channel.send({"answered": key, "data": _text(data)})
                return
            blame = future.status == "error"
            why = _brief(future.exception(timeout=1)) if blame else future.status
        except Exception as error:  # the worker that had it has gone meanwhile
            why, blame = _brief(error), False
        self.channel.send({"lost": key, "why": why, "blame": blame})

    def _look_at_workers(self) -> None:
        """Which workers there are, which are new, and if the scheduler is there at all."""
        try:
            found = self.client.scheduler_info(n_workers=-1)
            workers = found["workers"]
            # a client connects to the next scheduler by itself, and its futures then wait for ever
            is_there = self.client.status == "running" and found["id"] == (self.scheduler or found["id"])
            self.scheduler = found["id"]
        except Exception:
            is_there = False
        if not is_there:
            self._reconnect()
            return
        for address in [a for a in self.fits if a not in workers]:
            del self.fits[address]
        for address in [a for a in workers if a not in self.fits]:
            self._ask_version(address)
        number = sum(int(row["nthreads"]) for address, row in workers.items() if self.fits.get(address))
        if workers and not number:
            number = AWAY  # nobody that may get units, as far as is known
        if number != self.places:
            self.places = number
            self.channel.send({"places": number})

    def _learn_version(self, address: str, future: Future) -> None:
        self.futures.pop(f"version of {address}", None)
        if address not in self.fits:
            return
        try:
            found = future.result(timeout=1) if future.status in ("finished", "error") else None
        except Exception as why:
            found = _brief(why)
        if found is None:
            del self.fits[address]  # it went, and may come back
        elif found == FORMAT:
            self.fits[address] = True
        else:
            self.fits[address] = False
            self.channel.send({"note": f"worker {address} gets no tasks: it has {found}, and this is {FORMAT}"})

    def _reconnect(self) -> None:
        if self.client is not None:  # what was on its way is lost
            self.away_since = time.monotonic()
            with contextlib.suppress(Exception):
                self.client.close(timeout=1)
            self.client, self.places, self.scheduler = None, AWAY, ""
            self.channel.send({"places": AWAY})
            self.fits.clear()
            self.on_cluster.clear()
            for key in [k for k in self.futures if not k.startswith("version of ")]:
                self.channel.send({"lost": key, "why": "the scheduler went away", "blame": False})
            self.futures.clear()
        try:
            self.client = self._connect(2.0)
        except Exception as why:
            if time.monotonic() - self.away_since > PATIENCE:
                self.channel.send({"gone": f"the scheduler at {self.address} has gone: {_brief(why)}"})
                raise Ended from None

    def _end(self) -> None:
        if self.client is not None:
            with contextlib.suppress(Exception):
                self.client.cancel(list(self.futures.values()), force=True)
                self.client.close(timeout=1)


def _brief(error: BaseException | None) -> str:
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
