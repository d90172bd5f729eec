"""A process that runs tests over a changed package, each time in a fork of its own.

It has pytest and the solvers loaded, and nothing of the package: a fork plants its change by an import hook and loads
the rest. Processes that the tests start have the same hook (`planted.sitecustomize`). A job is a line of JSON on
standard input, its result one on standard output.
"""

import ast
import base64
import builtins
import contextlib
import ctypes
import functools
import importlib
import json
import marshal
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import pytest  # noqa: E402
from trust.mutants import places_of_statements  # noqa: E402
from trust.planted import sitecustomize  # noqa: E402
from trust.planted.sitecustomize import CODE, MARKS, REACHED  # noqa: E402

LOADED = ("bitwuzla", "click", "cvc5", "hypothesis", "pycparser.c_parser", "rich", "z3")  # before the forks
PR_SET_CHILD_SUBREAPER = 36
MEMORY = 6 << 30  # of a test's process
FILES = Path(tempfile.mkdtemp(prefix="streamcheck-planted-"))


class Marking(ast.NodeTransformer):
    """Puts a mark before each statement of a function."""

    def __init__(self, number_of):
        self.number_of, self.inside = number_of, False

    def visit_FunctionDef(self, node):
        outer, self.inside = self.inside, True
        self.generic_visit(node)
        self.inside = outer
        return node

    def visit_Lambda(self, node):
        return node

    def generic_visit(self, node):
        super().generic_visit(node)
        if self.inside:
            for field in ("body", "orelse", "finalbody"):
                block = getattr(node, field, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    setattr(node, field, [one for statement in block for one in self._marked(statement)])
        return node

    def _marked(self, statement):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        number = self.number_of.get((statement.lineno, statement.col_offset))
        if not is_text and number is not None:
            yield from ast.parse(f"{REACHED}[{number}] = 1").body
        yield statement


class Recorder:
    """Chooses tests by their names, in the order given, and notes how each ends."""

    def __init__(self, names, write, reached=None, slow=None):
        self.order = {name: i for i, name in enumerate(names)} if names else None
        self.write, self.reached, self.slow = write, reached, slow

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        if self.order is not None:
            items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])

    def pytest_collection_finish(self):
        if self.reached is not None:
            self.write({"imported": self._marks()})

    def _marks(self):
        return [i for i, mark in enumerate(self.reached[:]) if mark]

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item):
        began = processor_time()
        if self.reached is not None:
            self.reached[:] = bytes(len(self.reached))
            signal.signal(signal.SIGALRM, stop)
            signal.setitimer(signal.ITIMER_REAL, self.slow)
        self.outcome = "passed"
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        row = {"test": item.nodeid, "outcome": self.outcome, "seconds": processor_time() - began}
        if self.reached is not None:
            row["reached"] = self._marks()
        self.write(row)

    def pytest_runtest_logreport(self, report):
        if report.outcome != "passed":
            self.outcome = report.outcome

    def pytest_collectreport(self, report):
        if report.failed:
            self.write({"test": report.nodeid, "outcome": "failed", "seconds": 0.0, "reached": []})


def processor_time():
    """Of this process and of those that it has waited for."""
    return sum(os.times()[:4])


class TooSlow(BaseException):
    pass


def stop(number, frame):
    raise TooSlow


@functools.cache
def marked(modules):
    """The code of these modules with marks, and how many marks there are. Statements are numbered by their places."""
    codes, total = {}, 0
    for name in modules:
        path = str(ROOT / name)
        tree = ast.parse(Path(path).read_text())
        places = places_of_statements(tree)
        Marking({place: total + i for i, place in enumerate(places)}).visit(tree)
        codes[path] = compile(ast.fix_missing_locations(tree), path, "exec")
        total += len(places)
    return codes, total


def plant(job):
    """Plants the change in this process, and in those that it starts."""
    code, marks = FILES / "code", FILES / "marks"
    if "mutant" in job:
        code.write_bytes(base64.b64decode(job["mutant"]))
    else:
        codes, total = marked(tuple(job["modules"]))
        code.write_bytes(marshal.dumps(codes))
        marks.write_bytes(bytes(total))
        os.environ[MARKS] = str(marks)
    os.environ[CODE] = str(code)
    os.environ["PYTHONPATH"] = str(Path(sitecustomize.__file__).parent)
    sitecustomize.plant(os.environ[CODE], os.environ.get(MARKS))


def run(job, write):
    """In the fork. A job has `files` of tests; a `mutant` and `seconds`, or the `slow`est test of a map."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if "seconds" in job:
        resource.setrlimit(resource.RLIMIT_CPU, (int(job["seconds"]), int(job["seconds"]) + 1))
    plant(job)
    reached = getattr(builtins, REACHED, None)
    options = ["-q", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--tb=no", "-s"]
    options += ["--assert=plain"]  # else pytest loads modules itself, and not what is planted
    options += ["-x"] if "mutant" in job else []
    recorder = Recorder(job.get("tests"), write, reached, job.get("slow"))
    status = pytest.main([*options, *job["files"]], plugins=[recorder])
    write({"status": int(status)})


def in_a_fork(job):
    """The rows that the fork writes; without a `status` if it did not come to its end."""
    if "mutant" not in job:
        marked(tuple(job["modules"]))
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        os.set_inheritable(writer, False)
        with contextlib.suppress(BaseException):
            run(job, lambda row: os.write(writer, json.dumps(row).encode() + b"\n"))
        os._exit(0)
    os.close(writer)
    text, until = b"", time.monotonic() + job["patience"]
    while (left := until - time.monotonic()) > 0 and select.select([reader], [], [], left)[0]:
        block = os.read(reader, 1 << 16)
        text += block
        if not block or b'{"status"' in text[-40:]:
            break
    os.close(reader)
    end_children()
    return [json.loads(line) for line in text.splitlines() if line.endswith(b"}")]


def children():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:
            if int(file.read().rpartition(")")[2].split()[1]) == os.getpid():
                yield int(pid)


def end_children():
    """All, those of the fork too, which become this process's own."""
    while pids := list(children()):
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.chdir(ROOT)
    os.environ["CI"] = "1"  # the same examples each time
    for name in LOADED:
        importlib.import_module(name)
    try:
        for line in sys.stdin:
            print(json.dumps(in_a_fork(json.loads(line))), flush=True)
    finally:
        shutil.rmtree(FILES, ignore_errors=True)


if __name__ == "__main__":
    main()
