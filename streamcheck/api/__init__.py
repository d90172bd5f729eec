"""`Spec` as users have it: the declarations of `lang.spec` and what can be done with them from Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from streamcheck.api.commands import Commands
from streamcheck.api.runs import RunSource, Samples
from streamcheck.core.types import Value
from streamcheck.lang.calls import in_users_words
from streamcheck.lang.spec import SpecBase

if TYPE_CHECKING:
    from streamcheck.core.term import Term
    from streamcheck.problem.specification import Specification


class Spec(SpecBase, Commands):
    """Triggers, observers, properties and assumptions over streams."""

    if not TYPE_CHECKING:  # type checkers see the methods as they are
        __init__ = in_users_words(SpecBase.__init__, "Spec")
        prop = in_users_words(SpecBase.prop, "spec.prop")
        exists = in_users_words(SpecBase.exists, "spec.exists")
        infinitely_often = in_users_words(SpecBase.infinitely_often, "spec.infinitely_often")
        eventually = in_users_words(SpecBase.eventually, "spec.eventually")
        until = in_users_words(SpecBase.until, "spec.until")
        responds = in_users_words(SpecBase.responds, "spec.responds")
        fair = in_users_words(SpecBase.fair, "spec.fair")
        assume = in_users_words(SpecBase.assume, "spec.assume")
        observer = in_users_words(SpecBase.observer, "spec.observer")
        trigger = in_users_words(SpecBase.trigger, "spec.trigger")

    def _problem(self) -> Specification:
        from streamcheck.lang.flatten import flatten
        from streamcheck.problem.specification_json import from_plain, to_plain

        return from_plain(to_plain(flatten(self)))  # as the command has it: no Python class in a type

    def _file(self) -> str:
        return str(self.namespace.get("__file__", f"{self.name}.py"))

    def _namespace(self) -> Mapping[str, Any]:
        return self.namespace

    def _run_source(self, expressions: tuple[str, ...]) -> RunSource:
        return SpecSource(self, expressions)

    def _samples(self, most: int = 1000) -> list[dict[str, Value]]:
        """The inputs of the run on the samples by name, so many steps at most; none if an input has no samples."""
        from streamcheck.interpret.python_code import plan
        from streamcheck.interpret.samples import OutOfSamples

        source = SpecSource(self)
        inputs = plan(source.specification).inputs
        if any(source.given.get(v.payload) is None for v in inputs):
            return []
        samples = source.samples(inputs)
        found: list[dict[str, Value]] = []
        with suppress(OutOfSamples):
            for row in islice(samples.rows, most if samples.has_end else min(most, 20)):
                found.append({v.payload: value for v, value in zip(inputs, row, strict=True)})
        return found

    def _repr_html_(self) -> str:
        """The dependency graph."""
        from streamcheck.report.graph_svg import graph_svg

        return graph_svg(self._problem())


class SpecSource(RunSource):
    """The equations of a spec with the types of its module, so that enums are shown as their members."""

    def __init__(self, spec: SpecBase, expressions: tuple[str, ...] = ()) -> None:
        from streamcheck.lang.elaborate import elaborate
        from streamcheck.lang.expressions import with_expressions
        from streamcheck.lang.flatten import specification_of

        elaborated = elaborate(with_expressions(spec, expressions) if expressions else spec)
        self.specification = specification_of(elaborated)
        self.given: dict[str, Any] = {e.name: e.samples for e in elaborated.externs}

    def samples(self, inputs: Sequence[Term]) -> Samples:
        from streamcheck.interpret.samples import rows

        declared = {i.var: i for i in self.specification.inputs}
        has_end = any(hasattr(self.given.get(v.payload), "__len__") for v in inputs)
        return Samples(has_end, rows([(v.payload, v.type, declared[v].where) for v in inputs], self.given))
