"""`Spec` as users have it: the declarations of `lang.spec` and what can be done with them from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from streamcheck.api.commands import Commands
from streamcheck.api.files import run_over
from streamcheck.api.runs import InterpretedRun
from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import Value
from streamcheck.lang.spec import SpecBase

if TYPE_CHECKING:
    from streamcheck.problem.specification import Specification


class Spec(SpecBase, Commands):
    """Triggers, observers, properties and assumptions over streams."""

    def _problem(self) -> Specification:
        from streamcheck.lang.flatten import flatten
        from streamcheck.problem.specification_json import from_plain, to_plain

        return from_plain(to_plain(flatten(self)))  # as the command has it: no Python class in a type

    def _file(self) -> str:
        return str(self.namespace.get("__file__", f"{self.name}.py"))

    def _samples(self, most: int = 1000) -> list[dict[str, Value]]:
        """The inputs of the run on the samples by name, so many steps at most; none if an input has no samples."""
        from streamcheck.interpret.python_code import plan
        from streamcheck.interpret.samples import OutOfSamples, rows
        from streamcheck.lang.elaborate import elaborate
        from streamcheck.lang.flatten import Flattening

        elaborated = elaborate(self)
        read = plan(Flattening(elaborated).specification()).inputs
        samples = {e.name: e.samples for e in elaborated.externs}
        if any(samples[v.payload] is None for v in read):
            return []
        found: list[dict[str, Value]] = []
        sized = any(hasattr(samples[v.payload], "__len__") for v in read)
        try:
            for row in rows([(v.payload, v.type, None) for v in read], samples, most if sized else min(most, 20)):
                found.append({v.payload: value for v, value in zip(read, row, strict=True)})
        except OutOfSamples:
            pass
        return found

    def run(
        self, steps: int | None = None, inputs: Mapping[str, Any] | Iterable[Mapping[str, Any]] | Any = None
    ) -> InterpretedRun:
        """Interpret: the steps with their triggers and observers.

        `inputs` may map names to lists, iterators or functions of the step, which go before the samples of the externs;
        or be rows, a mapping of names to values for each step, or a DataFrame: then the run ends with them, or earlier
        after `steps`."""
        from streamcheck.interpret.python_code import plan, stepper
        from streamcheck.interpret.samples import rows
        from streamcheck.lang.elaborate import elaborate
        from streamcheck.lang.flatten import Flattening

        if inputs is not None and not isinstance(inputs, Mapping):
            return run_over(self._problem(), inputs, steps)
        if not isinstance(steps, int) or steps < 0:
            raise SpecError(f"run(steps): expected an integer of at least 0, found {steps!r}", here())
        elaborated = elaborate(self)
        specification = Flattening(elaborated).specification()
        planned = plan(specification)
        known = {i.name: i for i in specification.inputs}
        for name in inputs or ():
            if name not in known:
                raise SpecError(f'{self.name} has no input named "{name}"', here())
        samples = {e.name: e.samples for e in elaborated.externs} | dict(inputs or {})
        read = [(known[v.payload].name, v.type, known[v.payload].where) for v in planned.inputs]
        return InterpretedRun(specification, stepper(planned)(rows(read, samples, steps)))

    def _repr_html_(self) -> str:
        """The dependency graph."""
        from streamcheck.report.graph_svg import graph_svg

        return graph_svg(self._problem())
