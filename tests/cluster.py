"""A Dask scheduler and workers as processes on 127.0.0.1, for tests; all end with the block."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

START = """
import sys, streamcheck
version, kind, *args = sys.argv[1:]
streamcheck.__version__ = version or streamcheck.__version__
from distributed.cli import dask_scheduler, dask_worker
{"scheduler": dask_scheduler, "worker": dask_worker}[kind].main(args)
"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def processes():
    """(pid, parent, state, command) of every process."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/stat") as stat, open(f"/proc/{name}/cmdline") as command:
            rest = stat.read().rpartition(")")[2].split()
            found.append((int(name), int(rest[1]), rest[0], command.read().replace("\0", " ")))
    return found


def below(pid):
    """The processes that this one has started, and those that they have, and so on."""
    rows, found = processes(), set()
    new = {pid}
    while new:
        new = {p for p, parent, state, _ in rows if parent in new and state != "Z"} - found
        found |= new
    return found


def busy(pids):
    """Those that are still there."""
    return {pid for pid, _, state, _ in processes() if pid in pids and state != "Z"}


def wait_until(holds, seconds=20.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


class Cluster:
    """`options` are further ones of both commands."""

    def __init__(self, folder, workers=2, version="", scheme="tcp", options=()):
        self.folder, self.port, self.options = folder, free_port(), options
        self.processes = []
        self.scheme, self.address = scheme, f"{scheme}://127.0.0.1:{self.port}"
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker(version) for _ in range(workers)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
        for process in self.processes:
            process.wait()

    def start(self, version, kind, *args):
        log = open(self.folder / f"{kind}-{len(self.processes)}.log", "w")  # noqa: SIM115
        command = [sys.executable, "-c", START, version, kind, *args]
        env = {**os.environ, "DASK_DISTRIBUTED__COMM__RETRY__COUNT": "0"}
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=env)
        log.close()
        self.processes.append(process)
        return process

    def start_scheduler(self):
        options = ["--no-dashboard", "--no-jupyter"]
        host = f"{self.scheme}://127.0.0.1"
        process = self.start("", "scheduler", "--host", host, "--port", str(self.port), *options, *self.options)
        wait_until(self.answers)
        return process

    def answers(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def start_worker(self, version=""):
        options = ["--no-dashboard", "--no-nanny", "--nthreads", "1", "--local-directory", str(self.folder)]
        return self.start(version, "worker", self.address, "--host", "127.0.0.1", *options, *self.options)


class CuttingProxy:
    """Passes bytes on to a port, and cuts its first connections after so many bytes that came back."""

    def __init__(self, port, cuts):
        self.to, self.cuts, self.number = port, list(cuts), 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                near, _ = self.socket.accept()
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            cut = self.cuts.pop(0) if self.cuts else None
            self.number += 1
            for source, target, most in ((near, far, None), (far, near, cut)):
                threading.Thread(target=_pass, args=(source, target, most), daemon=True).start()

    def close(self):
        self.socket.close()


def _pass(source, target, most):
    done = 0
    with suppress(OSError):
        while data := source.recv(1 << 12):
            done += len(data)
            if most is not None and done > most:
                target.sendall(data[: len(data) // 2])
                break
            target.sendall(data)
    for one in (source, target):
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
