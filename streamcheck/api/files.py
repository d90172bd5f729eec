"""Files of every kind from Python: what the command does with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import tee
from typing import TYPE_CHECKING, Any, Literal

from streamcheck.api.commands import Commands
from streamcheck.api.results import require_specification
from streamcheck.core.errors import SpecError
from streamcheck.interpret.step import Step
from streamcheck.problem.problem import Problem

if TYPE_CHECKING:
    from streamcheck.problem.specification import Specification


def load(path: str, *, integers: Literal["c", "math"] = "c", predicates: Sequence[str] = ()) -> LoadedSpec:
    """The spec or program in a file, `FILE` or `FILE::SPEC`: Python, Lustre, C, an automaton, VMT-LIB, BTOR2 or JSON.

    `integers` and `predicates` are for programs, as `--int` and `--predicate`.
    """
    from streamcheck.run.source import SourceOptions, Target, one, read

    target = Target.parse(path)
    return LoadedSpec(one(read(target, reading=SourceOptions(integers, tuple(predicates))), target))


@dataclass(frozen=True, slots=True, repr=False)
class LoadedSpec(Commands):
    """One spec or program."""

    problem: Problem

    @property
    def name(self) -> str:
        return self.problem.name

    @property
    def properties(self) -> list[str]:
        """The names of the properties, those too that operators imply."""
        return [p.name for p in self.problem.properties]

    def run(self, inputs: Iterable[Mapping[str, Any]] | Any = (), steps: int | None = None) -> Iterator[Step]:
        """Interpret: the steps with their triggers and observers. `inputs` has a mapping of names to values for each
        step, or is a DataFrame with a column for each input."""
        from streamcheck.interpret.python_code import plan, stepper
        from streamcheck.interpret.samples import OutOfSamples, rows

        planned = plan(self._specification())
        given = inputs.to_dict("records") if hasattr(inputs, "to_dict") else inputs
        read = [(str(v.payload), v.type, None) for v in planned.inputs]
        if not read and steps is None:
            given = list(given)
            steps = len(given)
        feeds = tee(given, len(read))
        samples = {name: _column(name, feed) for (name, _, _), feed in zip(read, feeds, strict=True)}
        with suppress(OutOfSamples):  # the end of the inputs
            yield from stepper(planned)(rows(read, samples, steps))

    def __str__(self) -> str:
        from streamcheck.report.equations import show_equations

        return show_equations(self._specification())

    def _problem(self) -> Problem:
        return self.problem

    def _specification(self) -> Specification:
        return require_specification(self.problem)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self.properties)} properties>"


def _column(name: str, rows: Iterator[Mapping[str, Any]]) -> Iterator[Any]:
    for i, row in enumerate(rows):
        if name not in row:
            raise SpecError(f"step {i} has no value for {name}")
        yield row[name]
