"""A forked child and the records between it and the command.

The child leads a session of its own, so that it can be ended with everything it started; it asks the kernel to be
ended should the command die first; it holds none of the command's open files. It answers on a pipe of its own, in
records that begin with a token that only this child and the command have: what it prints, and the status it ends with,
carry no meaning. Log records come on the same pipe and are kept apart.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import gc
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from streamcheck.run.logs import LogRow, send_records
from streamcheck.run.memory import tells_no_room
from streamcheck.run.stop import SIGNALS, postpone_signals

HEAD = struct.Struct("!16sQ")
PR_SET_PDEATHSIG = 1
CPUCLOCK_SCHED = 2  # of a whole process: clock_getcpuclockid(3)
ASKED = signal.SIGUSR1  # the signal that asks a child where it is
LONGEST = 1 << 30  # bytes of a record
LAST_MOMENT = 0.5  # seconds between the end of the channel and that of the process


class Ended(Exception):
    """The other side has closed its end."""


class Forged(Exception):
    """Something else wrote into the pipe."""


class TooLate(Exception):
    """No whole record came in time."""


def json_bytes(value: Any) -> bytes:
    """A record for `Channel.post_encoded`."""
    return json.dumps(value).encode()


class Channel:
    """Records over two pipe ends."""

    def __init__(self, read: int, write: int, token: bytes) -> None:
        self.read, self.write, self.token = read, write, token
        self.logged: list[LogRow] = []  # log records of the other side
        self._buffer = bytearray()
        self._outgoing = bytearray()

    def send(self, value: Any) -> None:
        data = json_bytes(value)
        data = HEAD.pack(self.token, len(data)) + data
        while data:
            data = data[os.write(self.write, data) :]

    def post(self, value: Any) -> None:
        """Send without waiting, whether the reader is busy or gone. A later `flush` sends what does not fit now."""
        self.post_encoded(json_bytes(value))

    def post_encoded(self, data: bytes) -> None:
        """The same of a record that several channels get."""
        self._outgoing += HEAD.pack(self.token, len(data)) + data
        self.flush()

    @property
    def unsent(self) -> bool:
        return bool(self._outgoing)

    def flush(self) -> None:
        while self._outgoing:
            _, ready, _ = select.select([], [self.write], [], 0.0)
            if not ready:
                return
            try:
                sent = os.write(self.write, self._outgoing[: select.PIPE_BUF])
            except BrokenPipeError:
                self._outgoing.clear()  # its end is noticed when its answers are read
                return
            del self._outgoing[:sent]

    def receive(self, seconds: float | None) -> Any:
        """The next record, waiting at most so long (None: for ever)."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while (record := self._next_record()) is None:
            self._fill(None if deadline is None else max(0.0, deadline - time.monotonic()))
        return record[0]

    def available(self) -> list[Any]:
        """Every record that is there already. Ended if there is none and there will be none."""
        records = []
        while True:
            while (record := self._next_record()) is not None:
                records.append(record[0])
            try:
                self._fill(0.0)
            except TooLate:
                return records
            except Ended:
                if not records:
                    raise
                return records

    def _fill(self, seconds: float | None) -> None:
        ready, _, _ = select.select([self.read], [], [], seconds)
        if not ready:
            raise TooLate
        chunk = os.read(self.read, 1 << 20)
        if not chunk:
            raise Ended
        self._buffer += chunk

    def _next_record(self) -> tuple[Any] | None:
        """The next record that is no log record."""
        while (record := self._first()) is not None:
            match record[0]:
                case {"log": [str(name), int(level), int() | float() as at, str(message)]}:
                    self.logged.append((name, level, at, message))
                case _:
                    return record
        return None

    def _first(self) -> tuple[Any] | None:
        if len(self._buffer) < HEAD.size:
            return None
        token, length = HEAD.unpack_from(self._buffer)
        if token != self.token or length > LONGEST:
            raise Forged
        if len(self._buffer) < HEAD.size + length:
            return None
        data = bytes(self._buffer[HEAD.size : HEAD.size + length])
        del self._buffer[: HEAD.size + length]
        try:
            return (json.loads(data),)
        except (ValueError, RecursionError):
            raise Forged from None


