"""The checker and the first worker, started early: they load their solvers while the spec is being read.

The first worker decides most properties within a few milliseconds, and loading a solver takes longer than that. These
two receive their problem on their channel, unless it is so large that a process forked now is there sooner; all other
processes are forked later, from a command that has the systems in memory. The worker has the engines' default options,
so a run with others starts its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from types import TracebackType

from streamcheck.core.term import Term, walk
from streamcheck.engines.protocol import Task
from streamcheck.problem.problem import Problem, problem_from_plain, problem_to_plain
from streamcheck.problem.system_json import system_from_plain, system_to_plain
from streamcheck.run import checking, workers
from streamcheck.run.child import Channel, Child
from streamcheck.run.registry import build
from streamcheck.run.strategy import FIRST, work_counter

LARGE = 15_000  # terms: to write and read as many takes as long as to load a solver again (measured)


def is_large(roots: Iterable[Term]) -> bool:
    """True if there are so many terms that a new process, forked with them in memory, is there sooner."""
    return next(islice(walk(roots), LARGE, None), None) is not None


class Standby:
    """The checker and the first worker, until a run takes them. Use as a context manager."""

    def __init__(self) -> None:
        self._checker: Child | None = Child(_check)
        self._worker: Child | None = Child(_work)

    def __enter__(self) -> Standby:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        for child in (self._checker, self._worker):
            if child is not None:
                child.end()

    def checker(self, problem: Problem) -> Child | None:
        """The checker of this problem's certificates, if it is still here and the problem is not too large to send."""
        child, self._checker = self._checker, None
        if child is not None and is_large(problem.roots()):
            child.end()
            return None
        if child is not None:
            child.channel.post(problem_to_plain(problem))
        return child

    def worker(self, engines: tuple[str, ...], problem: Task) -> Child | None:
        """The worker, if it is still here, has these engines, and the system is not too large to send."""
        if engines != FIRST:
            return None
        child, self._worker = self._worker, None
        if child is not None and is_large(problem.system.roots()):
            child.end()
            return None
        if child is not None:
            child.channel.post({"system": system_to_plain(problem.system), "patience": problem.patience})
        return child


def _check(channel: Channel) -> None:
    checking.serve(lambda: problem_from_plain(channel.receive(None)), channel)


def _work(channel: Channel) -> None:
    build(FIRST)
    work_counter()()  # the solver has been used once: what it builds for itself is there
    row = channel.receive(None)
    problem = Task(system_from_plain(row["system"]), patience=row["patience"])
    workers.work(lambda: build(FIRST), problem, channel, ())
