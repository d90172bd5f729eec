"""The command as a process, with all that it starts: known by a word in their environment, whatever they do."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMAND = Path(sys.executable).parent / "streamcheck"
MARK = "STREAMCHECK_TRUST"
NO_CACHE = "STREAMCHECK_NO_CACHE"
NUMBERS = itertools.count()
TOO_LATE = 10.0  # seconds after which something that still runs has been left over
SPEC = """
from streamcheck import *
a, b, c = (extern(name, Int) for name in "abc")
n = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, n))
spec = Spec("s")
spec.prop("easy", n < 10)
spec.prop("false", n < 4)
"""
HARD = """spec.prop("hard", a * a * a + b * b * b + c * c * c != 114)\n"""  # nobody knows
TRUTH = {"easy": "proved", "false": "falsified"}


class Started:
    """A command that runs. Its output goes to files, so that it never waits for a reader; or to pipes, if it is short
    and files have a limit. `kept`: it uses the cache."""

    def __init__(self, *arguments, folder, prepare=None, pipes=False, kept=False):
        self.word = f"{os.getpid()}-{next(NUMBERS)}"
        self.out, self.err = (os.fdopen(os.memfd_create(name), "w+") for name in ("out", "err"))
        self.process = subprocess.Popen(
            [COMMAND, *map(str, arguments)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipes else self.out,
            stderr=subprocess.PIPE if pipes else self.err,
            env={**{k: v for k, v in os.environ.items() if not (kept and k == NO_CACHE)}, MARK: self.word},
            preexec_fn=prepare,
        )
        self.began = time.monotonic()

    def wait(self, seconds):
        """The exit status; None if it still runs after that."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def shown(self):
        """Its output and its errors so far."""
        if self.process.stdout is not None:
            return tuple(file.read().decode() for file in (self.process.stdout, self.process.stderr))
        texts = []
        for file in (self.out, self.err):  # without `seek`: the command writes at the same offset
            whole = os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)
            texts.append(whole.decode(errors="replace"))
        return tuple(texts)

    def running(self):
        """The processes of the command, itself too, but for those that have ended."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_ours(pid)]

    def _is_ours(self, pid):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return f"{MARK}={self.word}".encode() in file.read().split(b"\0")
        except OSError:
            return False

    def seconds_to_the_end(self, since):
        """From a moment until none of its processes runs; None if some stay. These are ended."""
        while self.process.poll() is None or self.running():
            if time.monotonic() - since > TOO_LATE:
                self.end()
                return None
            time.sleep(0.002)
        return time.monotonic() - since

    def end(self):
        while pids := self.running():
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.002)
        self.process.wait()

    def close(self):
        self.end()
        self.out.close()
        self.err.close()
        for file in filter(None, (self.process.stdout, self.process.stderr)):
            file.close()


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0
