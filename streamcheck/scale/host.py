"""The process beside a worker that runs solvers: one unit at a time, each in a child that is killed in time.

A worker of an executor is a thread that nobody can stop, in a process with other threads, from which no solver should
be forked. So each has a host: `python -m streamcheck.scale.host`, a process with one thread and the solvers loaded. It
gets a unit, forks a solver for it, and answers when the unit's budget is used, when nothing is left to try, or a while
after a verdict: as long as a quarter of the time that it took, so many verdicts come in few answers.

A solver whose budget is used is paused and stays for `LINGER` seconds: if the unit's next budget comes to the same
host, it goes on where it was. That is all that this saves; a unit may go on anywhere, from its facts. Units of many
specs take turns on a host, so it keeps solvers of all of them, and the problems of the last ones.

The host ends when its worker does (its standard input is at its end), or has no unit for `IDLE` seconds.
"""

from __future__ import annotations

import base64
import os
import select
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamcheck.engines.protocol import Fact
from streamcheck.run import workers
from streamcheck.run.child import Channel, Child, Ended, Forged, TooLate
from streamcheck.run.events import event_from_plain
from streamcheck.run.registry import build, entry_of
from streamcheck.run.strategy import FIRST, work_counter
from streamcheck.run.workers_memory import used_by
from streamcheck.scale.units import FORMAT, Recent, compact, open_sealed, task_of

LINGER = 20.0  # seconds that a paused solver stays
MOST_PAUSED = 12
IDLE = 30.0
LOOK = 0.05  # seconds between looks at the budget and the memory
SOON = 0.1  # seconds of processor time after a verdict, at least
PATIENCE = 8.0  # seconds of the clock for each of processor time, on a machine that has other work
SLACK = 5.0  # and more of them
VERDICTS = ("proved", "falsified", "falsified along")
RESULT_SPACE = 1 << 28  # bytes of rows in an answer (a rough measure), after which it goes


def wall_seconds(budget: float) -> float:
    """The seconds of the clock after which a budget of processor time is over in any case."""
    return PATIENCE * budget + SLACK


@dataclass(eq=False, slots=True)
class HostedSolver:
    """A unit's solver."""

    key: str
    child: Child
    heard: int  # facts
    since: float = 0.0  # paused
    is_idle: bool = False
    left: set[str] = field(default_factory=set)  # engines that were taken away


