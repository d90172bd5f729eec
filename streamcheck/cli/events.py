"""A proof as JSON events, one on each line (`docs/events.schema.json`), for programs that watch it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from streamcheck import __version__
from streamcheck.cli.live import NOTHING
from streamcheck.cli.output import emit
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result, Verdicts
from streamcheck.report.verdicts_json import result_json
from streamcheck.run.director import Director
from streamcheck.run.prove import Nobody
from streamcheck.run.registry import ENGINES

EVERY = 1.0  # seconds between events of progress


class Silent(Nobody):
    """The audience of a proof that is reported at its end."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None: ...

    def finish(self, verdicts: Verdicts, saved: Mapping[str, str] = NOTHING) -> None: ...


class Events(Silent):
    """`begin`, then `verdict` and `progress` as they come, then `end`."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problem: Problem | None = None
        self.machine = False
        self.last = time.monotonic()
        self._heard: set[str] = set()

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None:
        self.problem, self.machine = problem, machine
        properties = [{"name": p.name, "implied": p.is_implied, "goal": p.goal.value} for p in problem.properties]
        self._tell("begin", tool="streamcheck", version=__version__, file=self.file, bound=bound, properties=properties)

    def hear(self, result: Result) -> None:
        assert self.problem is not None
        self._heard.add(result.name)
        self._tell("verdict", property=result_json(self.problem, result, None, machine=self.machine))

    def watch(self, director: Director) -> None:
        now = time.monotonic()
        if now - self.last < EVERY:
            return
        self.last = now
        rows = [
            {
                "name": name,
                "depth": director.depth_of(name),
                "checking": director.is_being_checked(name),
                "engines": [
                    {"name": w.engine, "model": w.model, "depth": w.depth, "doing": ENGINES[w.engine].work_at(w.depth)}
                    for w in director.work_on(name)
                ],
            }
            for name in director.open_properties()
        ]
        self._tell("progress", seconds=round(director.elapsed, 3), open=rows)

    def finish(self, verdicts: Verdicts, saved: Mapping[str, str] = NOTHING) -> None:
        if self.problem is None:
            self.begin(verdicts.problem, machine=verdicts.machine, bound=verdicts.bound)
        for result in verdicts.results:
            if result.name not in self._heard:
                self.hear(result)
        self._tell(
            "end",
            seconds=round(verdicts.seconds, 3),
            status=verdicts.status,
            warnings=verdicts.warnings,
            alarms=verdicts.alarms,
            certificates=dict(saved),
        )

    def _tell(self, event: str, **fields: Any) -> None:
        assert self.problem is not None
        emit([json.dumps({"event": event, "spec": self.problem.name} | fields)])
