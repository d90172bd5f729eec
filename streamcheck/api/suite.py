"""The answer of `spec.tests()`: what the runs cover, and the files that were written."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any

from streamcheck.api.arguments import PathText, check_arguments
from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.problem.test_suite import SuiteOfRuns


@dataclass(frozen=True, slots=True, repr=False)
class SuiteAnswer(SuiteOfRuns):
    """The runs, the state of each goal, and the paths of the files. `note` says why there is no test in C."""

    file: str = ""
    written: tuple[str, ...] = ()
    note: str = ""

    @check_arguments
    def to_json(self, file: PathText | None = None) -> dict[str, Any]:
        """The object that the command prints with `--json`; `file` stands in for the name of the spec's own."""
        from streamcheck.report.test_suite import suite_json

        return suite_json(self, self.file if file is None else os.fspath(file), self.written)

    def __str__(self) -> str:
        from streamcheck.report.test_suite import suite_lines

        return "\n".join(suite_lines(self))

    def __repr__(self) -> str:
        return f"<{self.specification.name}: {self.count('covered')} of {len(self.goals)} goals covered>"


def write_suite(suite: SuiteOfRuns, file: str, directory: str) -> SuiteAnswer:
    """Write the files of a suite: CSV, expected steps, pytest, and C if the spec can be compiled."""
    from streamcheck.deliver.covering_test import c_test
    from streamcheck.report.test_suite import suite_files

    files, note = suite_files(suite, os.path.relpath(file, directory)), ""
    try:
        files |= c_test(suite.specification, suite.runs) if suite.runs else {}
    except SpecError as why:
        note = why.message
    with refuse_unwritable(directory):
        os.makedirs(directory, exist_ok=True)
        write_whole({os.path.join(directory, name): text for name, text in files.items()})
    given = {f.name: getattr(suite, f.name) for f in fields(SuiteOfRuns)}
    return SuiteAnswer(**given, file=file, written=tuple(os.path.join(directory, name) for name in files), note=note)