class Child:
    """A process that runs `work(channel)`."""

    def __init__(self, work: Callable[[Channel], None]) -> None:
        token = os.urandom(16)
        from_child, to_parent = os.pipe()
        from_parent, to_child = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self._parent = parent = os.getpid()
        self._guarded = mmap.mmap(-1, 1)  # its byte is set once the child would end with this process
        with postpone_signals():  # in the child until it has handlers of its own
            self.pid = os.fork()
            if self.pid == 0:
                _run(work, Channel(from_parent, to_parent, token), parent, self._guarded)
        os.close(to_parent)
        os.close(from_parent)
        self.channel = Channel(from_child, to_child, token)
        self._used = 0.0

    @property
    def alive(self) -> bool:
        return bool(self.pid)

    def processor_time(self) -> float:
        """Seconds of processor time that it has used, all its threads together."""
        if not self.pid:
            return self._used
        with contextlib.suppress(OSError):  # it has ended, and nobody has waited for it yet
            self._used = time.clock_gettime((~self.pid << 3) | CPUCLOCK_SCHED)
        return self._used

    def pause(self) -> bool:
        """Stop it where it is, in the middle of a query if need be, until `resume`. False if it is too early: a stopped
        child that would not end with this process would stay for ever."""
        if self._guarded[0]:
            self._signal(signal.SIGSTOP)
        return bool(self._guarded[0])

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def ask(self) -> None:
        """Ask it where it is, which only a child with a handler for that survives."""
        self._signal(ASKED)

    def _signal(self, number: signal.Signals) -> None:
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        for kill in (os.killpg, os.kill) if self.pid else ():  # the child may not lead its group yet
            with contextlib.suppress(ProcessLookupError):
                kill(self.pid, signal.SIGKILL)

    def end(self, *, silent: bool = False) -> str:
        """End the child and whatever it started. Returns how it had ended, if it had. A child is `silent` when its
        channel is at its end: it is on its way out, and may need a moment."""
        if os.getpid() != self._parent:  # a copy in another child, which the garbage collector ends there
            self.pid = 0
        if not self.pid:
            return ""
        self.processor_time()
        patience = time.monotonic() + (LAST_MOMENT if silent else 0.0)
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        while not pid and time.monotonic() < patience:
            time.sleep(0.001)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        self.kill()
        if not pid:
            os.waitpid(self.pid, 0)
        os.close(self.channel.read)
        os.close(self.channel.write)
        self.pid = 0
        if pid and os.WIFSIGNALED(status):
            return f"killed by signal {os.WTERMSIG(status)}"
        how = "out of memory" if (number := os.WEXITSTATUS(status)) == errno.ENOMEM else f"ended with status {number}"
        return how if pid else ""


def _run(work: Callable[[Channel], None], channel: Channel, parent: int, guarded: mmap.mmap) -> NoReturn:
    status = 1
    try:
        os.setsid()
        end_with_parent(parent)
        guarded[0] = 1
        for number in SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        _keep_only(channel)
        gc.freeze()  # what it has inherited is not looked through for garbage, nor copied for that
        send_records(channel.send)
        sys.set_int_max_str_digits(0)
        work(channel)
        status = 0
    except (Ended, BrokenPipeError):  # the command has gone, and the kernel is about to end this process too
        pass
    except BaseException as error:
        status = errno.ENOMEM if tells_no_room(error) else status
        with contextlib.suppress(OSError):
            if status != errno.ENOMEM:
                traceback.print_exc()
    finally:
        os._exit(status)


def _keep_only(channel: Channel) -> None:
    """Standard output becomes standard error; everything else the command has open is closed."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    sys.stdout, sys.stderr = (os.fdopen(fd, "w", buffering=1, closefd=False) for fd in (1, 2))
    first, last = sorted((channel.read, channel.write))
    os.closerange(3, first)
    os.closerange(first + 1, last)
    os.closerange(last + 1, os.sysconf("SC_OPEN_MAX"))


def end_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died in between
        os._exit(1)
