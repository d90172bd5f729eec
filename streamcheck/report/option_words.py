"""The options that reports mention, as the reader would write them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OptionWords:
    """For the whole run, some of its steps, a name of a row, more time, and a condition of a program."""

    full: str
    steps: str
    rows: str
    timeout: str
    predicate: str


COMMAND = OptionWords("--full", "--steps {}-{}", "--rows {}", "--timeout", "prove --predicate")
PYTHON = OptionWords("full=True", "steps=({}, {})", "rows=[{!r}]", "timeout=", "load(…, predicates=)")
