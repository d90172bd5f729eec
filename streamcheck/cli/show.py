"""`streamcheck show FILE --as …`: each stage of a spec, and other tools' languages."""

from __future__ import annotations

import json
from typing import Literal

import click

from streamcheck.cli.options import program_options
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import to_plain
from streamcheck.problem.transition import TransitionSystem
from streamcheck.run.source import SourceOptions, Target, one, read


def _equations(problem: Problem, _: bool) -> str:
    from streamcheck.report.equations import show_equations

    return show_equations(_specification(problem))


def _system(problem: Problem, _: bool) -> str:
    from streamcheck.report.system import show_system

    return show_system(_transition_system(problem))


def _graph(problem: Problem, blocks: bool) -> str:
    if isinstance(problem, Automaton):
        from streamcheck.report.program import show_automaton
        from streamcheck.transform.views import views

        seen = views(problem, blocks=blocks)[-1].automaton
        assert seen is not None
        return show_automaton(seen)
    from streamcheck.export.graph import show_graph

    return show_graph(problem)


def _lustre(problem: Problem) -> str:
    from streamcheck.export.lustre import write_lustre

    return write_lustre(_transition_system(problem))


def _vmt(problem: Problem) -> str:
    from streamcheck.export.vmt import write_vmt

    return write_vmt(_transition_system(problem))


def _chc(problem: Problem) -> str:
    from streamcheck.export.chc import write_chc

    return write_chc(_transition_system(problem))


def _smt2(problem: Problem, steps: int) -> str:
    from streamcheck.export.smt2 import write_smt2

    return write_smt2(_transition_system(problem), steps)


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


STAGES = {"equations": _equations, "system": _system, "graph": _graph}
LANGUAGES = {"lustre": _lustre, "vmt": _vmt, "chc": _chc, "aut": _aut}  # a file of these holds one spec


@click.command(name="show", short_help="Print a stage of a spec, or export it to another tool's language.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option(
    "--as",
    "stage",
    type=click.Choice([*STAGES, "json", *LANGUAGES, "smt2"]),
    default="equations",
    show_default=True,
    help="equations: cells and wires; system: the transition system; graph: Graphviz DOT, for programs the automaton; "
    "json: the complete spec, accepted in place of the file; lustre: for Kind 2; vmt: for ic3ia and Pono; "
    "chc: Horn clauses for Spacer and Golem; aut: the automaton of a program; smt2: the queries of k steps.",
)
@click.option("--steps", type=click.IntRange(min=0), default=10, show_default=True, help="Number of steps of smt2.")
@program_options
def command(file: str, stage: str, steps: int, integers: Literal["c", "math"], blocks: bool) -> None:
    """Print a stage of a spec on its way to proofs and C, or export it for another tool."""
    target = Target.parse(file)
    specs = read(target, reading=SourceOptions(integers))
    if not blocks and any(isinstance(problem, Specification) for problem in specs):
        raise SpecError(f"{target.path}: `--no-blocks` is for programs (.c, .aut)")
    for warning in (warning for problem in specs for warning in problem.warnings):
        click.echo(f"note: {warning}", err=True)
    if stage == "json":
        rows = [to_plain(_specification(e)) for e in specs]
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
    elif stage in STAGES:
        emit(STAGES[stage](e, blocks).rstrip("\n") for e in specs)
    else:
        spec = one(specs, target)
        text = _smt2(spec, steps) if stage == "smt2" else LANGUAGES[stage](spec)
        emit([text.rstrip("\n")])
