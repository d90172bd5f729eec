"""Files of code to automata, with one edge for each statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from streamcheck.problem.automaton import Automaton


def read_program(
    path: str, function: str | None, integers: Literal["c", "math"], predicates: Sequence[str]
) -> Automaton:
    """The program in the file, or its function of that name. `predicates` are conditions on its variables."""
    integers = "math" if path.endswith(".aut") else integers
    automaton = replace(_automaton(path, function, integers), integers=integers, function=function)
    if not predicates:
        return automaton
    from streamcheck.frontends.minic.predicates import read_predicates

    given = read_predicates(automaton, predicates, mathematical=integers == "math")
    return replace(automaton, predicates=given)


def _automaton(path: str, function: str | None, integers: Literal["c", "math"]) -> Automaton:
    if path.endswith(".aut"):
        from streamcheck.frontends.aut import read_aut

        return read_aut(path)
    from streamcheck.frontends.minic.read import read_c

    automaton, warnings = read_c(path, integers, function)
    return replace(automaton, warnings=warnings)
