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
    plot: PathText | None = None,
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
        plot=plot,
        reports=reports,
    )


def same_as_c(spec: Commands, directory: PathText, timeout: float) -> Results:
    """Prove that the step function in this directory, as `compile` writes it, calls the handlers that the spec calls,
    with the same arguments, for all inputs that meet the assumptions. SpecError if it has other handlers."""
    own, code = _side(spec), _side(_step_function(os.fspath(directory)))
    specification, written = read_sides(own.side, code.side, (), None)
    calls, called = ({t.name for t in s.triggers} for s in (specification, written))
    if not calls:
        raise SpecError(f"{specification.name} has no trigger, so its C would do nothing")
    if calls != called:
        names = ", ".join(sorted(calls ^ called))
        raise SpecError(f"only one of {specification.name} and the C in {os.fspath(directory)} calls {names}")
    outputs = tuple(sorted(calls))
    if specification.assumptions:  # the C may do anything once they are false
        return ComparedSpecs(code, own, Comparison(outputs, (), refines=True)).prove(timeout=timeout)
    return ComparedSpecs(own, code, Comparison(outputs, (), refines=False)).prove(timeout=timeout)


def _step_function(directory: str) -> str:
    """`DIR/NAME.c::NAME_step`."""
    if not os.path.isdir(directory):
        raise SpecError(f"{directory} is no folder; give the one that `compile -o` wrote")
    names = [name.removesuffix(".c") for name in sorted(os.listdir(directory)) if name.endswith(".c")]
    found = []
    for name in names:
        with open(os.path.join(directory, f"{name}.c"), encoding="utf-8") as file:
            if f"void {name}_step(" in file.read():
                found.append(f"{os.path.join(directory, name)}.c::{name}_step")
    if len(found) != 1:
        raise SpecError(
            f"{directory} has {len(found) or 'no'} step functions like NAME_step in NAME.c",
            write=f'equal(spec, "{directory}/FILE.c::FUNCTION")',
        )
    return found[0]


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
