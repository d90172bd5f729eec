"""The answer of `spec.mutants()`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from streamcheck.api.arguments import PathText, check_arguments
from streamcheck.problem.mutants import Mutant, Mutants


@dataclass(frozen=True, slots=True, repr=False)
class MutantsAnswer(Mutants):
    """The mutants, in the order of the definitions."""

    file: str = ""

    @staticmethod
    def of(whole: Mutants, file: str) -> MutantsAnswer:
        return MutantsAnswer(**{f.name: getattr(whole, f.name) for f in fields(Mutants)}, file=file)

    def __iter__(self) -> Iterator[Mutant]:
        return iter(self.mutants)

    def __len__(self) -> int:
        return len(self.mutants)

    @check_arguments
    def to_json(self, file: PathText | None = None) -> dict[str, Any]:
        """The object that the command prints with `--json`; `file` stands in for the name of the spec's own."""
        from streamcheck.report.mutants import mutants_json

        return mutants_json(self, self.file if file is None else os.fspath(file))

    def __str__(self) -> str:
        from streamcheck.report.mutants import mutant_lines

        return "\n".join(mutant_lines(self))

    def __repr__(self) -> str:
        return f"<{self.specification.name}: {self.count('not noticed')} of {len(self.mutants)} mutants not noticed>"
