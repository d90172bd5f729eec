"""Two specs compared, from Python: what `streamcheck equal` does."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamcheck.api.arguments import Count, Duration, PathText, check_arguments
from streamcheck.api.commands import Commands, ReportFormat, TraceFormat
from streamcheck.api.runs import RunSource
from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.run.sides import Side, read_sides
from streamcheck.run.source import Target
from streamcheck.transform.product import Comparison, product, require_specification

if TYPE_CHECKING:
    from streamcheck.api.results import Results
    from streamcheck.problem.problem import Problem
    from streamcheck.problem.specification import Specification
    from streamcheck.run.evidence_files import ComparedFiles


@check_arguments
def equal(
    first: Commands | PathText,
    second: Commands | PathText,
    *,
    outputs: Sequence[str] = (),
    renames: Mapping[str, str] | None = None,
    refines: bool = False,
    timeout: Duration = 60.0,
    jobs: Count | None = None,
    engines: Sequence[str] = (),
    options: Mapping[str, bool | int | str] | None = None,
    memory: Count | None = None,
    deterministic: bool = False,
    cache: PathText | None = None,
    certificates: PathText | None = None,
    traces: Sequence[tuple[TraceFormat, PathText]] = (),
    html: PathText | None = None,
    reports: Sequence[tuple[ReportFormat, PathText]] = (),
) -> Results:
    """Prove that two specs, or those of two files, have the same outputs for all inputs, as `streamcheck equal` does.

    A result for each output; its counterexample shows the values of both sides. `outputs` are patterns of names;
    without them all are compared. `renames` maps names of inputs and outputs of the first to those of the second.
    With `refines`, the question is if the first may take the place of the second. The other options are as of `prove`.
    """
    sides = [_side(side) for side in (first, second)]
    comparison = Comparison(tuple(outputs), tuple((renames or {}).items()), refines)
    return ComparedSpecs(sides[0], sides[1], comparison).prove(
        timeout=timeout,
        jobs=jobs,
        engines=engines,
        options=options,
        memory=memory,
        deterministic=deterministic,
        cache=cache,
        certificates=certificates,
        traces=traces,
        html=html,
        reports=reports,
    )


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """One side: what it is, and its file."""

    side: Side
    file: str


def _side(given: Commands | PathText) -> ComparedSide:
    if isinstance(given, Commands):
        return ComparedSide(require_specification(given._problem()), given._file())
    target = Target.parse(os.fspath(given))
    return ComparedSide(target, target.path)


@dataclass(frozen=True, slots=True)
class ComparedSpecs(Commands):
    """Two specs as one, whose properties say that their outputs are the same."""

    a: ComparedSide
    b: ComparedSide
    comparison: Comparison

    def _sides(self) -> tuple[Specification, Specification]:
        return read_sides(self.a.side, self.b.side, self.comparison.renames, None)

    def _problem(self) -> Problem:
        return product(*self._sides(), self.comparison)

    def _file(self) -> str:
        return self.a.file

    def _other_side(self) -> ComparedFiles | None:
        from streamcheck.run.evidence_files import ComparedFiles

        first, second = self._sides()
        return ComparedFiles((first.name, second.name), self.b.file, self.comparison)

    def _run_source(self, expressions: tuple[str, ...]) -> RunSource:
        raise SpecError("a comparison is proved, not run", here())
