"""The results of one spec of a proof, with what files say of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from streamcheck.core.location import Location
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.verdicts import Report, how_text, verdict_word


@dataclass(frozen=True, slots=True)
class ProvedFile:
    """The verdicts on one spec, with its file and the files of saved certificates by property."""

    verdicts: Verdicts
    file: str
    saved: Mapping[str, str]

    def title(self, result: Result) -> str:
        """`never_long falsified: bmc, step 3, …`."""
        how = how_text(result, machine=self.verdicts.machine, bound=self.verdicts.bound)
        return f"{result.name} {verdict_word(result)}: {how}"

    def details(self, result: Result) -> str:
        """The lines that the command prints below its verdict: the run, or what is known."""
        report = Report(self.verdicts.problem, self.verdicts.machine, self.verdicts.bound)
        return "\n".join(list(report.result(result))[1:])

    def place(self, where: Location | None) -> tuple[str, int]:
        """The file and the line; the first line of the spec's file if it is not known."""
        problem = self.verdicts.problem
        if where is None and isinstance(problem, Specification):
            where = problem.where
        return (relative(self.file), 1) if where is None else (relative(where.file), where.line)


def relative(path: str) -> str:
    """The path from the working directory, if it lies below."""
    below = os.path.relpath(path) if os.path.isabs(path) else path
    return path if below.startswith("..") else below
