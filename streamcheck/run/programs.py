"""From a file of code to equations: the automaton as it is written, and as engines see it."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from streamcheck.problem.automaton import Automaton, Program
from streamcheck.problem.specification import Specification
from streamcheck.run.source import Reading
from streamcheck.transform.automata import program_equations, scalar
from streamcheck.transform.blocks import large_blocks, sliced


def read_program(path: str, function: str | None, reading: Reading) -> Specification:
    """The equations of a program, or of its function of that name. Without blocks, a step is a statement."""
    integers = "math" if path.endswith(".aut") else reading.integers
    source, warnings = _source(path, function, integers)
    smaller = sliced(scalar(source))
    program = Program(source, large_blocks(smaller) if reading.blocks else smaller, integers, function, reading.blocks)
    if reading.predicates:
        from streamcheck.frontends.minic.predicates import read_predicates

        given = read_predicates(source, reading.predicates, mathematical=integers == "math")
        program = replace(program, predicates=given)
    return replace(program_equations(program), warnings=warnings)


def _source(path: str, function: str | None, integers: Literal["c", "math"]) -> tuple[Automaton, tuple[str, ...]]:
    if path.endswith(".aut"):
        from streamcheck.frontends.aut import read_aut

        return read_aut(path), ()
    from streamcheck.frontends.minic.read import read_c

    return read_c(path, integers, function)
