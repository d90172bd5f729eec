"""`streamcheck show FILE --as …`: each stage of a spec, and other tools' languages."""

from __future__ import annotations

import json
from typing import Literal

import click

from streamcheck.cli.options import how_code_is_read
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import to_plain
from streamcheck.run.source import Reading, Target, one, read


def _equations(equations: Specification) -> str:
    from streamcheck.report.equations import show_equations

    return show_equations(equations)


def _system(equations: Specification) -> str:
    from streamcheck.report.system import show_system
    from streamcheck.transform.to_system import to_system

    return show_system(to_system(equations))


def _graph(equations: Specification) -> str:
    if equations.program is not None:
        from streamcheck.report.program import show_automaton

        return show_automaton(equations.program)
    from streamcheck.export.graph import show_graph

    return show_graph(equations)


def _lustre(equations: Specification) -> str:
    from streamcheck.export.lustre import write_lustre
    from streamcheck.transform.to_system import to_system

    return write_lustre(to_system(equations))


def _vmt(equations: Specification) -> str:
    from streamcheck.export.vmt import write_vmt
    from streamcheck.transform.to_system import to_system

    return write_vmt(to_system(equations))


def _chc(equations: Specification) -> str:
    from streamcheck.export.chc import write_chc
    from streamcheck.transform.to_system import to_system

    return write_chc(to_system(equations))


def _smt2(equations: Specification, steps: int) -> str:
    from streamcheck.export.smt2 import write_smt2
    from streamcheck.transform.to_system import to_system

    return write_smt2(to_system(equations), steps)


def _aut(equations: Specification) -> str:
    if equations.program is None:
        raise SpecError(f"{equations.name}: automata are written of programs (.c, .aut)")
    from streamcheck.export.aut import write_aut

    return write_aut(equations.program.source)


STAGES = {"equations": _equations, "system": _system, "graph": _graph}
LANGUAGES = {"lustre": _lustre, "vmt": _vmt, "chc": _chc, "aut": _aut}  # a file of these holds one spec


@click.command(name="show", short_help="Print a stage of a spec, or write it in another tool's language.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option(
    "--as",
    "stage",
    type=click.Choice([*STAGES, "json", *LANGUAGES, "smt2"]),
    default="equations",
    show_default=True,
    help="equations: cells and wires; system: the transition system; graph: Graphviz DOT, of programs the automaton; "
    "json: complete, and read again in place of the spec; lustre: for Kind 2; vmt: for ic3ia and Pono; "
    "chc: Horn clauses for Spacer and Golem; aut: the automaton of a program; smt2: the queries of k steps.",
)
@click.option(
    "--steps", type=click.IntRange(min=0), default=10, show_default=True, help="How many steps smt2 looks at."
)
@how_code_is_read
def command(file: str, stage: str, steps: int, integers: Literal["c", "math"], blocks: bool) -> None:
    """Print a stage of a spec on its way to proofs and C, or write it for another tool."""
    target = Target.parse(file)
    specs = read(target, reading=Reading(integers, blocks))
    if stage == "json":
        rows = [to_plain(e) for e in specs]
        emit([json.dumps(rows[0] if len(rows) == 1 else rows)])
    elif stage in STAGES:
        emit(STAGES[stage](e).rstrip("\n") for e in specs)
    else:
        spec = one(specs, target)
        text = _smt2(spec, steps) if stage == "smt2" else LANGUAGES[stage](spec)
        emit([text.rstrip("\n")])
