"""Runs in files: `prove --trace FORMAT DIR`."""

from __future__ import annotations

import os
import re
from itertools import chain, count

from streamcheck.core.errors import refuse_unwritable
from streamcheck.problem.result import Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.trace_files import FORMATS


def write_traces(verdicts: Verdicts, file: str, shape: str, folder: str) -> None:
    """A file for each counterexample or witness of a spec, named after the spec and the property."""
    problem = verdicts.problem
    if not isinstance(problem, Specification):
        return
    with refuse_unwritable(folder):
        _write(verdicts, problem, file, shape, folder)


def _write(verdicts: Verdicts, problem: Specification, file: str, shape: str, folder: str) -> None:
    os.makedirs(folder, exist_ok=True)
    stem = os.path.splitext(os.path.basename(file))[0]
    taken: set[str] = set()
    for result in verdicts.results:
        if result.run is not None:
            wish = re.sub(r"[^\w.-]+", "_", f"{stem}.{problem.name}.{result.name}")
            name = next(n for n in chain([wish], (f"{wish}_{i}" for i in count(2))) if n.casefold() not in taken)
            taken.add(name.casefold())
            with open(os.path.join(folder, f"{name}.{shape}"), "w", encoding="utf-8", newline="") as out:
                out.write(FORMATS[shape](problem, result.prop, result.run))
