"""A run of the interpreter in Python: an iterator over its steps, a timeline in notebooks, a DataFrame."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.interpret.step import Step
from streamcheck.problem.specification import Specification

MOST_SHOWN = 200  # steps that a notebook shows


class InterpretedRun(Iterator[Step]):
    """The steps of a run, each computed when it is asked for."""

    def __init__(self, specification: Specification, steps: Iterator[Step]) -> None:
        self._specification = specification
        self._steps = steps
        self._ahead: deque[Step] = deque()  # computed for a picture, and not taken yet
        self._failure: SpecError | None = None  # of the step after these

    def __next__(self) -> Step:
        if self._ahead:
            return self._ahead.popleft()
        if self._failure is not None:
            raise self._failure
        return next(self._steps)

    def to_pandas(self) -> Any:
        """The steps that are left as a DataFrame; needs pandas. A trigger's column has its arguments, or None."""
        pandas = import_module("pandas")
        triggers = [t.name for t in self._specification.triggers]
        steps = list(self)
        rows = [
            {**{name: step.triggers.get(name) for name in triggers}, **step.observers, "broken": list(step.broken)}
            for step in steps
        ]
        return pandas.DataFrame(rows, index=pandas.Index([step.step for step in steps], name="step"))

    def _repr_html_(self) -> str:
        """The next steps as a timeline, and why there are no more if that is an error. They are still there to be
        taken."""
        from streamcheck.report.timeline import run_of_steps

        try:
            self._ahead.extend(islice(self._steps, max(0, MOST_SHOWN - len(self._ahead))))
        except SpecError as failure:
            self._failure = failure
        note = "" if self._failure is None else f"<pre>{html.escape(str(self._failure))}</pre>"
        return run_of_steps(self._specification, list(self._ahead)) + note
