"""The answers of `spec.why()` and `spec.cuts()` as Python has them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from streamcheck.api.arguments import PathText, check_arguments
from streamcheck.api.results import RecordedRun
from streamcheck.problem.needs import AllNeeds, Needs


@dataclass(frozen=True, slots=True, repr=False)
class NeedsAnswer(AllNeeds):
    """The needs of each property, by number or by name, and the elements that no property needs (`coverage_gaps`)."""

    file: str = ""
    shows_cuts: bool = False

    @staticmethod
    def of(whole: AllNeeds, file: str, *, shows_cuts: bool) -> NeedsAnswer:
        given = {f.name: getattr(whole, f.name) for f in fields(AllNeeds)}
        return NeedsAnswer(**given, file=file, shows_cuts=shows_cuts)

    def __iter__(self) -> Iterator[Needs]:
        return iter(self.properties)

    def __len__(self) -> int:
        return len(self.properties)

    def __getitem__(self, key: int | str) -> Needs:
        if isinstance(key, int):
            return self.properties[key]
        for needs in self.properties:
            if needs.claim.name == key:
                return needs
        raise KeyError(f"{key!r}; there are {', '.join(n.claim.name for n in self.properties)}")

    @check_arguments
    def runs(self, prop: str) -> list[RecordedRun]:
        """The runs of the cuts of this property: each breaks it, with the elements of its cut free."""
        cuts = self[prop].cuts
        return [RecordedRun(cut.weakened.specification, cut.weakened.claim, cut.run) for cut in cuts]

    @check_arguments
    def to_json(self, file: PathText | None = None) -> dict[str, Any]:
        """The object that the command prints with `--json`; `file` stands in for the name of the spec's own."""
        from streamcheck.report.needs import needs_json

        return needs_json(self, self.file if file is None else os.fspath(file))

    def __str__(self) -> str:
        from streamcheck.report.needs import cut_lines, why_lines

        return "\n".join(cut_lines(self) if self.shows_cuts else why_lines(self))

    def __repr__(self) -> str:
        return f"<{self.specification.name}: what {', '.join(n.claim.name for n in self.properties)} need>"
