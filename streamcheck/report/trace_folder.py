"""Runs in files: `prove --trace FORMAT DIR`."""

from __future__ import annotations

import os
import re
from itertools import chain, count
from typing import assert_never

from streamcheck.core.errors import refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.page.proof import run_page
from streamcheck.report.path_files import PATH_FORMATS
from streamcheck.report.trace_files import FORMATS


def write_traces(verdicts: Verdicts, file: str, shape: str, folder: str) -> int:
    """Write a file for each counterexample or witness, named after the spec or program and the property. Returns their
    number."""
    with refuse_unwritable(folder):
        return _write(verdicts, file, shape, folder)


def _write(verdicts: Verdicts, file: str, shape: str, folder: str) -> int:
    os.makedirs(folder, exist_ok=True)
    stem = os.path.splitext(os.path.basename(file))[0]
    taken: set[str] = set()
    for result in verdicts.results:
        text = _text(verdicts.problem, result, shape)
        if text is not None:
            wish = re.sub(r"[^\w.-]+", "_", f"{stem}.{verdicts.problem.name}.{result.name}")
            name = next(n for n in chain([wish], (f"{wish}_{i}" for i in count(2))) if n.casefold() not in taken)
            taken.add(name.casefold())
            write_whole({os.path.join(folder, f"{name}.{shape}"): text})
    return len(taken)


def _text(problem: Problem, result: Result, shape: str) -> str | None:
    """The result's run in this format. None if it has none."""
    if shape == "html":
        return None if result.replay is None else run_page(problem, result).text()
    match problem:
        case Specification():
            return None if result.run is None else FORMATS[shape](problem, result.prop, result.run)
        case Automaton():
            return None if result.path is None else PATH_FORMATS[shape](problem, result.prop, result.path)
    assert_never(problem)
