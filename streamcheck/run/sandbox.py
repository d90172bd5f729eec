"""User code in a process of its own.

A spec is Python: it may print, call exit, loop for ever, or end its process with a status of its choice. So it runs
in a forked child whose standard output is the command's standard error, and the child answers on a pipe, in records
that begin with a token only this run knows. No record, no result; what the child's exit status says is not read.
The child leads a session of its own and is ended with everything it started; it asks the kernel to be ended should
the command die first.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from streamcheck.core.errors import SpecError

HEAD = struct.Struct("!16sQ")
PR_SET_PDEATHSIG = 1

Send = Callable[[Any], None]


class Sandbox:
    """A child that runs `work(send)`; iterate over what it sends. Use as a context manager."""

    def __init__(self, work: Callable[[Send], None], *, seconds: float, doing: str) -> None:
        self.doing = doing
        self.seconds = seconds
        self.deadline: float | None = time.monotonic() + seconds
        self._token = os.urandom(16)
        self._read, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            self._child(work, write)
        os.close(write)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the child and whatever it started."""
        if self.pid:
            for end in (os.killpg, os.kill):  # the child may not lead its group yet
                with contextlib.suppress(ProcessLookupError):
                    end(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self._read)
            self.pid = 0

    def receive(self) -> Any:
        """The next record. SpecError where the child ended without one, or took too long."""
        token, length = HEAD.unpack(self._exactly(HEAD.size))
        if token != self._token:
            raise SpecError(f"{self.doing}: the spec wrote to a channel that is not its own")
        record = json.loads(self._exactly(length))
        if "error" in record:
            raise SpecError(record["error"])
        return record["value"]

    def records(self) -> Iterator[Any]:
        while True:
            yield self.receive()

    def _exactly(self, size: int) -> bytes:
        chunks = []
        while size:
            left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
            ready, _, _ = select.select([self._read], [], [], left)
            if not ready:
                raise SpecError(f"{self.doing}: not done after {self.seconds:g} s, so it was ended")
            chunk = os.read(self._read, min(size, 1 << 20))
            if not chunk:
                raise SpecError(f"{self.doing}: the process ended before it was done (the spec may have ended it)")
            chunks.append(chunk)
            size -= len(chunk)
        return b"".join(chunks)

    # In the child

    def _child(self, work: Callable[[Send], None], pipe: int) -> NoReturn:
        try:
            os.setsid()
            _end_with_parent(self._parent)
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.dup2(2, 1)
            sys.stdout, sys.stderr = (os.fdopen(fd, "w", buffering=1, closefd=False) for fd in (1, 2))
            os.closerange(3, pipe)  # whatever else the command has open is none of the spec's business
            os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))

            def send(value: Any) -> None:
                _write(pipe, self._token, {"value": value})

            try:
                work(send)
            except SpecError as error:
                _write(pipe, self._token, {"error": str(error)})
            except BaseException:
                import traceback

                _write(pipe, self._token, {"error": "an internal error\n" + traceback.format_exc()})
        finally:
            os._exit(0)


def _write(pipe: int, token: bytes, record: Any) -> None:
    data = json.dumps(record).encode()
    data = HEAD.pack(token, len(data)) + data
    while data:
        data = data[os.write(pipe, data) :]


def _end_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died in between
        os._exit(0)
