"""The command's entry point. It answers signals before it loads anything, `typing` too: a command may be interrupted
at once."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130
TERMINATED = 143


def main() -> NoReturn:
    signal.signal(signal.SIGINT, lambda *_: _leave(b"error: interrupted\n", INTERRUPTED))
    signal.signal(signal.SIGTERM, lambda *_: _leave(b"error: terminated\n", TERMINATED))
    from streamcheck.cli import main as command

    command()


def _leave(message: bytes, status: int) -> NoReturn:
    os.write(2, message)
    os._exit(status)


if __name__ == "__main__":
    main()
