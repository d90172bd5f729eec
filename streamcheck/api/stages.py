"""A spec or program at each stage on its way to proofs, and in the languages of other tools, as text."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias, assert_never

from streamcheck.core.errors import SpecError
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import to_plain
from streamcheck.problem.transition import TransitionSystem

Stage: TypeAlias = Literal["equations", "system", "graph", "json", "lustre", "vmt", "chc", "aut", "smt2"]
READABLE: tuple[Stage, ...] = ("equations", "system", "graph")
LANGUAGES: tuple[Stage, ...] = ("lustre", "vmt", "chc", "aut", "smt2")  # a file of these holds one spec


def stage_text(problem: Problem, stage: Stage, *, blocks: bool = True, steps: int = 10) -> str:
    """The text that `streamcheck show --as STAGE` prints. `blocks` is for programs as graphs, `steps` for smt2."""
    match stage:
        case "equations":
            from streamcheck.report.equations import show_equations

            return show_equations(_specification(problem))
        case "system":
            from streamcheck.report.system import show_system

            return show_system(_transition_system(problem))
        case "graph":
            return _graph(problem, blocks=blocks)
        case "json":
            return json.dumps(plain_specification(problem))
        case "lustre":
            from streamcheck.export.lustre import write_lustre

            return write_lustre(_exported_system(problem))
        case "vmt":
            from streamcheck.export.vmt import write_vmt

            return write_vmt(_exported_system(problem))
        case "chc":
            from streamcheck.export.chc import write_chc

            return write_chc(_exported_system(problem))
        case "aut":
            return _aut(problem)
        case "smt2":
            from streamcheck.export.smt2 import write_smt2

            return write_smt2(_exported_system(problem), steps)
    assert_never(stage)


def plain_specification(problem: Problem) -> dict[str, Any]:
    """The complete spec as JSON, which is accepted in place of its file."""
    return to_plain(_specification(problem))


def _graph(problem: Problem, *, blocks: bool) -> str:
    if isinstance(problem, Automaton):
        from streamcheck.report.program import show_automaton
        from streamcheck.transform.views import views

        seen = views(problem, blocks=blocks)[-1].automaton
        assert seen is not None
        return show_automaton(seen)
    from streamcheck.export.graph import show_graph

    return show_graph(problem)


def _aut(problem: Problem) -> str:
    if isinstance(problem, Specification):
        raise SpecError(f"{problem.name}: only programs (.c, .aut) can be exported as automata")
    from streamcheck.export.aut import write_aut
    from streamcheck.transform.automaton_scalars import scalar

    return write_aut(scalar(problem))


def _specification(problem: Problem) -> Specification:
    """A program as equations: those of its large blocks."""
    if isinstance(problem, Specification):
        return problem
    from streamcheck.transform.automaton_system import specification_of
    from streamcheck.transform.views import views

    seen = views(problem)[-1].automaton
    assert seen is not None
    return specification_of(seen)


def _transition_system(problem: Problem) -> TransitionSystem:
    from streamcheck.transform.scalar_system import to_system

    return to_system(_specification(problem))


def _exported_system(problem: Problem) -> TransitionSystem:
    """The system for another tool. SpecError if that would be asked something else."""
    for claim in problem.properties:
        if claim.is_about_infinite_runs:
            message = f"{claim.name} is about infinite runs, which the languages of other tools do not express here"
            raise SpecError(message, claim.where, write="--as json, or a spec without it")
    return _transition_system(problem)
