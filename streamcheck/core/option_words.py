"""The options that results mention, as the reader would write them: at the command line, or in Python."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OptionWords:
    """For the whole run, some of its steps, a name of a row, more time, a condition of a program, C in spite of what is
    not proved, and C that is not proved equal to the spec."""

    full: str
    steps: str
    rows: str
    timeout: str
    predicate: str
    unproven: str
    no_validate: str


COMMAND = OptionWords(
    "--full", "--steps {}-{}", "--rows {}", "--timeout", "prove --predicate", "--unproven", "--no-validate"
)
PYTHON = OptionWords(
    "full=True", "steps=({}, {})", "rows=[{!r}]", "timeout=", "load(…, predicates=)", "unproven=True", "validate=False"
)