@dataclass(eq=False, slots=True)
class Host:
    channel: Channel  # of the worker
    paused: dict[str, HostedSolver] = field(default_factory=dict)
    problems: Recent[str] = field(default_factory=Recent)  # sealed, by digest

    def serve(self) -> None:
        build(FIRST)
        work_counter()()
        last = time.monotonic()
        while time.monotonic() - last < IDLE:
            try:
                request = self.channel.receive(1.0)
            except TooLate:
                self._forget(before=time.monotonic() - LINGER)
                continue
            if "cancel" in request:  # of a unit that has been answered meanwhile
                continue
            self.channel.send(self.answer(request))
            last = time.monotonic()

    def answer(self, unit: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a unit: what its solver has found in its budget."""
        blank = {"format": FORMAT, "key": unit["key"], "rows": [], "spent": 0.0, "heard": 0, "why": ""}
        digest = unit["problem digest"]
        self.problems.use(digest, unit.get("problem", self.problems.get(digest)))
        if unit["format"] != FORMAT:
            return {**blank, "state": "refused", "why": f"it has {FORMAT}, the task is of {unit['format']}"}
        solver = self.paused.pop(unit["key"], None)
        if solver is not None and solver.heard + len(unit["new"]) != unit["facts"]:
            solver.child.end()  # its last answer was lost: it knows other facts
            solver = None
        try:
            solver = self._begin(unit) if solver is None else self._continue(solver, unit)
            return {**blank, **self._watch(solver, unit)}
        except Exception as why:  # whatever is in a message
            return {**blank, "state": "failed", "why": f"{type(why).__name__}: {why}"}

    def _begin(self, unit: Mapping[str, Any]) -> HostedSolver:
        problem = open_sealed(base64.b64decode(self.problems.get(unit["problem digest"]) or ""))
        task = task_of(problem, unit["claims"], unit["patience"])
        types = {**task.system.variable_types}
        if task.program is not None:
            chosen = (c for e in task.program.edges for c in e.choices)
            types |= {str(v.payload): v.type for v in (*task.program.variables, *chosen)}
        known: list[Fact] = [event_from_plain(row, types) for row in (*unit["known"], *unit["new"])]  # type: ignore[misc]
        names = [name for name in unit["engines"] if name not in unit["leave"]]
        options = {name: entry_of(name).options_with(given) for name, given in unit["options"].items()}
        child = Child(lambda channel: workers.work(lambda: build(names, options), task, channel, known))
        return HostedSolver(unit["key"], child, unit["facts"], left=set(unit["leave"]))

    def _continue(self, solver: HostedSolver, unit: Mapping[str, Any]) -> HostedSolver:
        for name in set(unit["leave"]) - solver.left:
            solver.child.channel.post({"leave": name})
            solver.left.add(name)
        for row in unit["new"]:
            solver.child.channel.post(row)
            solver.is_idle = False
        solver.heard = unit["facts"]
        solver.child.resume()
        return solver

    def _watch(self, solver: HostedSolver, unit: Mapping[str, Any]) -> dict[str, Any]:
        """Wait for the end of the budget, and take what comes."""
        began, clock = solver.child.processor_time(), time.monotonic()
        last = clock + wall_seconds(unit["budget"])
        due, size = unit["budget"], 0
        rows: list[Any] = []
        state, why = "", ""
        while not state:
            spent = solver.child.processor_time() - began
            if spent >= due or time.monotonic() >= last or size > RESULT_SPACE:
                state = "open"
                break
            if used_by(solver.child.pid) > unit["memory"]:
                state, why = "failed", f"the memory limit of {unit['memory'] // 1_000_000} MB is too small"
                break
            channel = solver.child.channel
            room = [channel.write] if channel.unsent else []
            ready, can_write, _ = select.select([self.channel.read, channel.read], room, [], LOOK)
            if can_write:
                channel.flush()
            if self.channel.read in ready and self._is_cancelled():
                state, why = "failed", "cancelled"
            if channel.read in ready:
                before = len(rows)
                state, why = self._take(solver, rows) or (state, why)
                size += sum(map(_size, rows[before:]))
                if any(word in row for row in rows[before:] for word in VERDICTS):
                    due = min(due, max(spent + SOON, spent * 1.25))
        spent = solver.child.processor_time() - began
        self._put_aside(solver, state)
        return {"rows": compact(rows), "state": state, "why": why, "spent": spent, "heard": solver.heard}

    def _take(self, solver: HostedSolver, rows: list[Any]) -> tuple[str, str] | None:
        """Add the records that have come. Returns the state if that is the end of this budget."""
        try:
            records = solver.child.channel.available()
        except (Ended, Forged):
            return "failed", f"its solver died ({solver.child.end(silent=True) or 'it wrote no record'})"
        finally:
            solver.child.channel.logged.clear()
        for record in records:
            match record:
                case {"ended": True}:
                    return "ended", ""
                case {"idle": int()}:
                    solver.is_idle = not solver.child.channel.unsent
                case {"engine": str()}:
                    solver.is_idle = False
                    rows.append(record)
        return ("idle", "") if solver.is_idle else None

    def _put_aside(self, solver: HostedSolver, state: str) -> None:
        if state not in ("open", "idle") or not solver.child.pause():
            solver.child.end()
            return
        solver.since = time.monotonic()
        self.paused[solver.key] = solver
        while len(self.paused) > MOST_PAUSED:
            self.paused.pop(next(iter(self.paused))).child.end()

    def _is_cancelled(self) -> bool:
        try:
            return any("cancel" in request for request in self.channel.available())
        except (Ended, Forged):  # the worker has gone
            self._forget()
            os._exit(0)  # every solver ends with this process

    def _forget(self, before: float = float("inf")) -> None:
        """End the solvers that were paused before then."""
        for key, solver in list(self.paused.items()):
            if solver.since < before:
                del self.paused[key]
                solver.child.end()


def _size(row: dict[str, Any]) -> int:
    """The bytes of a record, roughly: those of its longest lists."""
    lists = [part for value in row.values() if isinstance(value, dict) for part in value.values()]
    return 200 + sum(64 * len(part) for part in lists if isinstance(part, list))


def main() -> None:
    sys.set_int_max_str_digits(0)
    token = bytes.fromhex(sys.argv[1])
    read, write = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    host = Host(Channel(read, write, token))
    try:
        host.serve()
    except (Ended, Forged, BrokenPipeError):  # the worker has gone
        pass
    finally:
        host._forget()


if __name__ == "__main__":
    main()
