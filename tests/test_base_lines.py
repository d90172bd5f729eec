"""The trusted base: its table in docs/trust.md is right, and it does not grow."""

from __future__ import annotations

import re

from base_lines import CHECKER, LANGUAGE, ROOT, base, closure

MOST = 6870  # lines that a proof of a spec in Python rests on. To make it larger needs a reason in docs/trust.md
NEAR = 40  # lines that a figure of the table may be wrong by


def test_the_base_is_as_large_as_the_documentation_says():
    shown = (ROOT / "docs" / "trust.md").read_text()
    table = {what: int(lines.replace(",", "")) for what, lines in re.findall(r"\| (.*) \| ([\d,]+) \|", shown)}
    *parts, (_, others) = base()[1]  # what need not be right may grow
    assert others > 20_000
    for what, lines in parts:
        assert abs(table[what] - lines) <= NEAR * (1 + lines // 5000), f"{what}: {lines} lines"


def test_the_base_does_not_grow():
    lines, _ = base()
    assert lines <= MOST


def test_the_checker_is_loaded_without_simplification():
    """It was: the records of programs had rules for conditions, which only engines need."""
    assert not {"core.simplify", "core.evaluate", "core.intervals"} & closure(CHECKER.entries)
    assert "core.simplify" in closure(LANGUAGE)  # of implied claims
