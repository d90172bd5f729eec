"""Files of every kind from Python: what the command does with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import tee
from typing import TYPE_CHECKING, Any, Literal

from streamcheck.api.commands import Commands
from streamcheck.api.results import require_specification
from streamcheck.api.runs import InterpretedRun
from streamcheck.core.errors import SpecError
from streamcheck.interpret.step import Step
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Specification

if TYPE_CHECKING:
    from streamcheck.run.certificates import Rechecked


def load(
    path: str,
    *,
    integers: Literal["c", "math"] = "c",
    predicates: Sequence[str] = (),
    expressions: Sequence[str] = (),
) -> LoadedSpec:
    """The spec or program in a file, `FILE` or `FILE::SPEC`: Python, Lustre, C, an automaton, VMT-LIB, BTOR2 or JSON.

    `integers` and `predicates` are for programs, as `--int` and `--predicate`. `expressions` are more observers of a
    spec in Python, as `--eval`.
    """
    from streamcheck.run.source import SourceOptions, Target, one, read

    target = Target.parse(path)
    reading = SourceOptions(integers, tuple(predicates), tuple(expressions))
    return LoadedSpec(one(read(target, reading=reading), target), target.path)


def check(certificate: str, *, timeout: float | None = None) -> Rechecked:
    """Check a saved certificate again, from the spec alone, as `streamcheck check` does: `ok`, or the reason `why`."""
    from streamcheck.run.certificates import recheck

    return recheck(certificate, timeout)


@dataclass(frozen=True, slots=True, repr=False)
class LoadedSpec(Commands):
    """One spec or program."""

    problem: Problem
    path: str

    @property
    def name(self) -> str:
        return self.problem.name

    @property
    def properties(self) -> list[str]:
        """The names of the properties, those too that operators imply."""
        return [p.name for p in self.problem.properties]

    def run(self, inputs: Iterable[Mapping[str, Any]] | Any = (), steps: int | None = None) -> InterpretedRun:
        """Interpret: the steps with their triggers and observers. `inputs` has a mapping of names to values for each
        step, or is a DataFrame with a column for each input."""
        return run_over(self._specification(), inputs, steps)

    def _repr_html_(self) -> str | None:
        """The dependency graph of a spec; a program has none."""
        from streamcheck.report.graph_svg import graph_svg

        return graph_svg(self.problem) if isinstance(self.problem, Specification) else None

    def __str__(self) -> str:
        from streamcheck.report.equations import show_equations

        return show_equations(self._specification())

    def _problem(self) -> Problem:
        return self.problem

    def _file(self) -> str:
        return self.path

    def _specification(self) -> Specification:
        return require_specification(self.problem)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.properties)} properties>"


def run_over(
    specification: Specification, inputs: Iterable[Mapping[str, Any]] | Any, steps: int | None
) -> InterpretedRun:
    """The run over rows, or over a DataFrame, to their end."""
    return InterpretedRun(specification, _steps_over(specification, inputs, steps))


def _steps_over(specification: Specification, inputs: Any, steps: int | None) -> Iterator[Step]:
    from streamcheck.interpret.python_code import plan, stepper
    from streamcheck.interpret.samples import OutOfSamples, rows

    planned = plan(specification)
    given = inputs.to_dict("records") if hasattr(inputs, "to_dict") else inputs
    read = [(str(v.payload), v.type, None) for v in planned.inputs]
    if not read and steps is None:
        given = list(given)
        steps = len(given)
    feeds = tee(given, len(read))
    samples = {name: _column(name, feed) for (name, _, _), feed in zip(read, feeds, strict=True)}
    with suppress(OutOfSamples):  # the end of the inputs
        yield from stepper(planned)(rows(read, samples, steps))


def _column(name: str, rows: Iterator[Mapping[str, Any]]) -> Iterator[Any]:
    for i, row in enumerate(rows):
        if name not in row:
            raise SpecError(f"step {i} has no value for {name}")
        yield row[name]
