"""A problem: a specification or an automaton, with its claims."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, TypeAlias, assert_never

from streamcheck.core.wire import TermReader, TermWriter
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.automaton_json import automaton_from_plain, automaton_to_plain
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import from_plain, to_plain

Problem: TypeAlias = Specification | Automaton


def claim_named(problem: Problem, name: str) -> Claim:
    return next(p for p in problem.properties if p.name == name)


def with_properties(problem: Problem, names: Collection[str]) -> Problem:
    """The problem with these properties only."""
    match problem:
        case Specification():
            return replace(problem, properties=tuple(p for p in problem.properties if p.name in names))
        case Automaton():
            return replace(problem, errors=tuple(e for e in problem.errors if e.name in names))
    assert_never(problem)


def problem_to_plain(problem: Problem) -> dict[str, Any]:
    match problem:
        case Specification():
            return {"specification": to_plain(problem)}
        case Automaton():
            w = TermWriter()
            row = automaton_to_plain(problem, w)
            return {"automaton": row, "types": w.types, "terms": w.terms}
    assert_never(problem)


def problem_from_plain(row: dict[str, Any]) -> Problem:
    if "specification" in row:
        return from_plain(row["specification"])
    return automaton_from_plain(row["automaton"], TermReader(row["types"], row["terms"]))
