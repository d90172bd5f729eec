"""Realizability as Python has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.core.types import Value
from streamcheck.problem.realizability import Realizability


@dataclass(frozen=True, slots=True, repr=False)
class RealizabilityResult:
    """The answer: `verdict` is realizable, unrealizable or unknown; printed, it is what the command prints."""

    answer: Realizability

    @property
    def verdict(self) -> str:
        return self.answer.verdict

    @property
    def conflict(self) -> tuple[str, ...]:
        """Properties that cannot be kept together."""
        return self.answer.conflict

    @property
    def steps(self) -> list[Mapping[str, Value]]:
        """A run that the environment wins: inputs and outputs by name, at the last step inputs alone."""
        return [{str(v.payload): value for v, value in step.items()} for step in self.answer.run]

    @property
    def implementation(self) -> str:
        """The implementation as the text of a spec. SpecError if there is none."""
        from streamcheck.report.python_spec import write_python

        if self.answer.implementation is None:
            raise SpecError(f"{self.answer.specification.name} is {self.verdict}: it has no implementation")
        return write_python(self.answer.implementation, [str(o.payload) for o in self.answer.outputs])

    def write(self, path: str) -> None:
        """Write the implementation to a file; nothing if there is none."""
        if self.answer.implementation is not None:
            text = self.implementation
            with refuse_unwritable(path), open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def __str__(self) -> str:
        from streamcheck.report.realizability import realizability_lines

        return "\n".join(realizability_lines(self.answer))

    def __repr__(self) -> str:
        return f"<{self.answer.specification.name}: {self.verdict}>"
