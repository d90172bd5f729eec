"""Files of code to automata, with one edge for each statement."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from streamcheck.problem.automaton import Automaton


def read_program(
    path: str,
    function: str | None,
    integers: Literal["c", "math"],
    predicates: Sequence[str],
    data_model: str = "LP64",
    linked: Sequence[str] = (),
) -> Automaton:
    """The program in the file, or its function of that name. `predicates` are conditions on its variables, `linked`
    further C files of the program."""
    integers = "math" if path.endswith(".aut") else integers
    automaton = _automaton(path, function, integers, data_model, linked)
    others = tuple(os.path.relpath(other, os.path.dirname(path) or ".") for other in linked)
    automaton = replace(automaton, integers=integers, function=function, data_model=data_model, linked=others)
    if not predicates:
        return automaton
    from streamcheck.frontends.minic.predicates import read_predicates

    given = read_predicates(automaton, predicates, mathematical=integers == "math")
    return replace(automaton, predicates=given)


def _automaton(
    path: str, function: str | None, integers: Literal["c", "math"], data_model: str, linked: Sequence[str]
) -> Automaton:
    if path.endswith(".aut"):
        from streamcheck.frontends.aut import read_aut

        return read_aut(path)
    from streamcheck.frontends.minic.read import read_c

    automaton, warnings = read_c(path, integers, function, data_model, linked)
    return replace(automaton, warnings=warnings)
