"""The command's entry point. It answers signals before it loads anything, `typing` and `signal` too: a command may be
interrupted at once. The script of the command blocks them until then."""

from __future__ import annotations

import _signal
import os
import time

from streamcheck import require_unix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

MISTAKE = 2
INTERRUPTED = 130
TERMINATED = 143


def main() -> NoReturn:
    began = time.monotonic()  # what is loaded from now on is part of the time that the command has
    try:
        require_unix()
    except ImportError as why:
        _leave(f"error: {why}\n".encode(), MISTAKE)
    _signal.signal(_signal.SIGINT, lambda *_: _leave(b"error: interrupted\n", INTERRUPTED))
    _signal.signal(_signal.SIGTERM, lambda *_: _leave(b"error: terminated\n", TERMINATED))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, (_signal.SIGINT, _signal.SIGTERM))
    try:
        from streamcheck.cli import main as command

        command(began)
    except (
        MemoryError,
        SystemError,
    ):  # while it loads, or what names an error; CPython may lack room for the exception
        _leave(b"error: out of memory\n", MISTAKE)


def _leave(message: bytes, status: int) -> NoReturn:
    os.write(2, message)
    os._exit(status)


if __name__ == "__main__":
    main()
