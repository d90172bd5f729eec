"""The trusted base: its table in docs/trust.md is right, and it does not grow."""

from __future__ import annotations

import re

from base_lines import (
    CHECKER,
    COMPONENTS,
    GOALS,
    IMPLIED,
    LANGUAGE,
    LIBRARY,
    NAMES,
    ROOT,
    SHAPES,
    SPECS,
    WORDS,
    base,
    closure,
    counted,
)
from executed import NAMES as PACKAGE
from executed import executed

from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load
from streamcheck.run.evidence_files import certificate_files
from streamcheck.run.prove import Settings, prove

MOST = 6370  # lines that a proof of a spec in Python rests on. To make it larger needs a reason in docs/trust.md
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
    assert not {"core.simplify", "core.meaning", "core.evaluate", "core.intervals"} & closure(CHECKER.entries)
    assert "core.simplify" in closure(LANGUAGE)  # of implied claims


SPEC = """
from streamcheck import *
b, f = extern("b", Bool), extern("f", Float)
cells = stream(Array(Word8, 3), lambda a: [[0, 0, 0]] ++ a.set(unsafe_cast(Word8, f), mux(b & (a[0] < 9), a[0] + 1, 3)))
half = stream(Int, lambda n: [0, 1] ++ mux(b, n // 2 + drop(1, n), 5))
spec = Spec("s")
spec.assume("some", b | (f > 0.5))
spec.prop("small", (cells[0] < 10) | ptltl.always_been(half >= 0))
"""


def test_what_runs_during_a_check_is_in_the_base(tmp_path, monkeypatch):
    """Of the rest, what refuses names and files, implied claims and the library have their own rows or reasons."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.py").write_text(SPEC)
    (spec,) = load("s.py")
    verdicts = prove(flatten(spec), Settings(timeout=60))
    (tmp_path / "small.json").write_text(certificate_files(verdicts, "s.py", ".")["small"][1])
    verdict, ran = executed(tmp_path / "small.json")
    taken = set()
    counted(SPECS, taken)
    refusing = {*WORDS, *NAMES, *SHAPES, "api.arguments"}
    assert verdict == "holds" and len(ran & taken) > 30
    assert {"certify.check", "certify.judge", "lang.check_flattening", "run.child", "core.term"} <= ran
    assert ran - taken - {PACKAGE} <= refusing | {*IMPLIED, *LIBRARY, *COMPONENTS, *GOALS, "certify.lots"}
